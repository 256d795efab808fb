"""What a plan states about its data: the only terms that anonymizers and auditors share."""
