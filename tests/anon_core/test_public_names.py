"""The public names of anon_core change on purpose only."""

import ast
import subprocess
import sys
from pathlib import Path

import anon_core


def test_public_names_are_pinned():
    assert anon_core.__all__ == [
        "ANONYMIZERS", "Adaptive", "AnonymityError", "Anonymizer", "BinaryTable", "Codebook",
        "ColumnSpec", "Crowds", "Demand", "Freeform", "GuaranteeError", "InfeasibleError",
        "InputError", "KMember", "LimitError", "LocalSearch", "MaskedTable", "Observer", "Optimal",
        "Promise", "ReleasedCells", "State", "Step", "Utility", "crowds", "encode", "fit",
        "from_bits", "random_matching", "read_cells", "run", "utility", "write_cells",
    ]  # fmt: skip
    assert anon_core.__all__ == sorted(anon_core.__all__) == dir(anon_core)
    assert all(
        callable(getattr(anon_core, name)) or name == "ANONYMIZERS" for name in anon_core.__all__
    )


def test_type_checkers_see_the_same_names_from_the_same_places():
    tree = ast.parse(Path(anon_core.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {each.module: tuple(name.name for name in each.names) for each in block.body}
    assert typed == {f"anon_core.{home}": names for home, names in anon_core._HOMES.items()}
    assert sorted(sum(typed.values(), ())) == anon_core.__all__


def test_importing_the_core_loads_no_compiler():
    code = "import sys, anon_core.errors; print('numba' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
