"""How the project's names read to a stranger, measured beside goals.

    python -m tests.names

prints each measure and its goal, and what misses it. The goals that hold are kept by test_names.py.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tokenize import COMMENT, generate_tokens

ROOT = Path(__file__).parent.parent
PACKAGES = (
    "anon_core",
    "crowdcover",
    "flows",
    "kinds",
    "reports",
    "storage",
    "tasks",
    "validations",
)

# Words that tell nothing of what a function does; none may be a whole name of one in a module.
EMPTY = """
    told found words asked made whole kept held given taken said shown known stated named
"""
# Participles that do not end in -ed or -ing, and nouns and verbs that do.
PARTICIPLES = """
    told found made kept held given taken drawn seen known written sent lost shown laid built
    spelt said bought brought caught chosen done grown hidden hung led met paid sold spent stood
    stuck taught thought thrown understood won worn wound
"""
OTHERS = """
    seed need feed speed embed shed string ring spring ceiling
"""
# Names that one role has in each of several rooms: commands, kinds of data, sections of a plan,
# modules that spread the work of an anonymizer (`Farmed`, `Ranked`).
PROTOCOLS = frozenset({"run", "arguments", "COMMAND", "build_suite", "anonymize", "memory"})

GOALS = {"one word": 0.35, "participle": 0.02, "shared": 0.04}


@dataclass(frozen=True)
class Function:
    """A function or method of the product, and where it stands."""

    place: str
    name: str

    @property
    def words(self) -> list[str]:
        """The words of its name."""
        return [word for word in self.name.split("_") if word]

    @property
    def begins_with_participle(self) -> bool:
        """Whether it is called by what became of something, not by what it does."""
        first = self.words[0]
        return first in PARTICIPLES.split() or (
            first.endswith(("ed", "ing")) and first not in OTHERS.split()
        )


def parse_modules(root: Path = ROOT) -> dict[Path, ast.Module]:
    """The product's modules by their path below the root."""
    files = [path for name in PACKAGES for path in sorted((root / name).rglob("*.py"))]
    return {path.relative_to(root): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def list_functions(modules: dict[Path, ast.Module]) -> list[Function]:
    """Functions and methods, but for those that Python itself names."""
    return [
        Function(f"{path}:{node.lineno}", node.name)
        for path, module in modules.items()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("__")
        and node.name.strip("_")
    ]


def find_empty_names(modules: dict[Path, ast.Module]) -> list[Function]:
    """Functions of modules whose whole name is an empty word."""
    return [
        Function(f"{path}:{node.lineno}", node.name)
        for path, module in modules.items()
        for node in module.body
        if isinstance(node, ast.FunctionDef) and node.name.strip("_") in EMPTY.split()
    ]


def measure_shares(modules: dict[Path, ast.Module]) -> dict[str, float]:
    """The three shares: functions of one word, from a participle, and top-level names shared."""
    functions = list_functions(modules)
    shared, names = find_shared(modules)
    return {
        "one word": sum(len(each.words) == 1 for each in functions) / len(functions),
        "participle": sum(each.begins_with_participle for each in functions) / len(functions),
        "shared": len(shared) / names,
    }


def find_shared(modules: dict[Path, ast.Module]) -> tuple[dict[str, list[Path]], int]:
    """Public top-level names that stand in several modules, and how many names there are."""
    places = defaultdict[str, list[Path]](list)
    for path, module in modules.items():
        for name in dict.fromkeys(_list_top_names(module)):
            if not name.startswith("_"):
                places[name].append(path)
    shared = {
        name: paths for name, paths in places.items() if len(paths) > 1 and name not in PROTOCOLS
    }
    return shared, len(places)


def _list_top_names(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for each in ast.walk(target):
                    # An entry put into a mapping names nothing: there the mapping is only read.
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                        yield each.id


def count_comments(text: str) -> int:
    """The lines that have a comment."""
    tokens = generate_tokens(StringIO(text).readline)
    return len({token.start[0] for token in tokens if token.type == COMMENT})


def main() -> None:
    """Print the shares beside their goals, with the names that stand most often, and the lines."""
    modules = parse_modules()
    functions = list_functions(modules)
    often = {
        "one word": [each.name for each in functions if len(each.words) == 1],
        "participle": [each.name for each in functions if each.begins_with_participle],
        "shared": list(find_shared(modules)[0]),
    }
    for what, share in measure_shares(modules).items():
        names = ", ".join(name for name, _ in Counter(often[what]).most_common(12))
        print(f"{what}: {share:.1%}, goal {GOALS[what]:.0%} ({names})")
    texts = [path.read_text(encoding="utf-8") for path in map(ROOT.joinpath, modules)]
    lines = sum(text.count("\n") for text in texts)
    print(f"comments: {sum(map(count_comments, texts)) / lines:.1%} of the lines, goal 3 to 6%")
    folders = Counter(path.parent for path in modules if path.name != "__init__.py")
    (folder, files), *_ = folders.most_common(1)
    print(f"most files in a folder: {files}, goal 20 ({folder})")
    print(f"lines of product: {lines:,}, goal 52,000")


if __name__ == "__main__":
    main()
