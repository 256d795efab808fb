"""What others may build on changes on purpose only."""

import subprocess
import sys

import anon_core


def test_public_names_are_pinned():
    assert anon_core.__all__ == [
        "ANONYMIZERS", "Adaptive", "AnonymityError", "Anonymizer", "BinaryTable", "Checkpoint", "Codebook", "ColumnSpec",
        "Crowds", "Demand", "GuaranteeError", "InfeasibleError", "InputError", "LimitError", "MaskedTable", "Observer",
        "ReleasedCells", "Utility", "crowds", "encode", "fit", "from_bits", "random_matching", "read_cells", "run", "utility",
        "write_cells",
    ]  # fmt: skip
    assert anon_core.__all__ == sorted(anon_core.__all__) == dir(anon_core)
    assert all(
        callable(getattr(anon_core, name)) or name == "ANONYMIZERS" for name in anon_core.__all__
    )


def test_importing_the_core_loads_no_compiler():
    code = "import sys, anon_core.errors; print('numba' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
