"""The notebooks of the docs: run, and written with what they print.

    python -m tests.notebooks

runs each and writes it in place. `tests/test_notebooks.py` compares what they hold with a new run.
"""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.names import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def run_notebook(path: Path) -> nbformat.NotebookNode:
    """Run a notebook in a kernel of its own; an error in a cell ends it."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(path.parent))
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of day
        for output in cell.get("outputs", ()):
            output.pop("execution_count", None) if output.output_type == "stream" else None
    notebook.metadata.pop("language_info", None)  # the version of Python
    return notebook


def list_texts(notebook: nbformat.NotebookNode) -> list[str]:
    """What the cells print, as text; pictures by their type."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            texts.append(
                output.get("text") or data.get("text/html") or data.get("text/plain") or "?"
            )
    return texts


if __name__ == "__main__":
    for each in NOTEBOOKS:
        nbformat.write(run_notebook(each), each)
        print(each.name)
