"""Random texts of a simple pattern: literals, classes, groups, alternatives and counts."""

import random
import re._parser as patterns  # the parser of `re`, which says what a pattern is made of


def draw(pattern: str, rng: random.Random, number: int) -> list[str]:
    """So many texts that the pattern fits; counts without an end go a little beyond their least."""
    tree = patterns.parse(pattern)
    return [_text(tree, rng) for _ in range(number)]


def _text(tree, rng: random.Random) -> str:
    return "".join(_part(str(kind), value, rng) for kind, value in tree)


def _part(kind: str, value, rng: random.Random) -> str:
    match kind:
        case "LITERAL":
            return chr(value)
        case "IN":
            return rng.choice(_signs(value))
        case "MAX_REPEAT":
            least, most, below = value
            times = rng.randint(least, min(most, least + 12))
            return "".join(_text(below, rng) for _ in range(times))
        case "SUBPATTERN":
            return _text(value[3], rng)
        case "BRANCH":
            return _text(rng.choice(value[1]), rng)
    raise AssertionError(kind)


def _signs(items) -> list[str]:
    signs = []
    for kind, value in items:
        match str(kind):
            case "LITERAL":
                signs.append(chr(value))
            case "RANGE":
                signs += [chr(sign) for sign in range(value[0], value[1] + 1)]
            case _:
                signs += "0123456789"
    return signs
