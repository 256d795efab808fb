"""What a release needs of the machine it runs on, looked at before a run; nothing is changed."""
