"""Plant secrets in a table and a plan, and search every byte outside the vault for them.

Each scenario runs the command line in a process and a folder of its own. The server and its
database are shared, so the last search finds what any scenario wrote there.
"""

import gzip
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest

from anon_core.anonymizers import ANONYMIZERS
from crowdcover.kinds.catalogued import CATALOGUE
from crowdcover.storage.vault.release_owner import MARK
from tests.conftest import HOME
from tests.flows.asking import ask_all, have_ended, until
from tests.flows.orders import Order, database_texts
from tests.flows.processes import Finished, crowdcover
from tests.kinds.matrix.orders import MatrixOrder

# Runs that log everything take minutes, and all of them are made before the first test.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]

RECORDS = 80
SENSITIVE = [f"Psickness{number}Q" for number in range(4)]
KEPT = [f"Premark{number}Q" for number in range(RECORDS)]
IDENTIFIERS = [f"Pperson{number}Q" for number in range(RECORDS)]
DROPPED = [f"Pjunk{number}Q" for number in range(RECORDS)]
RARE = "Pvillage1Q"
CITIES = ["Ptown1Q", "Ptown2Q", "Ptown3Q"]
GROUPS = [
    "Pgroup1Q",
    "Pgroup2Q",
]  # the plan names them in k = {by = ..., levels = {...}}; the column itself is dropped
MISSING = "Punknown1Q"  # the plan names it in source.missing
RARE_AGE = "98765.4321"  # the only one of its kind: the largest number
PASSWORD = "Ppassword1Q"
SECRET = Path(tempfile.mkdtemp(prefix="crowdcover-secret-")) / "password"

NEVER = [*IDENTIFIERS, *DROPPED, *GROUPS, MISSING, PASSWORD]  # not even in a release
DATA_ONLY = [*SENSITIVE, *KEPT, RARE, *CITIES]
TOLD = {"codebook.json", "manifest.json", "report.html", *CATALOGUE}
RELEASED = {"data.parquet", "data.csv.gz"} | TOLD
ITEMS = [f"Pitem{number}Q" for number in range(12)]
FRIEND = "Pfriend1Q"  # an item of one user of a matrix: no row shows it
RELEASED_ROWS = {"rows.parquet", "rows.csv.gz"} | TOLD
ALL = [*NEVER, *DATA_ONLY, RARE_AGE, *ITEMS, FRIEND]


def rows():
    found = []
    for number in range(RECORDS):
        city = RARE if number == 5 else MISSING if number == 6 else CITIES[number % 3]
        age = RARE_AGE if number == 11 else str(20 + number % 50)
        group = GROUPS[number % 2]
        found.append(
            (
                IDENTIFIERS[number],
                age,
                city,
                group,
                SENSITIVE[number % 4],
                KEPT[number],
                DROPPED[number],
            )
        )
    return found


def others():
    """Other people, whose table holds no secret but the groups that the plan names."""
    places = ["here", "there"]
    return [
        (
            f"someone{number}",
            20 + number % 50,
            places[number % 2],
            GROUPS[number % 2],
            f"illness{number % 4}",
            number,
            number,
        )
        for number in range(RECORDS)
    ]


def order_of(folder, **sections):
    """The plan of all scenarios: secrets in each of its corners."""
    order = Order(
        folder,
        rows(),
        anonymizer={"name": "local-search"},  # scenarios name others, without its effort
        source={"missing": [MISSING], "optional": [MISSING]},
        columns={"smokes": {"role": "drop", "public": True}},
        privacy={"k": {"by": "smokes", "levels": {GROUPS[0]: 3, GROUPS[1]: 5}}},
    )
    order.write(**sections)
    return order


# ---------------------------------------------------------------- scenarios


# What a library might say when something breaks.
WORDS = (
    f"could not convert {SENSITIVE[1]!r} of {IDENTIFIERS[2]!r} in {RARE!r} ({RARE_AGE}), "
    f"{MISSING}, {GROUPS[0]}"
)


