"""The terms of a matrix's report, in plain words."""

GLOSSARY = (
    ("User", "whom the promise protects; each user has one row"),
    ("Item", "what a user may have, such as an app, a film or a trait"),
    ("Entry", "a user and an item that the user has"),
    ("Key", "a random code of each row. It says nothing about the user"),
    ("Class", "all released rows with the same items; the rows without items are one class"),
    (
        "k",
        "the number of equal rows that the plan demands for a user, the user's own included. With "
        "k = 1 the plan demands no other row, and the user is not protected",
    ),
    ("False entry", "a released entry whose user does not have the item"),
    ("False absence", "an item that a row lacks although its user has it"),
    (
        "Jaccard similarity",
        "of source and release: the entries in both, divided by the entries in either. 100 % means "
        "that both are the same",
    ),
    (
        "True for the whole class",
        "an item that every user of the class has in the source. Nobody in the class can deny it",
    ),
    (
        "Drawn by lot",
        "which of the equal rows is whose is decided by secret random numbers",
    ),
    (
        "Auditor",
        "the part of the program that checks a release; it reads the released files and counts "
        "with code of its own",
    ),
    (
        "Vault",
        "the locked folder with the secrets of the release, such as who belongs to which row; "
        "never published",
    ),
)
