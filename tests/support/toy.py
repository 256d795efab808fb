"""A package of another project with a plug-in of each group, and some that are broken."""

import subprocess
import sys
import zipfile
from pathlib import Path

ENTRIES = """
[crowdcover.methods]
toy-classes = toy.methods:ToyClasses
toy-careless = toy.methods:Careless
toy-of-kind = toy.methods:OfToyKind
broken-import = toy.absent:Method
broken-exit = toy.ends:Method
toy-untyped = toy.methods:Untyped
toy-silent = toy.methods:Silent
broken-type = toy.checks:no_teenagers
k-member = toy.methods:ToyClasses

[crowdcover.kinds]
toy-table = toy.table
broken-kind = toy.absent

[crowdcover.formats]
toy = toy.formats:Toy
broken-format = toy.checks:no_teenagers
failing = toy.formats:Failing

[crowdcover.checks]
no-teenagers = toy.checks:no_teenagers
raises = toy.checks:fail
tells = toy.checks:tell
"""
FILES = {
    "toy/__init__.py": "",
    "toy/methods.py": '''
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anon_core.anonymizers import KMember
from anon_core.promise import Promise


@dataclass(frozen=True, kw_only=True)
class ToyClasses(KMember):
    """Classes of records."""

    least: int = 2


@dataclass(frozen=True, kw_only=True)
class Careless(KMember):
    """Promises what it does not keep."""

    def anonymize(self, data, **given):
        return super().anonymize(replace(data, k=np.full_like(data.k, 2)), **given)


@dataclass(frozen=True, kw_only=True)
class Silent(Careless):
    """Promises nothing."""

    promise: ClassVar[Promise] = Promise(())


class Odd:
    pass


@dataclass(frozen=True, kw_only=True)
class Untyped(KMember):
    """A setting of a type that no plan can state."""

    odd: Odd = None


@dataclass(frozen=True, kw_only=True)
class OfToyKind(KMember):
    """The method of another kind of data."""

    kind: ClassVar[str] = "toy-table"
''',
    "toy/ends.py": "raise SystemExit(0)",
    "toy/checks.py": '''
import polars as pl


def no_teenagers(rows, roles):
    """No row is of a teenager alone."""
    assert roles["age"] == "quasi", roles
    ages = rows["age"]
    return int(sum(str(cell).strip("[]") in map(str, range(13, 20)) for cell in ages.to_list()))


def fail(rows, roles):
    raise ValueError(rows["age"][0])


def tell(rows, roles):
    return str(rows["age"].to_list())
''',
    "toy/formats.py": """
import io

import polars as pl

from crowdcover.storage.source.file_bytes import open_bytes
from crowdcover.storage.source.formats.base import Format

MAGIC = b"TOY 1\\n"


class Failing(Format):
    name, ends = "failing", (".failing",)

    def fits(self, head):
        return head[10**9]

    def fits_members(self, members):
        return members.names[10**9]


class Toy(Format):
    name, ends = "toy", (".toy",)

    def fits(self, head):
        return head.startswith(MAGIC)

    def names(self, file, dialect):
        return self._read(file).columns

    def columns(self, file, dialect, width, places):
        frame = self._read(file)
        return frame.select([frame.columns[place] for place in places])

    def _read(self, file):
        with open_bytes(file) as opened:
            return pl.read_csv(io.BytesIO(opened.read()[len(MAGIC):]))
""",
    "toy/table/__init__.py": "",
    "toy/table/kind.py": """
from crowdcover.kinds.table.kind import KIND as TABLE


class Toy(type(TABLE)):
    name = "toy-table"
    anonymizer = "toy-of-kind"
    earlier_anonymizers = ()


KIND = Toy()
""",
    "toy/table/report/__init__.py": "",
    "toy/table/report/words.py": "from crowdcover.kinds.table.report.words import WORDS\n",
}


def install_toy(folder: Path) -> Path:
    """Build a wheel, and install it into a folder of its own, which is returned."""
    wheel = folder / "crowdcover_toy-1.0-py3-none-any.whl"
    about = "crowdcover_toy-1.0.dist-info"
    files = {
        **FILES,
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: crowdcover-toy\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": ENTRIES,
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        record = "".join(f"{name},,\n" for name in (*files, f"{about}/RECORD"))
        archive.writestr(f"{about}/RECORD", record)
    site = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", site, wheel], check=True)
    return site
