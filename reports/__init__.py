"""How a release looks to people: `page` writes report.html, `summary` the markdown and the terminal view."""
