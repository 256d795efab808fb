"""Hash small releases of every kind and method, with fixed secrets.

python -m benchmarks.release_bytes [--only TEXT] [--keep FOLDER] prints `kind method file sha256`.
Two trees write the same bytes if they print the same lines. What the operating system draws is
replaced by a fixed stream in this process, and in the processes that it forks.

Times and the hashes of files that state times are left out of a manifest before it is hashed. Pages
and catalogue files are not hashed: they state times, and may change their words.
"""

import argparse
import csv
import dataclasses
import hashlib
import json
import multiprocessing.process  # noqa: F401 - draws a key as it is imported, before any case
import os
import random
import re
import sys
import tempfile
import typing
from pathlib import Path

PAGES = ("report.html", "croissant.json", "datapackage.json", "dcat.jsonld", "method.spdx3.json")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
UNSTABLE = (
    "created", "software", "texts", "files", "seconds", "timings", "peak_memory_bytes",
)  # fmt: skip
TABLE = {
    "source": {"path": "people.csv", "missing": ["?"]},
    "columns": {
        "ssn": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric"},
        "height": {
            "role": "quasi",
            "kind": "numeric",
            "bins": {"quantiles": 5},
            "encoding": "ordinal",
        },
        "visit": {"role": "quasi", "kind": "date", "bins": {"quantiles": 4}},
        "city": {"role": "quasi", "kind": "categorical"},
        "smokes": {"role": "quasi", "kind": "binary"},
        "diagnosis": {"role": "sensitive"},
        "note": {"role": "keep"},
        "junk": {"role": "drop"},
    },
    "privacy": {"k": 4},
}
MATRIX = {
    "source": {"kind": "matrix", "path": "likes.csv"},
    "columns": {"user": "user", "item": "item"},
    "privacy": {"k": 4},
}
GRAPH = {
    "source": {"kind": "graph", "path": "links.csv"},
    "columns": {"u": "u", "v": "v", "p": "p"},
    "privacy": {"k": 12},
}


class Drawn:
    """A stream in place of `os.urandom`: each case begins it anew, each length has its own."""

    def __init__(self):
        self.draws = {}

    def restart(self):
        """Begin anew."""
        self.draws.clear()

    def __call__(self, size):
        """Return the next `size` bytes."""
        number = self.draws[size] = self.draws.get(size, 0) + 1
        return hashlib.shake_256(f"{size}/{number}".encode()).digest(size)

    def install(self):
        """Replace what draws, also in modules that were imported before."""
        os.urandom = self
        os.getrandom = lambda size, flags=0: self(size)  # noqa: ARG005
        random._urandom = self


# ---------------------------------------------------------------- sources


def people(first=0, number=90, seed=3):
    """Return rows of a table of people: missing values, a rare city, dates."""
    chance = random.Random(seed)
    yield ("ssn", "age", "height", "visit", "city", "smokes", "diagnosis", "note", "junk")
    for at in range(first, first + number):
        yield (
            f"ident-{at:05d}",
            chance.choice([*range(18, 81), "?"]),
            chance.randint(150, 199) / 100,
            f"20{chance.randint(10, 24)}-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}",
            "atlantis" if at == 7 else chance.choice(["ulm", "bonn", "kiel", "essen", "?"]),
            chance.choice(["yes", "no"]),
            f"illness-{at % 5}",
            f"note-{at}",
            f"junk-{at}",
        )


def likes(users=60):
    """Return entries of users of five tastes; some users hold nothing."""
    chance = random.Random(4)
    yield ("user", "item")
    for user in range(users):
        items = [6 * (user % 5) + i for i in range(8) if chance.random() < 0.6]
        yield from [(f"user-{user}", f"item-{item}") for item in items if user % 9]
        if user % 9 == 0:
            yield (f"user-{user}", "")


def lists():
    """Return the same as one row a user."""
    held = {}
    for user, item in list(likes())[1:]:
        held.setdefault(user, []).append(item)
    yield ("user", "item")
    yield from ((user, ";".join(items)) for user, items in held.items())


def links(vertices=40, degree=4):
    """Return edges of a ring and chords, with their probabilities."""
    chance = random.Random(5)
    pairs = {(i, (i + 1) % vertices) for i in range(vertices)}
    while len(pairs) < degree * vertices // 2:
        i, j = chance.sample(range(vertices), 2)
        if (j, i) not in pairs:
            pairs.add((i, j))
    yield ("u", "v", "p")
    for i, j in sorted(pairs):
        yield (f"node-{i}", f"node-{j}", f"0.{chance.randrange(1, 10**6):06d}")


# ---------------------------------------------------------------- plans


def variants(cls):
    """Return the default settings, and each other value of a choice among words or yes and no."""
    yield "default", {}
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        choices = (False, True) if hints[field.name] is bool else typing.get_args(hints[field.name])
        for choice in choices:
            if isinstance(choice, (str, bool)):
                yield f"{field.name}={choice}", {field.name: choice}


