"""What is measured of a released uncertain graph: obfuscation, attackers, reliability, shape."""