@dataclass
class Scenario:
    """What to do and what must come of it."""

    code: int
    sections: dict = field(default_factory=dict)
    breaks: tuple[str, str] | None = None
    says: str = ""
    level: str | None = None
    after: bool = False  # another table was released under this plan before
    older: bool = False  # the table was released before, when everybody was younger
    owners: int = RECORDS  # people who own the records
    pairs: list | None = None  # entries of a matrix in place of the table

    @property
    def released(self):
        """The files of its release."""
        return RELEASED if self.pairs is None else RELEASED_ROWS

    def shown(self, name):
        """The secrets that a released file may show."""
        if self.pairs is not None:
            keyed = self.sections.get("columns", {}).get("keyed")
            return ITEMS if name == "codebook" and not keyed else []
        return {"data": DATA_ONLY, "codebook": [*CITIES, RARE]}.get(name, [])


NO_DRIFT = {"checks": {"drift": "off"}}
SCENARIOS = {
    "published": Scenario(0, says="guarantees hold"),
    "published by a batch job, everything logged": Scenario(
        0,
        {"compute": {"engine": "mpi", "cluster": {"launcher": "mpirun", "tasks_per_node": 2}}},
        level="DEBUG",
    ),
    **{
        f"published by {name}, everything logged": Scenario(
            0, {"anonymizer": {"name": name}}, level="DEBUG"
        )
        for name, method in sorted(ANONYMIZERS.items())
        if method.kind == "table" and name != "local-search"  # all others are by that
    },
    "published in parts on Dask, everything logged": Scenario(
        0,
        {
            "privacy": {"k": 2},
            "anonymizer": {"name": "freeform", "segment": 20, "part": 40},
            "compute": {"engine": "dask", "workers": 2, "threads": 2},
        },
        level="DEBUG",
    ),
    "published with mixed crowds, everything logged": Scenario(
        0, {"privacy": {"mix": "diagnosis"}}, level="DEBUG"
    ),
    "published without those who cost most, everything logged": Scenario(
        0, {"privacy": {"leave_out": 0.05}}, level="DEBUG"
    ),
    "published in diverse classes, everything logged": Scenario(
        0,
        {
            "privacy": {"diverse": {"column": "diagnosis", "l": 2}},
            "anonymizer": {"name": "k-member"},
        },
        level="DEBUG",
    ),
    "more values demanded than there are": Scenario(
        2,
        {
            "privacy": {"diverse": {"column": "diagnosis", "l": 81}},
            "anonymizer": {"name": "k-member"},
        },
        says="the largest l is",
    ),
    "plan refused": Scenario(
        2, {"source": {"nonsense": PASSWORD}}, says="unknown key source.nonsense"
    ),
    "plan refused, value of another type": Scenario(
        2, {"source": {"header": PASSWORD}}, says="source.header"
    ),
    "group without a level": Scenario(
        3,
        {"privacy": {"k": {"by": "smokes", "levels": {GROUPS[0]: 3}}}},
        says="of a group that levels do not name",
    ),
    "refused at ingest": Scenario(
        3, {"columns": {"city": {"role": "quasi", "kind": "numeric"}}}, says="no finite numbers"
    ),
    "refused at ingest, dates": Scenario(
        3, {"columns": {"city": {"role": "quasi", "kind": "date"}}}, says="no dates"
    ),
    "refused at validation": Scenario(
        3,
        {"columns": {"city": {"role": "quasi", "kind": "categorical", "missing": "refuse"}}},
        says="failed: ",
    ),
    "refused at binarize": Scenario(
        3,
        {"columns": {"city": {"role": "quasi", "kind": "categorical", "order": CITIES}}},
        says="'order' does not name",
    ),
    "nobody can hide": Scenario(2, {"privacy": {"k": 81}}, says="demand k > 80"),
    "refused at the check": Scenario(
        4, {"checks": {"min_utility": 1.0}}, says="below checks.min_utility"
    ),
    "refused for what is new since the last release": Scenario(
        4, after=True, says="column 'city' has 4 new categories in 79 of 80 rows"
    ),
    "published after another": Scenario(
        0,
        {
            "checks": {
                "drift": {"new_categories": 1, "gone_categories": 1, "shift": 1, "utility": 1}
            }
        },
        after=True,
    ),
    "refused as open to attack": Scenario(
        4, {"checks": {"max_attack_success": 0.0}}, says="above checks.max_attack_success"
    ),
    "plan with a password": Scenario(
        2,
        {"publish": {"ledger": f"postgresql://u:{PASSWORD}@127.0.0.1:9/{SENSITIVE[0]}"}},
        says="publish.ledger holds a password",
    ),
    "database with a password": Scenario(
        3,
        {
            "source": {
                "path": None,
                "uri": f"postgresql://u@127.0.0.1:9/{SENSITIVE[0]}",
                "query": f"select '{RARE}'",
                "credentials": f"file:{SECRET}",
            }
        },
        says="no server answers at the host and port of source.uri",
    ),
    "waits for approval": Scenario(
        6, {"publish": {"approval": "required"}}, says="waits for approval until"
    ),
    "waits for approval, everything logged": Scenario(
        6, {"publish": {"approval": "required"}}, level="DEBUG"
    ),
    "breaks while asking for approval": Scenario(
        1,
        {"publish": {"approval": "required"}},
        breaks=("crowdcover.tasks.stages.ask", "render_report"),
        says="stage ask failed with ValueError",
    ),
    "breaks at approval": Scenario(
        1,
        {"publish": {"approval": "required"}},
        breaks=("crowdcover.flows.runs.approval", "announce_release"),
        says="stage release failed with",
    ),
    "people who were released before": Scenario(
        2, NO_DRIFT, older=True, says="80 people of this source were released already"
    ),
    "crowds that other releases thin out": Scenario(
        4,
        {**NO_DRIFT, "publish": {"allow_second_release": True}},
        older=True,
        says="keep fewer than k rows",
    ),
    "breaks beside other releases": Scenario(
        1,
        {**NO_DRIFT, "publish": {"allow_second_release": True}},
        ("crowdcover.kinds.table.pipeline.overlap", "crowds_left"),
        "stage release failed with ValueError",
        older=True,
    ),
    "ledger with a password": Scenario(
        1,
        {
            "publish": {
                "ledger": f"postgresql://u@127.0.0.1:9/{SENSITIVE[0]}",
                "ledger_credentials": f"file:{SECRET}",
            }
        },
        says="the ledger at publish.ledger does not answer",
    ),
    "breaks in the ledger": Scenario(
        1,
        breaks=("crowdcover.storage.ledger.transaction", "_number_values"),
        says="ledger.sqlite does not answer (ValueError)",
    ),
    "breaks while the header is read": Scenario(
        1,
        breaks=("crowdcover.storage.source.sources", "read_source_header"),
        says="unforeseen ValueError",
    ),
    "breaks in the flow": Scenario(
        1,
        breaks=("crowdcover.flows.course", "admit_plan"),
        says="stage release failed with ValueError",
    ),
    "breaks at ingest": Scenario(
        1,
        breaks=("crowdcover.kinds.table.pipeline.ingest", "read_table"),
        says="stage ingest failed with ValueError",
    ),
    "breaks at validation": Scenario(
        1,
        breaks=("crowdcover.kinds.table.suites.checked", "build_ingested_suite"),
        says="stage validate failed with ValueError",
    ),
    "breaks in Great Expectations": Scenario(
        3, breaks=("crowdcover.validations.run", "_find_passed"), says="failed: "
    ),
    "breaks at encode": Scenario(
        1,
        breaks=("crowdcover.kinds.table.pipeline.encode", "encode_records"),
        says="stage encode failed with ValueError",
    ),
    "breaks at identify": Scenario(
        1,
        breaks=("crowdcover.tasks.stages.identify", "write_people"),
        says="stage identify failed with ValueError",
    ),
    "breaks at anonymize": Scenario(
        1,
        breaks=("crowdcover.kinds.table.pipeline.write", "cell_texts"),
        says="stage anonymize failed with ValueError",
    ),
    "breaks in freeform": Scenario(
        1,
        {"anonymizer": {"name": "freeform"}},
        breaks=("anon_core.anonymizers.freeform.freeform", "exchange_even_shares"),
        says="stage anonymize failed with ValueError",
    ),
    "breaks while parts are made": Scenario(
        1,
        {
            "privacy": {"k": 2},
            "anonymizer": {"name": "freeform", "segment": 20, "part": 40},
            "compute": {"engine": "dask", "workers": 1, "threads": 1},
        },
        breaks=("anon_core.anonymizers.in_parts.farmed", "PartChunk"),
        says="stage anonymize failed with ValueError",
    ),
    "breaks in optimal": Scenario(
        1,
        {"anonymizer": {"name": "optimal"}},
        breaks=("anon_core.anonymizers.optimal.optimal", "mask_groups"),
        says="stage anonymize failed with ValueError",
    ),
    "breaks while crowds are mixed": Scenario(
        1,
        {"privacy": {"mix": "diagnosis"}},
        breaks=("crowdcover.kinds.table.pipeline.write", "mix_values"),
        says="stage anonymize failed with ValueError",
    ),
    "breaks at check": Scenario(
        1,
        breaks=("crowdcover.kinds.table.kind", "audit_rows"),
        says="stage check failed with ValueError",
    ),
    "breaks at publish": Scenario(
        1,
        breaks=("crowdcover.tasks.stages.publish", "render_report"),
        says="stage publish failed with ValueError",
    ),
    "breaks once published": Scenario(
        1,
        breaks=("crowdcover.tasks.stages.publish", "announce_release"),
        says="stage publish failed with ValueError",
    ),
    "breaks, everything logged": Scenario(
        1, breaks=("crowdcover.kinds.table.pipeline.encode", "encode_records"), level="DEBUG"
    ),
}


