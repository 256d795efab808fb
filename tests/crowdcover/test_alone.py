"""The reader needs polars and numpy, and nothing else of this project."""

import subprocess
import sys

PROGRAM = """
import sys

class Blocked:
    names = {"anon_core", "pandas", "pyarrow", "scipy", "numba", "prefect", "pydantic", "rich",
             "great_expectations", "sklearn"}
    parts = {"flows", "kinds", "tasks", "storage", "validations", "reports", "releasing"}
    def find_spec(self, name, path=None, target=None):
        top, _, part = name.partition(".")
        if top in self.names or top == "crowdcover" and part.partition(".")[0] in self.parts:
            raise ImportError(f"blocked: {name}")

import polars, numpy  # polars itself looks whether some of these are there
sys.meta_path.insert(0, Blocked())
before = {name.partition(".")[0] for name in sys.modules}
import crowdcover
release = crowdcover.read(sys.argv[1])
release.complete(2), release.complete(1, rules=polars.col("age") > 1)
print(release.count({"job": "clerk"}), release.mean("age"))
release.frequencies("job", by="age"), release.crosstab("job", "age"), release.members()
release.sets(), release.bounds()
after = {name.partition(".")[0] for name in sys.modules} - before - set(sys.stdlib_module_names)
after = {name for name in after if "cython" not in name}  # of numpy.random
assert after == {"crowdcover"}, after
"""


def test_it_imports_nothing_but_polars_and_numpy(tmp_path):
    from tests.crowdcover.reader.folders import attribute, folder

    job, age = attribute("job", labels=("clerk", "nurse")), attribute("age", "numeric", ("1", "2"))
    place = folder(tmp_path / "r", [job, age], {"job": ["clerk", "*"], "age": ["1", "1..2"]})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(place)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Count(certain=1, possible=2" in done.stdout
