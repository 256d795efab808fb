"""No function of the product is there for tests alone."""

import ast
import re
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest

from tests.names import PACKAGES, ROOT, parse_modules

WITHOUT_COMMAND = {  # map-reduce triangles: documented, and no command runs them yet
    "LocalFarm",
    "FarmShuffle",
    "count_triangles",
    "list_triangles",
    "list_triangles_by_shuffle",
}
REGISTERED = "PandasExecutionEngine"  # Great Expectations finds a metric by the class it inherits


def count_uses(tree):
    """How often each name is used: in code, or in a string that is no docstring."""
    uses = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            uses[node.id] += 1
        elif isinstance(node, ast.Attribute):
            uses[node.attr] += 1
        elif isinstance(node, ast.alias) and node.asname:
            uses[node.name] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            uses.update(re.findall(r"\w+", node.value))
    return uses


def drop_docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body[0].value.value = ""
    return tree


def find_unused(root=ROOT):
    """Public functions, methods and classes that nothing else in the product names."""
    trees = {path: drop_docstrings(tree) for path, tree in parse_modules(root).items()}
    uses = sum((count_uses(tree) for tree in trees.values()), Counter())
    folders = [root / name for name in PACKAGES]
    for file in (file for each in folders for file in each.rglob("*.j2")):
        uses.update(re.findall(r"\w+", file.read_text(encoding="utf-8")))
    defined = (node for tree in trees.values() for node in ast.walk(tree))
    return {
        node.name
        for node in defined
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
        and not node.name.startswith("_")
        and not (node.decorator_list and "validator" in ast.unparse(node.decorator_list[0]))
        and REGISTERED not in ast.unparse(node)
        and uses[node.name] - count_uses(node)[node.name] <= 0
    }


@pytest.mark.long
def test_everything_public_is_used_by_the_product():
    # What others call: a handle of files, hooks of Great Expectations and scikit-learn, and people
    # who edit a plan or look for the rows of small groups in Python.
    called = {
        *("writable", "seekable", "is_abstract", "get_feature_names_out"),
        *("settle", "locate_rows", "score_rows"),
        "build_server",  # by uvicorn: docs/how-to/sign-in.md
    }
    assert find_unused() - WITHOUT_COMMAND == called


def test_a_planted_function_for_tests_is_found(tmp_path):
    folder = tmp_path / Path(PACKAGES[0])
    folder.mkdir()
    text = '''
        def count_rows(rows):
            """Unlike `count_rows_for_tests`, used."""
            return len(rows)

        def count_rows_for_tests(rows):
            return count_rows(rows) or count_rows_for_tests(rows[1:])
    '''
    (folder / "rows.py").write_text(dedent(text), encoding="utf-8")
    assert find_unused(tmp_path) == {"count_rows_for_tests"}
