"""What test modules share stands in tests/support, in a room's conftest.py or in its own module."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def list_imported_tests(text):
    """The test modules that a text imports, or imports from."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            named = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            named = [f"{node.module}.{each.name}" for each in node.names]
        else:
            continue
        found += [name for name in named if ".test_" in name and name.startswith("tests.")]
    return found


@pytest.mark.long
def test_no_module_imports_from_a_test_module():
    guilty = {
        str(path.relative_to(TESTS)): names
        for path in TESTS.rglob("*.py")
        if (names := list_imported_tests(path.read_text("utf-8")))
    }
    assert guilty == {}


@pytest.mark.parametrize(
    "line",
    [
        "from tests.flows.test_series import registry",
        "from tests.flows import test_series",
        "import tests.flows.test_series as series",
        "def work():\n    from tests.test_docs import PAGES",
    ],
)
def test_an_import_from_a_test_module_is_found(line):
    assert len(list_imported_tests(line)) == 1