OF_PEOPLE = {"privacy": {"person": "ssn"}}
SCENARIOS |= {
    "people, published": Scenario(0, OF_PEOPLE, says="guarantees hold", owners=30),
    "people whom the plan does not name": Scenario(3, owners=30, says="rows_are_people"),
    "a person with most of the rows": Scenario(2, OF_PEOPLE, says="belong to people", owners=2),
    "breaks while seats are made even": Scenario(
        1,
        breaks=("anon_core.seating.even", "fill_row_shares"),
        says="stage anonymize failed with ValueError",
    ),
    "breaks while people exchange rows": Scenario(
        1,
        OF_PEOPLE,
        breaks=("anon_core.seating.matching", "reseat_people"),
        says="stage anonymize failed with ValueError",
        owners=30,
    ),
    "breaks while people are counted": Scenario(
        1,
        OF_PEOPLE,
        breaks=("anon_core.measures.table.crowds", "count_people"),
        says="stage check failed with ValueError",
        owners=30,
    ),
    "breaks at the bounds of groups": Scenario(
        1,
        {"columns": {"age": {"role": "quasi", "kind": "numeric", "bins": {"quantiles": 4}}}},
        breaks=("anon_core.tables.number_levels", "_find_readable_cuts"),
        says="stage encode failed with ValueError",
    ),
}


