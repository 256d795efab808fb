"""What a person is asked about a release, who may decide, and what is signed."""