def cases():
    """Return kind, method, sections of the plan and the sources of its versions."""
    from anon_core.anonymizers import ANONYMIZERS

    of_kind = {"table": (TABLE, people), "matrix": (MATRIX, likes), "graph": (GRAPH, links)}
    for name, cls in ANONYMIZERS.items():
        sections, source = of_kind[cls.kind]
        for change, settings in variants(cls):
            rows = people(number=12) if name == "optimal" else source()  # exact covers: minutes
            yield cls.kind, f"{name}/{change}", with_(sections, name, settings), [rows]
    for name, changes, settings in TABLES:
        yield "table", name, with_(TABLE, "adaptive", settings, **changes), [people()]
    for name, changes, source in MATRICES:
        yield "matrix", name, with_(MATRIX, "smooth", {}, **changes), [source()]
    for name in SERIES:
        sections = with_(TABLE, name, {}, series={"record": "ssn"}, checks={"drift": "off"})
        rows = [*people(number=120)]
        later = [rows[0], *rows[5:], *[*people(first=500, number=12, seed=6)][1:]]
        yield "series", name, sections, [rows, later]


TABLES = [
    ("by-level", {"privacy": {"k": {"by": "smokes", "levels": {"yes": 6}, "default": 3}}}, {}),
    ("uniform", {"privacy": {"k": {"uniform": [2, 6], "seed": 3}}}, {}),
    ("mixed", {"privacy": {"mix": "diagnosis"}}, {}),
    ("even-passes", {}, {"seats": "even", "passes": 1}),
    ("csv", {"publish": {"formats": ["csv"]}}, {}),
    ("dropped", {"columns": {"city": {"missing": "drop"}}}, {}),
]  # fmt: skip
MATRICES = [
    ("keyed", {"columns": {"keyed": True}}, likes),
    ("lists", {"source": {"layout": "lists"}, "columns": {"separator": ";"}}, lists),
    ("annealed", {"anonymizer": {"annealing": 2}}, likes),
]
SERIES = ("adaptive", "freeform", "k-member")


def with_(sections, name, settings, **changes):
    """Return sections with an anonymizer and changes; tables in a section are merged."""
    plan = json.loads(json.dumps(sections)) | {"anonymizer": {"name": name, **settings}}
    for section, keys in changes.items():
        here = plan.setdefault(section, {})
        for key, value in keys.items():
            old = here.get(key)
            here[key] = (
                {**old, **value} if section == "columns" and isinstance(old, dict) else value
            )
    return plan


def toml(value):
    """Return a value as TOML writes it."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)} = {toml(each)}" for key, each in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def write_plan(path, sections):
    """Write a plan."""
    lines = ['name = "small"', *(f"{name} = {toml(keys)}" for name, keys in sections.items())]
    path.write_text("\n".join(lines) + "\n", "utf-8")


# ---------------------------------------------------------------- releases


def release_all(folder, sections, sources):
    """Release each version of a source; returns the folders."""
    from crowdcover.flows.release import release

    folder.mkdir(parents=True)
    plan, source = folder / "plan.toml", folder / sections["source"]["path"]
    write_plan(plan, sections)
    for rows in sources:
        with source.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
        yield Path(release.fn(str(plan)))


def bare(document):
    """Return what a manifest states, without times and what hangs on them."""
    if isinstance(document, dict):
        return {name: bare(each) for name, each in document.items() if name not in UNSTABLE}
    if isinstance(document, list):
        return [bare(each) for each in document]
    return TIME.sub("T", document) if isinstance(document, str) else document


def content(path):
    """Return the bytes of a file that are to be the same."""
    if path.name == "manifest.json":
        document = bare(json.loads(path.read_text("utf-8")))
        return json.dumps(document, sort_keys=True, indent=1).encode()
    return path.read_bytes()


def print_case(folder, kind, method, sections, sources):
    """Print the lines of one case; a refusal is a line, too."""
    from anon_core.errors import AnonymityError

    try:
        for made in release_all(folder, sections, sources):
            for path in sorted(made.iterdir()):
                if path.name not in PAGES:
                    digest = hashlib.sha256(content(path)).hexdigest()
                    print(kind, method.replace(" ", "_"), f"{made.name}/{path.name}", digest)
    except AnonymityError as refusal:
        print(kind, method.replace(" ", "_"), "refused", type(refusal).__name__)
        print(kind, method, refusal, file=sys.stderr)
    sys.stdout.flush()


def main():
    """Print the lines of all cases."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="cases whose kind and method have this text")
    parser.add_argument("--keep", type=Path, help="a new folder for plans, vaults and releases")
    options = parser.parse_args()
    os.environ.update(DO_NOT_TRACK="1", GX_ANALYTICS_ENABLED="false", PREFECT_LOGGING_LEVEL="ERROR")
    drawn = Drawn()
    drawn.install()
    with tempfile.TemporaryDirectory() as aside:
        os.environ["PREFECT_HOME"] = f"{aside}/prefect"
        place = Path(aside, "cases") if options.keep is None else options.keep.absolute()
        for kind, method, sections, sources in cases():
            if options.only in f"{kind} {method}":
                drawn.restart()
                print_case(place / kind / method, kind, method, sections, sources)


if __name__ == "__main__":
    main()