def pairs():
    """Users in four tastes, and what they hold."""
    held = [
        (user, ITEMS[3 * (number % 4) + place])
        for number, user in enumerate(IDENTIFIERS)
        for place in range(3)
        if (number + place) % 5
    ]
    return [*held, (IDENTIFIERS[3], FRIEND)]


FRIENDS = [
    (IDENTIFIERS[i], IDENTIFIERS[j])
    for i in range(RECORDS)
    for j in range(RECORDS)
    if i != j and i % 4 == j % 4
]
ON_DASK = {
    "anonymizer": {"block": 20},
    "compute": {"engine": "dask", "workers": 2, "threads": 2},
}
SCENARIOS |= {
    f"{name} of a matrix": scenario
    for name, scenario in {
        "release": Scenario(0, says="guarantees hold", pairs=pairs()),
        "release, everything logged,": Scenario(0, level="DEBUG", pairs=pairs()),
        "release on Dask, everything logged,": Scenario(0, ON_DASK, level="DEBUG", pairs=pairs()),
        "people as items, everything logged,": Scenario(
            0, {"columns": {"keyed": True}}, level="DEBUG", pairs=FRIENDS
        ),
        "people as items, refused,": Scenario(3, says="have the name of a user", pairs=FRIENDS),
        "repeated entries": Scenario(
            3, says="repeat a user and an item", pairs=[*pairs(), *pairs()[:9]]
        ),
        "users without a name": Scenario(3, says="name no user", pairs=[*pairs(), ("", ITEMS[0])]),
        "users with two rows": Scenario(
            3, {"source": {"layout": "lists"}}, says="who has another row", pairs=pairs()
        ),
        "numbers that are none": Scenario(
            3,
            {
                "source": {"layout": "table"},
                "columns": {"user": None, "item": None, "numeric": ["item"]},
            },
            says="no finite numbers",
            pairs=pairs(),
        ),
        "groups that cannot be": Scenario(
            2,
            {
                "source": {"layout": "table"},
                "columns": {
                    "user": None,
                    "item": None,
                    "numeric": ["item"],
                    "bins": {"item": {"edges": [98765.4321, PASSWORD]}},
                },
            },
            says="columns.bins.item must be",
            pairs=pairs(),
        ),
        "demand of nobody": Scenario(2, {"privacy": {"k": 81}}, says="demand", pairs=pairs()),
        "refusal at the check": Scenario(
            4,
            {"checks": {"min_utility": 1.0}},
            says="below checks.min_utility",
            level="DEBUG",
            pairs=pairs(),
        ),
        "approval, everything logged,": Scenario(
            6, {"publish": {"approval": "required"}}, level="DEBUG", pairs=pairs()
        ),
        "breaks while an approval is asked for": Scenario(
            1,
            {"publish": {"approval": "required"}},
            breaks=("crowdcover.tasks.stages.ask", "render_report"),
            says="stage ask failed with ValueError",
            pairs=pairs(),
        ),
        **{
            f"breaks at {stage}, everything logged,": Scenario(
                1,
                breaks=place,
                says=f"stage {stage.partition(' ')[0]} failed with ValueError",
                level="DEBUG",
                pairs=pairs(),
            )
            for stage, place in {
                "ingest": ("crowdcover.kinds.matrix.pipeline.ingest", "read_source"),
                "validate": ("crowdcover.kinds.matrix.suites.checked", "build_ingested_suite"),
                "encode": ("crowdcover.kinds.matrix.pipeline.encode", "encode_entries"),
                "identify": ("crowdcover.kinds.matrix.pipeline.people", "_list_item_texts"),
                "anonymize by pairs": ("anon_core.anonymizers.smooth.smooth", "match_groups"),
                "anonymize and write": (
                    "crowdcover.kinds.matrix.pipeline.write",
                    "_list_group_items",
                ),
                "check": ("crowdcover.kinds.matrix.kind", "audit_matrix"),
                "check of majorities": ("crowdcover.kinds.matrix.judge.rows", "measure_smoothness"),
                "publish": ("crowdcover.tasks.stages.publish", "render_report"),
            }.items()
        },
        "users who were released before, everything logged,": Scenario(
            2,
            NO_DRIFT,
            older=True,
            says="80 people of this source were released already",
            level="DEBUG",
            pairs=pairs(),
        ),
        "users whom another release tells apart, everything logged,": Scenario(
            4,
            {**NO_DRIFT, "publish": {"allow_second_release": True}},
            older=True,
            says="keep fewer than k rows",
            level="DEBUG",
            pairs=pairs(),
        ),
        "breaks beside other releases, everything logged,": Scenario(
            1,
            {**NO_DRIFT, "publish": {"allow_second_release": True}},
            ("crowdcover.kinds.matrix.pipeline.overlap", "count_alike_users"),
            "stage release failed with ValueError",
            level="DEBUG",
            older=True,
            pairs=pairs(),
        ),
        **{
            f"breaks while {what} on Dask": Scenario(
                1,
                ON_DASK,
                breaks=place,
                says="stage anonymize failed with ValueError",
                pairs=pairs(),
            )
            for what, place in {
                "neighbours are searched": (
                    "anon_core.anonymizers.smooth.neighbours",
                    "search_stretch",
                ),
                "blocks are made": ("anon_core.anonymizers.smooth.blocks", "group_block"),
            }.items()
        },
    }.items()
}


