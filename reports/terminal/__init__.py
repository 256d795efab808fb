"""What commands print for people: tables and lines of a terminal."""
