"""What a table tells about the people in it, whoever made it."""