def matrix_of(folder, scenario):
    """The plan of all scenarios of matrices."""
    order = MatrixOrder(folder, scenario.pairs)
    if scenario.older:
        order.write_source([(user, item) for user, item in scenario.pairs if item != ITEMS[2]])
        done = crowdcover("release", order.plan)
        assert done.code == 0, done.err
        order.write_source(scenario.pairs)
    order.write(**scenario.sections)
    (order.folder / "here").mkdir()
    return order


@pytest.fixture(scope="module")
def ended(server, tmp_path_factory):
    """All scenarios, run: name -> order and what its process left."""
    SECRET.write_text(PASSWORD)
    SECRET.chmod(0o600)
    orders = {}
    for name, scenario in SCENARIOS.items():
        if scenario.pairs is not None:
            orders[name] = matrix_of(tmp_path_factory.mktemp("leak"), scenario)
            continue
        order = orders[name] = order_of(tmp_path_factory.mktemp("leak"))
        if scenario.older:
            done = crowdcover("release", order.plan)
            assert done.code == 0, done.err
            order.write_source(
                [
                    (ssn, age if age == RARE_AGE else str(int(age) + 4), *rest)
                    for ssn, age, *rest in rows()
                ]
            )
        for section, values in scenario.sections.items():
            merged = {**order.document.get(section, {}), **values}
            order.document[section] = {
                key: value for key, value in merged.items() if value is not None
            }
        order.write()
        if scenario.owners < RECORDS:
            order.write_source(
                [
                    (IDENTIFIERS[number % scenario.owners], *row[1:])
                    for number, row in enumerate(rows())
                ]
            )
        (order.folder / "here").mkdir()

    def end(name):
        scenario, order = SCENARIOS[name], orders[name]
        breaks = scenario.breaks and (*scenario.breaks, WORDS)
        here = order.folder / "here"
        if scenario.after:
            order.write_source(others())
            assert crowdcover("release", order.plan, cwd=here).code == 0
            order.write_source(rows())
        return crowdcover("release", order.plan, breaks=breaks, cwd=here, level=scenario.level)

    return {
        name: (orders[name], end(name)) for name in SCENARIOS
    }  # at the same time they would block their server for minutes


