"""What a plan states about its data: the only terms that makers and auditors share."""
