"""What `import crowdcover` offers, and what the import itself loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import crowdcover


def test_public_names_are_those_that_dir_shows():
    assert crowdcover.__all__ == sorted(crowdcover.__all__) == dir(crowdcover)
    assert all(callable(getattr(crowdcover, name)) for name in crowdcover.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'release'"):
        _ = crowdcover.release


def test_type_checkers_see_the_same_names_from_the_same_places():
    tree = ast.parse(Path(crowdcover.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {each.module: tuple(name.name for name in each.names) for each in block.body}
    assert typed == {f"crowdcover.{home}": names for home, names in crowdcover._HOMES.items()}
    assert sorted(sum(typed.values(), ())) == crowdcover.__all__


def test_the_import_loads_no_library():
    code = "import sys, crowdcover; print({'polars', 'numpy', 'numba'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