def markers_in(content: bytes, markers=ALL):
    return sorted(
        {
            marker
            for marker in markers
            if marker.encode() in content or marker.encode("utf-16-le") in content
        }
    )


def outside(order):
    """Every file that a run wrote outside of its vault, and was not given."""
    given = {order.source, order.plan}
    return [
        path
        for path in order.folder.rglob("*")
        if path.is_file() and order.vault not in path.parents and path not in given
    ]


def contents(path):
    """The bytes of a file, and what it holds when it is unpacked."""
    content = path.read_bytes()
    yield content
    if path.suffix == ".gz":
        yield gzip.decompress(content)
    if path.suffix == ".parquet":
        yield pl.read_parquet(path).write_json().encode()


# ---------------------------------------------------------------- what is looked at


@pytest.mark.parametrize("name", SCENARIOS)
def test_it_ends_as_it_should(ended, name):
    scenario, (_, done) = SCENARIOS[name], ended[name]
    assert done.code == scenario.code, done.err
    assert scenario.says in done.err
    assert ("| DEBUG" in done.err) == (scenario.level == "DEBUG")
    if scenario.level is None:  # Prefect's own debug lines hold tracebacks of its connections
        assert "Traceback" not in done.err
    if scenario.code:
        assert done.out == ""
        assert any(line.startswith("crowdcover: ") for line in done.err.splitlines())


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_terminal_shows_no_secret(ended, name):
    done: Finished = ended[name][1]
    assert markers_in((done.out + done.err).encode()) == []


@pytest.mark.parametrize("name", SCENARIOS)
def test_files_outside_the_vault_hold_no_secret(ended, name):
    order, done = ended[name]
    found = outside(order)
    visible = (
        done.code == 0
        or name == "breaks once published"
        or SCENARIOS[name].after
        or SCENARIOS[name].older
    )
    hidden = {
        path
        for path in found
        if any(part.startswith(".") for part in path.relative_to(order.folder).parts)
    }
    released = SCENARIOS[name].released if visible else set()
    assert {path.name for path in found if path not in hidden} == released
    for path in found:
        may = SCENARIOS[name].shown(path.name.split(".")[0])
        for content in contents(path):
            assert set(markers_in(content)) <= set(may), path.name


