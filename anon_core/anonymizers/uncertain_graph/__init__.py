"""(k, eps)-obfuscation of uncertain graphs: which edges change, and by how much."""
