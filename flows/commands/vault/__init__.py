"""The command of vaults."""