def test_the_release_shows_what_it_should(ended):
    """The markers would be found if they were there."""
    order, _ = ended["published"]
    for name in ("data.parquet", "data.csv.gz"):
        unpacked = list(contents(order.folder_of_v1 / name))[-1]
        assert set(markers_in(unpacked, [*SENSITIVE, *KEPT, RARE])) == {*SENSITIVE, *KEPT, RARE}
    codebook = (order.folder_of_v1 / "codebook.json").read_bytes()
    assert RARE in markers_in(codebook)
    assert markers_in(codebook, [RARE_AGE]) == []
    cells = order.rows()["city"].to_list()
    assert all("|" in cell for cell in cells if RARE in cell)


def test_the_release_of_a_matrix_shows_what_it_should(ended):
    order, _ = ended["release of a matrix"]
    (codebook,) = (order.folder / "releases").rglob("codebook.json")
    assert set(markers_in(codebook.read_bytes())) == set(ITEMS)


def test_verdicts_and_their_page_hold_no_secret(ended):
    """They lie in the vault, but an officer may pass the page on."""
    for name, (order, done) in ended.items():
        pages, stored = (
            list(order.vault.rglob("docs/index.html")),
            list(order.vault.rglob("verdict.json")),
        )
        gates = list(order.vault.rglob("gates.json"))
        judged = {path.parent.parent for path in stored} | {path.parent for path in gates}
        assert {page.parent.parent for page in pages} == judged, name
        for path in (*pages, *stored, *gates):
            assert markers_in(path.read_bytes()) == [], name
            assert path.stat().st_mode & 0o777 == 0o600
        if done.code == 0:
            assert b"Every check was passed" in pages[0].read_bytes(), name
    for name in ("refused at validation", "refused at the check", "breaks in Great Expectations"):
        order, done = ended[name]
        (page,) = order.vault.rglob("docs/index.html")
        assert b"Refused: " in page.read_bytes(), name
        assert f"{page.parent.parent.name}/docs/index.html" in done.err


def test_no_file_holds_a_password(ended):
    """Not even the vault: what it keeps of a plan has the URI without it."""
    for name in ("database with a password", "ledger with a password"):
        order, _ = ended[name]
        files = [path for path in order.folder.rglob("*") if path.is_file() and path != order.plan]
        assert any(path.parent.name == "plans" for path in files)
        for path in files:
            assert markers_in(path.read_bytes(), [PASSWORD]) == [], path.name


def test_the_vault_keeps_what_broke(ended):
    for name, (order, _) in ended.items():
        if name.startswith("breaks ") and not any(
            word in name for word in ("header", "Great", "ledger")
        ):
            kept = b"".join(path.read_bytes() for path in order.vault.rglob("failure-*.txt"))
            assert IDENTIFIERS[2].encode() in kept, name


def test_the_ledger_holds_no_secret(ended):
    """It may lie in a database that vaults share: digests, counts and names."""
    for name, (order, _) in ended.items():
        for path in order.vault.glob("ledger.*"):
            assert markers_in(path.read_bytes()) == [], name
    order, _ = ended["published"]
    texts = list(database_texts(order.vault / "ledger.sqlite"))
    assert b"people" in texts
    assert {len(text) for text in texts if len(text) > 1000} == {RECORDS * 16}
    assert order.run.source_sha256.encode() not in b"\n".join(texts)


def test_prefects_files_hold_no_secret(ended):
    settle(ended)
    for path in HOME.rglob("*"):
        if path.is_file():
            assert markers_in(path.read_bytes()) == [], path.name


def test_prefects_database_holds_no_secret(ended):
    settle(ended)
    texts = list(database_texts(HOME / "prefect.db"))
    assert any(b"ingested 80 rows" in text for text in texts)  # it is the one that was written to
    assert markers_in(b"\n".join(texts)) == []


def test_prefects_answers_hold_no_secret(ended):
    settle(ended)
    for what in (
        "flows",
        "flow_runs",
        "task_runs",
        "artifacts",
        "logs",
        "deployments",
        "variables",
        "block_documents",
    ):
        found = ask_all(what)
        assert what in {"deployments", "variables", "block_documents"} or found
        assert markers_in(json.dumps(found, ensure_ascii=False).encode()) == [], what
    for run in runs_of(ended):
        assert set(run["parameters"]) == {"plan", "accept", "partition"}
        assert (run["parameters"]["accept"], run["parameters"]["partition"]) == (None, None)


