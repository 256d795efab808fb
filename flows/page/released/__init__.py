"""What the page shows of a release.

first_rows.py: the release as tables of text   distributions.py: a column's shares
questions.py: to the reader of releases        private_side.py: the source behind it
owned_rows.py: rows beside their people
"""
