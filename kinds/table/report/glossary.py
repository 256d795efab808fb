"""The terms of a table's report, in plain words."""

GLOSSARY = (
    (
        "Plan",
        "the file in which the owner of the data states which columns are masked, which are "
        "published as they are, and how large a crowd each person needs",
    ),
    (
        "Quasi-identifier",
        "a trait that others may know of a person and that, together with others, could point to "
        "the person, such as age or occupation. These columns are masked, and only these",
    ),
    (
        "Sensitive column",
        "information that nobody should learn about a person. It is published unmasked: only the "
        "crowd keeps it apart from the person",
    ),
    ("Kept column", "a column that is published unmasked, and not stated to be sensitive"),
    ("Key", "a random code of each row. It says nothing about the person"),
    ("Masking", "publishing a set of values, an interval or * in place of the exact value"),
    ("Fit", "a row fits a person if each of its cells allows the person's value"),
    ("Crowd", "the published rows that fit a person"),
    (
        "k",
        "the number of rows that the plan demands in a person's crowd. With k = 1 the plan demands "
        "no other row, and the person is not protected",
    ),
    (
        "Matchable",
        "a row that can be the person's: if the person has it, there is still a row that fits for "
        "everyone else. A row that fits but is not matchable can be ruled out",
    ),
    (
        "Drawn by lot",
        "who sits in which row is decided by secret random numbers, among the rows that fit",
    ),
    (
        "Insider",
        "an attacker who knows the quasi-identifiers of everyone, the plan, the program and the "
        "chances of the lot, but not who sits in which row",
    ),
    (
        "Singling out, linkability, inference",
        "finding a person's row, connecting records of one person, learning a person's value: the "
        "three risks that the European data protection authorities name in WP216",
    ),
    (
        "Information kept",
        "of a cell: 100 % for one value or one group, 0 % for *; in between, the share of the "
        "column's other values that are ruled out. The literature counts what is lost: NCP for a "
        "cell or a column, GCP for the table",
    ),
    (
        "Utility",
        "each value is coded as bits, which are yes or no questions. Utility is the share of them "
        "that the release still answers",
    ),
    (
        "Auditor",
        "the part of the program that checks a release; it encodes, reads and counts with code of "
        "its own",
    ),
    (
        "Vault",
        "the locked folder with the secrets of the release, such as who belongs to which row; "
        "never published",
    ),
)