def frozen_plans(ended):
    """The plans of all runs that reached the server."""
    return {
        str(path) for order, _ in ended.values() for path in (order.vault / "plans").glob("*.json")
    }


def runs_of(ended):
    """What the server knows of their runs; it knows those of other tests, too."""
    plans = frozen_plans(ended)
    return [run for run in ask_all("flow_runs") if run["parameters"].get("plan") in plans]


def settle(ended):
    """Wait until the server has written down the end of every run that reached it."""
    plans = frozen_plans(ended)
    until(
        lambda: runs_of(ended),
        lambda runs: (
            {run["parameters"]["plan"] for run in runs} == plans and have_ended(runs, len(runs))
        ),
    )


def test_audit_show_and_starter_plan_tell_no_secret(ended):
    order, _ = ended["published"]
    folder = order.folder_of_v1
    for arguments, breaks, code in (
        (["audit", folder, "--plan", order.plan], None, 0),
        (
            ["audit", folder, "--plan", order.plan],
            ("crowdcover.kinds.table.judge.measuring", "crowds"),
            1,
        ),
        (["show", folder], None, 0),
        (["show", folder, "--all"], None, 0),
        (["show", folder, "--json"], None, 0),
        (["plan", order.source], None, 0),
        (["plan", order.source], ("crowdcover.kinds.table.starter.writing", "read_columns"), 1),
    ):
        done = crowdcover(*arguments, breaks=breaks and (*breaks, WORDS), cwd=order.folder)
        assert done.code == code, done.err
        assert "Traceback" not in done.err
        assert markers_in((done.out + done.err).encode()) == [], arguments[0]


@pytest.mark.parametrize("what", ["approve", "reject"])
def test_a_decision_tells_no_secret(server, tmp_path, what):
    order = order_of(tmp_path, publish={"approval": "required"})
    here = tmp_path / "here"
    here.mkdir()
    options = [order.run.path.name, "--plan", order.plan]
    ends = [
        crowdcover(what, *options, "--by", "Ada", cwd=here),
        crowdcover("release", order.plan, cwd=here),
        crowdcover(
            what,
            *options,
            "--by",
            "Ada",
            breaks=("crowdcover.flows.vault.decisions", "_show_summary", WORDS),
            cwd=here,
        ),
        crowdcover(what, *options, "--by", "Ada", "--note", "read", cwd=here),
        crowdcover(what, *options, "--by", "Ada", cwd=here),
        crowdcover("release", order.plan, cwd=here),
        crowdcover("reopen", *options, cwd=here),
    ]
    published = what == "approve"
    assert [done.code for done in ends] == [2, 6, 1, 0, 4, 0 if published else 4, 0]
    for done in ends:
        assert markers_in((done.out + done.err).encode()) == []
        assert "Traceback" not in done.err
    marked = RELEASED | {MARK}  # the digest of the folder under a key of the vault
    assert {path.name for path in outside(order)} == (marked if published else set())
    for name in ("approval.json", "approval.html"):
        content = (order.run.path / name).read_bytes()
        assert markers_in(content) == []  # Prefect shows what stands there
        assert (order.run.path / name).stat().st_mode & 0o777 == 0o600
    test_prefects_files_hold_no_secret({"decided": (order, ends[-1])})


def test_a_spoiled_release_is_judged_without_quoting_it(ended, tmp_path):
    order, _ = ended["published"]
    spoiled = pl.read_parquet(order.folder_of_v1 / "data.parquet").with_columns(
        city=pl.lit([RARE], dtype=pl.List(pl.String)),
        diagnosis=pl.lit(SENSITIVE[2]),
        ssn=pl.lit(IDENTIFIERS[1]),
    )
    for path in order.folder_of_v1.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    spoiled.write_parquet(tmp_path / "data.parquet")
    done = crowdcover("audit", tmp_path, "--plan", order.plan)
    assert done.code == 4
    assert markers_in((done.out + done.err).encode()) == []
