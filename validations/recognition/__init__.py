"""What looks like a direct identifier of a person in a text: knows no plan, release or source."""
