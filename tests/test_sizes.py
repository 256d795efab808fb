"""Nothing grows too large to be read at once: folders, modules, functions."""

import ast
from collections import Counter

import pytest

from tests.names import PACKAGES, ROOT

FILES_IN_FOLDER, LINES_OF_MODULE, LINES_OF_FUNCTION = 20, 350, 60


def find_large(root):
    """What is larger than a reader can take in; kernels and docstrings may be long."""
    modules = [path for name in PACKAGES for path in sorted((root / name).rglob("*.py"))]
    folders = Counter(path.parent for path in modules if path.name != "__init__.py")
    yield from (
        str(folder.relative_to(root)) for folder, n in folders.items() if n > FILES_IN_FOLDER
    )
    for path in modules:
        text, place = path.read_text("utf-8"), str(path.relative_to(root))
        if text.count("\n") > LINES_OF_MODULE:
            yield place
        if not path.stem.endswith("_kernels"):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef) and count_lines(node) >= LINES_OF_FUNCTION:
                    yield f"{place}: {node.name}"


def count_lines(function):
    """Lines of a function behind its first one, without its docstring."""
    lines = function.end_lineno - function.lineno
    if ast.get_docstring(function) is not None:
        lines -= function.body[0].end_lineno - function.body[0].lineno + 1
    return lines


@pytest.mark.long
def test_folders_modules_and_functions_are_small():
    assert list(find_large(ROOT)) == []


def test_what_is_too_large_is_found(tmp_path):
    folder = tmp_path / PACKAGES[0]
    folder.mkdir()
    for number in range(FILES_IN_FOLDER + 1):
        (folder / f"part_{number}.py").write_text("")
    (folder / "part_0.py").write_text("\n" * (LINES_OF_MODULE + 1))
    (folder / "part_1.py").write_text("def grow():\n" + "    pass\n" * LINES_OF_FUNCTION)
    (folder / "part_2.py").write_text("def fit():\n" + "    pass\n" * (LINES_OF_FUNCTION - 1))
    place = PACKAGES[0]
    assert list(find_large(tmp_path)) == [place, f"{place}/part_0.py", f"{place}/part_1.py: grow"]
