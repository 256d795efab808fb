"""The terms of a graph's report, in plain words."""

GLOSSARY = (
    ("Vertex", "whom the promise protects, such as a person or a protein; each has one key"),
    ("Edge", "a link between two vertices, such as a friendship or an interaction"),
    (
        "Probability of an edge",
        "how likely the edge exists. Edges exist or not independently of each other",
    ),
    ("Uncertain graph", "vertices, and edges with a probability each"),
    ("Degree", "the number of edges that a vertex has. It varies, since edges may exist or not"),
    (
        "Expected degree",
        "the sum of the probabilities of a vertex's edges: its degree on average",
    ),
    ("Key", "a random code of each vertex. It says nothing about the vertex"),
    (
        "Entropy",
        "how uncertain a choice is, in bits. Equal chances of k vertices have log2 k bits; unequal "
        "chances have fewer bits than equal ones of as many vertices",
    ),
    (
        "Hides among",
        "2 to the power of the entropy: the number of equally likely vertices that leave someone "
        "as uncertain",
    ),
    (
        "k",
        "the number that the plan demands a vertex to hide among. With k = 1 the plan demands "
        "nothing, and the vertex is not protected",
    ),
    (
        "Connected",
        "two vertices are connected if a path of edges joins them. How likely that is, is also "
        "called their reliability",
    ),
    (
        "Discrepancy",
        "how much the chance of two vertices to be connected differs between source and release",
    ),
    (
        "Auditor",
        "the part of the program that checks a release; it reads the released files and counts "
        "with code of its own",
    ),
    (
        "Vault",
        "the locked folder with the secrets of the release, such as which vertex has which key; "
        "never published",
    ),
)
