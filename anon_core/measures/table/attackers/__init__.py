"""What attackers conclude: which row is a person's, what k was demanded, what releases share."""
