"""Plans: what a person typed is understood, or refused by key and without its cells."""

import json
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.specs.columns import ColumnSpec
from anon_core.specs.demands import Demand
from crowdcover.flows.plan.plan import PlanError, ReleasePlan
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.plan.checks import ChecksSection
from crowdcover.tasks.compute.spec import Cluster
from tests.flows.orders import Order
from tests.support.plans import MARK, PLAN, refused

PUBLIC = "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="
OTHER = "ed25519:tjTy5DJCpcQK2kLT3oli6quSg/G07YYjPEnZwDT7hnY="


@pytest.fixture
def plan_at(tmp_path):
    """Write a plan: the one above, parts replaced or added."""

    def write(*additions, replace=()):
        text = PLAN
        for old, new in replace:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "plans" / "people.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join([text, *additions]), encoding="utf-8")
        return path

    return write


@pytest.fixture
def load(plan_at):
    return lambda *additions, replace=(), overrides=(): ReleasePlan.load(
        plan_at(*additions, replace=replace), overrides
    )


# ---------------------------------------------------------------- understood


def test_the_contracts_example(tmp_path):
    path = tmp_path / "adult.toml"
    path.write_text(
        """
name = "adult"
[source]
path = "adult.data.gz"
header = false
missing = ["?"]
[columns.age]
role = "quasi"
kind = "numeric"
bins = "deciles"
encoding = "ordinal"
weight = 1.0
[columns.workclass]
role = "quasi"
kind = "categorical"
missing = "category"
[columns.income]
role = "sensitive"
[privacy]
k = {uniform = [5, 100], seed = 7}
[anonymizer]
name = "adaptive"
epsilon = 2.0
weights = "columns"
max_iterations = 10
patience = 3
[compute]
engine = "local"
threads = 0
memory = "4GiB"
[checks]
min_utility = 0.85
[publish]
path = "releases"
vault = "vault"
formats = ["parquet", "csv"]
""",
        encoding="utf-8",
    )
    plan = ReleasePlan.load(path)
    assert plan.data.source.path == tmp_path / "adult.data.gz"
    assert plan.data.source.missing == ("?",)
    assert not plan.data.source.header
    assert plan.data.columns == (
        Column(
            name="age",
            role="quasi",
            kind="numeric",
            spec=ColumnSpec(name="age", kind="numeric", encoding="ordinal", bins=10),
        ),
        Column(
            name="workclass",
            role="quasi",
            kind="categorical",
            spec=ColumnSpec(name="workclass", kind="categorical"),
        ),
        Column(name="income", role="sensitive"),
    )
    assert plan.data.demand == Demand(uniform=(5, 100), seed=7)
    assert plan.anonymizer_settings == {
        "name": "adaptive",
        "part": 0,
        "epsilon": 2.0,
        "schedule": "multilevel",
        "reclaim": True,
        "weights": "columns",
        "cover": "mce",
        "seats": "matchable",
        "max_iterations": 10,
        "patience": 3,
    }
    assert plan.memory_bytes == 4 * 2**30
    assert plan.checks.min_utility == 0.85
    assert plan.publish.path == str(tmp_path / "releases")
    assert plan.publish.vault == str(tmp_path / "vault")


@pytest.mark.parametrize(
    "path",
    sorted((Path(__file__).parents[3] / "examples").glob("*.toml")),
    ids=lambda path: path.name,
)
def test_the_examples_are_plans(path):
    plan = ReleasePlan.load(path)
    roles = {each["role"] for each in plan.kind.describe_columns(plan.data)["columns"].values()}
    assert roles & {"quasi", "probability"}


def test_defaults(load):
    plan = load()
    age, job = plan.data.quasi
    assert (age.spec.bins, age.spec.encoding, age.spec.missing, age.spec.weight) == (
        10,
        "ordinal",
        "category",
        1.0,
    )
    assert (job.spec.bins, job.spec.encoding) == (None, "one-hot")
    assert plan.data.demand == Demand(constant=5)
    assert plan.publish.formats == ["parquet", "csv"]
    assert plan.publish.time_to_approve is None


@pytest.mark.parametrize(
    ("settings_", "spec"),
    [
        (
            'kind = "numeric"\nbins = "none"',
            {"kind": "numeric", "encoding": "ordinal", "bins": None},
        ),
        (
            'kind = "numeric"\nbins = {quantiles = 20}',
            {"kind": "numeric", "encoding": "ordinal", "bins": 20},
        ),
        (
            'kind = "numeric"\nbins = {edges = [18, 65.5]}',
            {"kind": "numeric", "encoding": "ordinal", "bins": (18.0, 65.5)},
        ),
        (
            'kind = "numeric"\nencoding = "one-hot"\nweight = 2',
            {"kind": "numeric", "bins": 10, "weight": 2.0},
        ),
        ('kind = "date"\nformat = "%d.%m.%Y"', {"kind": "date", "encoding": "ordinal", "bins": 10}),
        ('kind = "binary"\nmissing = "drop"', {"kind": "binary", "missing": "drop"}),
        (
            'kind = "categorical"\nencoding = "ordinal"\norder = ["lo", "hi"]\nmissing = '
            '"all-hidden"',
            {
                "kind": "categorical",
                "encoding": "ordinal",
                "order": ("lo", "hi"),
                "missing": "all-hidden",
            },
        ),
    ],
)
def test_columns(load, settings_, spec):
    plan = load(f'[columns.x]\nrole = "quasi"\n{settings_}')
    column = plan.data.quasi[-1]
    assert column.spec == ColumnSpec(name="x", **spec)
    assert column.date_format == ("%d.%m.%Y" if "format" in settings_ else "%Y-%m-%d")


@pytest.mark.parametrize(
    ("k", "demand"),
    [
        ("7", Demand(constant=7)),
        ('{column = "job"}', Demand(column="job")),
        (
            '{by = "job", levels = {IA = 10, "a b" = 3}, default = 4}',
            Demand(by="job", levels={"IA": 10, "a b": 3}, default=4),
        ),
        ('{by = "age", levels = {30 = 10}}', Demand(by="age", levels={"30": 10})),
        ("{uniform = [2, 9]}", Demand(uniform=(2, 9))),
        ("{uniform = [2, 2], seed = 0}", Demand(uniform=(2, 2))),
    ],
)
def test_demands(load, k, demand):
    assert load(replace=[("k = 5", f"k = {k}")]).data.demand == demand


def test_limits(load):
    assert load().checks.release_limits.stated == {}
    one = "columns = {age = 0.5}\nl_diversity = {column = 'income', l = 3, kind = 'entropy'}"
    one += "\nmax_row_loss = 0\nmax_attack_success = 0.1"
    assert load(f"[checks]\n{one}").checks == ChecksSection(
        columns={"age": 0.5},
        l_diversity={"column": "income", "l": 3, "kind": "entropy"},
        max_row_loss=0.0,
        max_attack_success=0.1,
    )
    several = "{column = 'income', l = 2, kind = 'recursive', c = 2}, {column = 'income', l = 4}"
    plan = load(
        f"[checks]\nl_diversity = [{several}]\nt_closeness = {{column = 'income', t = 0.2}}"
    )
    assert plan.checks == ChecksSection(
        l_diversity=[
            {"column": "income", "l": 2, "kind": "recursive", "c": 2.0},
            {"column": "income", "l": 4},
        ],
        t_closeness={"column": "income", "t": 0.2},
    )
    assert plan.sha256 == load().sha256


def test_a_plan_with_a_byte_order_mark(plan_at):
    path = plan_at()
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert ReleasePlan.load(path).name == "people"


def test_memory(load):
    for text, expected in [
        ("1 KiB", 1024),
        ("1.5gb", 1_500_000_000),
        ("12b", 12),
        (" 2MiB ", 2**21),
    ]:
        assert load(f'[compute]\nmemory = "{text}"').memory_bytes == expected


def test_plans_are_frozen(load):
    plan = load()
    with pytest.raises(ValueError, match="frozen"):
        plan.name = "other"
    with pytest.raises(ValueError, match="frozen"):
        plan.source.header = False


def test_a_plan_shows_no_values(load):
    secrets = f"""
[columns.x]
role = "quasi"
kind = "categorical"
order = ["{MARK}"]
[columns.y]
role = "quasi"
kind = "numeric"
bins = {{edges = [77319]}}
"""
    plan = load(
        secrets,
        replace=[
            (
                'path = "people.csv"',
                f'uri = "postgresql://{MARK}@h/db"\nquery = "select {MARK}"\nmissing = ["{MARK}"]',
            ),
            ("k = 5", f'k = {{by = "job", levels = {{{MARK} = 77319}}, default = 5}}'),
        ],
    )
    shown = (
        repr(plan)
        + str(plan)
        + repr(plan.data.source)
        + repr(plan.data.columns)
        + repr(plan.data.demand)
    )
    assert MARK not in shown
    assert "77319" not in shown


# ---------------------------------------------------------------- refused

WRONG = [
    (
        '[columns.x]\nrole = "quasi"',
        "columns.x: role = 'quasi' needs a kind: numeric, date, categorical or binary",
    ),
    (
        '[columns.x]\nrole = "zq7"',
        "columns.x.role must be 'identifier', 'quasi', 'sensitive', 'keep' or 'drop'",
    ),
    ('[columns.x]\nkind = "numeric"', "columns.x.role is missing; it is required"),
    (
        '[columns.x]\nrole = "quasi"\nkind = "zq7"',
        "columns.x.kind must be 'numeric', 'date', 'categorical' or 'binary'",
    ),
    (
        '[columns.x]\nrole = "keep"\nbins = "none"',
        "columns.x.bins belongs to role = 'quasi', this column has role = 'keep'",
    ),
    (
        '[columns.x]\nrole = "drop"\nmissing = "refuse"',
        "columns.x.missing belongs to role = 'quasi'",
    ),
    ('[columns.x]\nrole = "sensitive"\nweight = 1.0', "columns.x.weight belongs to role = 'quasi'"),
    (
        '[columns.x]\nrole = "identifier"\norder = ["zq7"]',
        "columns.x.order belongs to role = 'quasi'",
    ),
    (
        '[columns.x]\nrole = "keep"\nencoding = "ordinal"',
        "columns.x.encoding belongs to role = 'quasi'",
    ),
    ('[columns.x]\nrole = "keep"\nformat = "%zq7"', "columns.x.format belongs to kind = 'date'"),
    (
        '[columns.x]\nrole = "quasi"\nkind = "binary"\nbins = "none"',
        "columns.x.bins belongs to kind = 'numeric' or 'date'",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "binary"\nencoding = "one-hot"',
        "columns.x.encoding: a binary column is one bit",
    ),
    ('[columns.x]\nrole = "keep"\nrange = [0, 1]', "columns.x.range belongs to role = 'quasi'"),
    (
        '[columns.x]\nrole = "quasi"\nkind = "categorical"\nrange = [0, 1]',
        "columns.x.range belongs to kind = 'numeric' or 'date'",
    ),
    *(
        (
            f'[columns.x]\nrole = "quasi"\nkind = "{kind}"\nrange = {stated}',
            r"columns\.x\.range must be \[least, greatest\], two numbers, or two dates for kind =",
        )
        for kind, stated in (
            ("numeric", "[1]"),
            ("numeric", "5"),
            ("numeric", '["zq7", 3]'),
            ("numeric", "[2001-01-01, 2002-01-01]"),
            ("date", "[1, 2]"),
            ("date", "[2001-01-01, 5]"),
        )
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "numeric"\nrange = [2, 1]',
        "column 'x': range must be two finite numbers, the smaller one first",
    ),
    ('[columns.x]\nrole = "keep"\ncarry = "median"', "columns.x.carry belongs to role = 'quasi'"),
    ('[columns.x]\nrole = "drop"\nrare = "pool"', "columns.x.rare belongs to role = 'quasi'"),
    (
        '[columns.x]\nrole = "quasi"\nkind = "numeric"\ncarry = "mean"',
        "columns.x.carry must be 'bounds' or 'median'",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "numeric"\nbins = "none"\ncarry = "median"',
        "columns.x.carry belongs to numbers and dates in groups",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "categorical"\ncarry = "bounds"',
        "columns.x.carry belongs to numbers and dates in groups",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "numeric"\nrare = "pool"',
        "columns.x.rare belongs to categories, and to numbers and dates with bins = 'none'",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "binary"\nrare = "pool"',
        "columns.x.rare belongs to categories",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "categorical"\nencoding = "ordinal"\n'
        'order = ["a", "b"]\nrare = "pool"',
        "column 'x': rare = 'pool' makes one level of categories that may lie far apart",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "numeric"\norder = ["zq7"]',
        "columns.x.order belongs to kind = 'categorical'",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "categorical"\nencoding = "ordinal"',
        "column 'x' is categorical and ordinal: give",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "categorical"\norder = ["zq7", "zq7"]',
        "column 'x': 'order' names a level more",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "categorical"\norder = [1]',
        r"columns.x.order.0 must be a text",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "numeric"\nweight = 0',
        "columns.x.weight must be greater than 0",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "numeric"\nweight = inf',
        "column 'x': weight must be a positive finite number",
    ),
    (
        '[columns.x]\nrole = "quasi"\nkind = "numeric"\nweight = "zq7"',
        "columns.x.weight must be a number",
    ),
    *(
        (f'[columns.x]\nrole = "quasi"\nkind = "numeric"\nbins = {bins}', words)
        for bins, words in [
            (
                '"zq7"',
                "columns.x.bins must be 'deciles', 'none', {quantiles = number} or {edges = ",
            ),
            ("10", "columns.x.bins must be 'deciles'"),
            ("{}", "columns.x.bins must be 'deciles'"),
            ("{quantiles = 5, edges = [77319]}", "columns.x.bins must be 'deciles'"),
            ("{quantiles = [77319]}", "columns.x.bins must be 'deciles'"),
            ("{quantiles = 2.5}", "columns.x.bins must be 'deciles'"),
            ("{quantiles = true}", "columns.x.bins must be 'deciles'"),
            ("{zq7 = 5}", "columns.x.bins must be 'deciles'"),
            ('{edges = ["zq7"]}', "columns.x.bins must be 'deciles'"),
            ("{edges = 77319}", "columns.x.bins must be 'deciles'"),
            ("{edges = [77319, inf]}", "columns.x.bins must be 'deciles'"),
            ("{edges = [nan]}", "columns.x.bins must be 'deciles'"),
            ("{quantiles = 1}", "column 'x': quantiles must be at least 2"),
            (
                "{quantiles = 10000000000}",
                "column 'x': quantiles must be at least 2 and at most 65536",
            ),
            ("{edges = []}", "column 'x': edges must be given in increasing order, at least one"),
            ("{edges = [77319, 5]}", "column 'x': edges must be given in increasing order"),
            ("{edges = [77319, 77319]}", "column 'x': edges must be given in increasing order"),
        ]
    ),
    (
        '[columns.key]\nrole = "keep"',
        "columns.key: a release has a column of this name already; rename it in the source or drop",
    ),
    (
        '[columns.""]\nrole = "keep"',
        'columns."": a released column needs a name; give it one in the source or drop it',
    ),
    (
        "[column.x]\nrole = 'keep'",
        "unknown key column; allowed: name, about, source, anonymizer, compute, checks, publish, "
        "series, columns, priv",
    ),
    (
        '[columns.x]\nroll = "keep"\nrole = "keep"',
        "unknown key columns.x.roll; allowed: role, kind, bins, encoding, order",
    ),
    (
        "[publish]\nfolder = 'zq7'",
        "unknown key publish.folder; allowed: path, vault, formats, allow_second_release",
    ),
    (
        "[publish]\nledger = 'sqlite:///zq7'",
        "publish.ledger must start with postgresql://; leave it out to keep the ledger in",
    ),
    ("[publish]\nformats = ['zq7']", "publish.formats.0 must be 'parquet' or 'csv'"),
    ("[publish]\nformats = []", "publish.formats must not be empty"),
    ("[publish]\npath = 77319", "publish.path must be a text"),
    ("[compute]\nscheduler = 'tcp://zq7:1'", "compute.scheduler belongs to engine = 'dask'"),
    ("[compute]\nworkers = 77319", "compute.workers belongs to engine = 'dask'"),
    (
        "[compute]\nengine = 'dask'\nworkers = 0",
        "compute.workers must be greater than or equal to 1",
    ),
    (
        "[compute]\nengine = 'dask'\nscheduler = 'zq7'",
        "compute.scheduler must be an address like 'tcp://host:8786' or",
    ),
    (
        "[compute]\nengine = 'dask'\nscheduler = 'tcp://zq7@h:1'",
        "compute.scheduler must be an address like",
    ),
    (
        "[compute]\nengine = 'dask'\nscheduler = 'tls://zq7:8786'\nworkers = 77319",
        "compute.workers belongs to a local cluster; the cluster of compute.scheduler has its own",
    ),
    ("[compute]\nengine = 'zq7'", "compute.engine must be 'local', 'mpi' or 'dask'"),
    (
        "[compute]\nengine = 'mpi'",
        "compute.engine = 'mpi' needs compute.cluster, e.g. {launcher = 'mpirun'",
    ),
    ("[compute]\ncluster = {launcher = 'slurm'}", "compute.cluster belongs to engine = 'mpi'"),
    (
        "[compute]\nengine = 'mpi'\nthreads = 2\ncluster = {launcher = 'slurm'}",
        "compute.threads belongs to engine = 'local' or 'dask'; set compute.cluster",
    ),
    *(
        (f"[compute]\nengine = 'mpi'\n[compute.cluster]\n{cluster}", words)
        for cluster, words in (
            ("nodes = 1", "compute.cluster.launcher is missing; it is required"),
            ("launcher = 'zq7'", "compute.cluster.launcher must be 'slurm' or 'mpirun'"),
            (
                "launcher = 'slurm'\nnode = 1",
                "unknown key compute.cluster.node; allowed: launcher, nodes, tasks_per_node, "
                "cores_",
            ),
            (
                "launcher = 'slurm'\nnodes = 0",
                "compute.cluster.nodes must be greater than or equal to 1",
            ),
            (
                "launcher = 'mpirun'\nnodes = 2",
                "compute.cluster.nodes: launcher = 'mpirun' uses this machine only; set nodes = 1",
            ),
            (
                "launcher = 'mpirun'\npartition = 'x'",
                "compute.cluster.partition belongs to launcher = 'slurm'",
            ),
            ("launcher = 'slurm'\nmpi = 'pmi2'", "compute.cluster.mpi belongs to start = 'srun'"),
            (
                "launcher = 'slurm'\npartition = 'a; zq7'",
                "compute.cluster.partition must be letters, digits and",
            ),
            (
                "launcher = 'slurm'\noptions = {array = '1-9'}",
                "compute.cluster.options.array cannot be set by a plan",
            ),
            *(
                (
                    f"launcher = 'slurm'\ntime_limit = '{limit}'",
                    "compute.cluster.time_limit must be like '12:30:00', '2-00:00",
                )
                for limit in ("", "77319", "0h", "1:99:00", "9999999d", "-1h")
            ),
        )
    ),
    ("[compute]\nthreads = -77319", "compute.threads must be greater than or equal to 0"),
    (
        "[compute]\nmemory = 'zq7'",
        "compute.memory must be a number and a unit, e.g. '4GiB'; units: b, kib",
    ),
    ("[compute]\nmemory = '4 zq7'", "compute.memory must be a number and a unit"),
    ("[compute]\nmemory = 77319", "compute.memory must be a text"),
    (f"[compute]\nmemory = '{'9' * 400}GiB'", "compute.memory must be a number and a unit"),
    ("[checks]\nmin_utility = 85", "checks.min_utility must be less than or equal to 1"),
    (
        "[checks]\nmin_k = 3",
        "unknown key checks.min_k; allowed: max_prosecutor, max_marketer, max_journalist, all_m, "
        "min_utility, columns, l_diversity, t_closeness, "
        "max_uniform, equivalence_k, max_row_loss, drift, "
        "max_attack_success",
    ),
    (
        "[checks]\nmax_attack_success = 2",
        "checks.max_attack_success must be less than or equal to 1",
    ),
    ("[checks]\nmax_row_loss = -1", "checks.max_row_loss must be greater than or equal to 0"),
    ("[checks]\nl_diversity = 3", "checks.l_diversity must be a list"),
    (
        "[checks]\ncolumns = {zq7 = 0.5}",
        r"checks.columns names a column that \[columns\] does not; allowed: age, job",
    ),
    (
        "[checks]\ncolumns = {income = 0.5}",
        "checks.columns: column 'income' is no quasi-identifier, it has role = 'sensitive'",
    ),
    ("[checks]\ncolumns = {age = 77319}", "checks.columns.age must be less than or equal to 1"),
    *(
        (f"[checks]\nl_diversity = {{{asked}}}", words)
        for asked, words in (
            (
                "column = 'zq7', l = 3",
                r"checks.l_diversity names a column that \[columns\] does not; allowed: income",
            ),
            (
                "column = 'age', l = 3",
                "checks.l_diversity: column 'age' is not sensitive, it has role = 'quasi'; "
                "allowed: inc",
            ),
            ("column = 'income'", "checks.l_diversity.0.l is missing; it is required"),
            (
                "column = 'income', l = 1",
                "checks.l_diversity.0.l must be greater than or equal to 2",
            ),
            (
                "column = 'income', l = 2, m = 3",
                "unknown key checks.l_diversity.0.m; allowed: column, l, kind, c",
            ),
            (
                "column = 'income', l = 2, kind = 'zq7'",
                "checks.l_diversity.0.kind must be 'distinct', 'entropy' or 'recursiv",
            ),
            (
                "column = 'income', l = 2, c = 2.0",
                "checks.l_diversity: c belongs to kind = 'recursive', which needs one",
            ),
            (
                "column = 'income', l = 2, kind = 'recursive'",
                "checks.l_diversity: c belongs to kind = 'recursive', which needs",
            ),
            (
                "column = 'income', l = 11, kind = 'recursive', c = 2",
                "'recursive' is measured up to l = 10; lower l",
            ),
            (
                "column = 'income', l = 2, kind = 'recursive', c = inf",
                "checks.l_diversity.0.c must be a finite number",
            ),
        )
    ),
    (
        "[checks]\nt_closeness = {column = 'income', t = 1.5}",
        "checks.t_closeness.0.t must be less than or equal to 1",
    ),
    (
        "[checks]\nt_closeness = [{column = 'who', t = 0.5}]",
        "checks.t_closeness: column 'who' is not sensitive",
    ),
    ("[publish]\napproval = 'zq7'", "publish.approval must be 'none' or 'required'"),
    ("[publish]\napproval = true", "publish.approval must be 'none' or 'required'"),
    (
        "[publish]\napproval_timeout = '7d'",
        "publish.approval_timeout belongs to approval = 'required'",
    ),
    *(
        (f"[publish]\n{key} = {value}", f"publish.{key} belongs to approval = 'required'")
        for key, value in (
            ("approvers", "{}"),
            ("requester_may_approve", "false"),
            ("reports", "'elsewhere'"),
            ("approvals", "2"),
            ("deputies", "{}"),
            ("approval_valid", "'30d'"),
            ("sign_in", f"'{PUBLIC}'"),
        )
    ),
    *(
        (f"[publish]\napproval = 'required'\n{rest}", words)
        for rest, words in (
            ("approvers = {zq7 = 'zq7'}", "publish.approvers: each person needs a public key"),
            (f"approvers = {{zq7 = '{PUBLIC[:-4]}'}}", "each person needs a public key"),
            (f"approvers = {{zq7 = 'ed25519:{43 * 'A'}='}}", "each person needs a public key"),
            ("approvers = {}", "publish.approvers registers nobody; register a person, or leave"),
            (f"approvers = {{'' = '{PUBLIC}'}}", "a name must be one line of 1 to 100 printable"),
            (f"approvers = {{' zq7' = '{PUBLIC}'}}", "a name must be one line of 1 to 100"),
            (
                f"approvers = {{zq7 = '{PUBLIC}', a = '{PUBLIC}'}}",
                "two persons have one key; nobody could tell who decided",
            ),
            ("approvals = 0", "publish.approvals must be"),
            ("approvals = 10", "publish.approvals must be"),
            ("approval_valid = 'zq7'", "publish.approval_valid must be like '30d'"),
            ("sign_in = 'zq7'", "publish.sign_in must be the public key of the server"),
            (
                f"sign_in = '{PUBLIC}'\napprovers = {{a = '{PUBLIC}'}}",
                "publish.sign_in and publish.approvers exclude each other",
            ),
            (
                f"sign_in = '{PUBLIC}'\nrequester_may_approve = false",
                "publish.requester_may_approve = false cannot be kept with publish.sign_in",
            ),
            (
                f"approvals = 2\napprovers = {{a = '{PUBLIC}'}}",
                "publish.approvals = 2 wants more different people than publish.approvers",
            ),
            (
                f"approvals = 2\napprovers = {{a = '{PUBLIC}', 'a@x' = '{OTHER}'}}",
                "publish.approvals = 2 wants more different people than publish.approvers",
            ),
            ("deputies = {zq7 = {for = 'a'}}", "publish.deputies: each deputy needs two keys"),
            (
                f"deputies = {{b = {{for = 'zq7', key = '{PUBLIC}'}}}}",
                "a deputy stands for a person whom publish.approvers does not",
            ),
            (
                f"approvers = {{a = '{PUBLIC}'}}\ndeputies = {{b = {{for = 'a', key = 'zq7'}}}}",
                "publish.deputies: each person needs a public key",
            ),
            (
                f"approvers = {{a = '{PUBLIC}'}}\n"
                f"deputies = {{b = {{for = 'a', key = '{PUBLIC}'}}}}",
                "publish.deputies: two persons have one key",
            ),
            (
                f"approvers = {{a = '{PUBLIC}'}}\n"
                f"deputies = {{'a@x' = {{for = 'a', key = '{OTHER}'}}}}",
                "a deputy is in publish.approvers, too",
            ),
            ("reports = 'vault/reports'", "publish.reports and publish.vault are the same"),
            ("reports = 'releases'", "publish.reports and publish.path are the same folder"),
            ("reports = '.'", "publish.reports and publish.path are the same folder or nested"),
            ("reports = 's3://bucket/x'", "publish.reports must be a local folder"),
        )
    ),
    *(
        (
            f"[publish]\napproval = 'required'\napproval_timeout = '{time}'",
            "publish.approval_timeout must be like '7d', '36h'",
        )
        for time in ("", "zq7", "0d", "7", "1000d", "99999999d", "7 d", "12:00:00")
    ),
    ("[anonymizer]\nname = 'zq7'", "anonymizer.name is not known; allowed: adaptive"),
    ("[anonymizer]\nname = ['zq7']", "anonymizer.name is not known; allowed: adaptive"),
    (
        "[anonymizer]\neps = 77319",
        "unknown key anonymizer.eps; allowed: name, part, effort, loss, exact, seats",
    ),
    ("[anonymizer]\nepsilon = 'zq7'", "anonymizer.epsilon must be a number"),
    ("[anonymizer]\nepsilon = true", "anonymizer.epsilon must be a number"),
    (
        "[anonymizer]\nepsilon = -77319.0",
        r"\[anonymizer\] epsilon must be a positive finite number",
    ),
    (
        "[anonymizer]\nschedule = 'zq7'",
        r"anonymizer.schedule must be 'multilevel', 'falling' or 'fixed'",
    ),
    ("[anonymizer]\nreclaim = 1", "anonymizer.reclaim must be true or false"),
    (
        "[anonymizer]\nweights = 'zq7'",
        r"anonymizer.weights must be 'columns', 'cells' or 'bits'",
    ),
    (
        "[anonymizer]\ncover = 'zq7'",
        "anonymizer.cover must be 'mce'",
    ),
    ("[anonymizer]\ncover = 77319", "anonymizer.cover must be 'mce'"),
    (
        "[anonymizer]\npatience = 0",
        r"\[anonymizer\] max_iterations and patience must be at least 1",
    ),
    ("[anonymizer]\npatience = 1.5", "anonymizer.patience must be a whole number"),
]


@pytest.mark.long
@pytest.mark.parametrize(("addition", "words"), WRONG)
def test_plans_that_cannot_be_followed(load, addition, words):
    refused(words, lambda: load(addition), "77319", "99999")


@pytest.mark.parametrize(
    ("k", "words"),
    [
        ('"zq7"', "privacy.k must be a whole number, {uniform = "),
        ("2.5", "privacy.k must be a whole number"),
        ("true", "privacy.k must be a whole number"),
        ("[77319]", "privacy.k must be a whole number"),
        ("{}", "privacy.k must be a whole number"),
        ("{seed = 7}", "privacy.k must be a whole number"),
        ('{column = "age", by = "job"}', "privacy.k must be a whole number"),
        (
            '{kolumn = "age"}',
            "unknown key privacy.k.kolumn; allowed: column, by, levels, default, optional, "
            "uniform, seed",
        ),
        ("{column = 77319}", "privacy.k.column must be the name of a column"),
        ("{by = 77319}", "privacy.k.by must be the name of a column"),
        ('{by = "job", levels = 77319}', "privacy.k.levels must be a table of whole numbers"),
        (
            '{by = "job", levels = {zq7 = "zq7"}}',
            "privacy.k.levels must be a table of whole numbers",
        ),
        (
            '{by = "job", levels = {zq7 = true}}',
            "privacy.k.levels must be a table of whole numbers",
        ),
        ('{by = "job", levels = {zq7 = 0}}', "every k must be at least 1"),
        ('{by = "job", default = "zq7"}', "privacy.k.default must be a whole number"),
        ("{uniform = 77319}", r"privacy.k.uniform must be \[lowest, highest\]"),
        ("{uniform = [77319]}", r"privacy.k.uniform must be \[lowest, highest\]"),
        ("{uniform = [1.5, 77319]}", r"privacy.k.uniform must be \[lowest, highest\]"),
        ("{uniform = [1, 2, 77319]}", r"privacy.k.uniform must be \[lowest, highest\]"),
        ("{uniform = [77319, 1]}", "lo <= hi"),
        ("{uniform = [1, 5], seed = -77319}", "seed of uniform k must be at least 0"),
        (
            "{uniform = [1, 5], default = 77319}",
            "privacy.k.default does not belong to privacy.k.uniform; privacy.k must be",
        ),
        (
            '{column = "age", default = 77319}',
            "privacy.k.default does not belong to privacy.k.column",
        ),
        (
            '{by = "job", default = 5, seed = 77319}',
            "privacy.k.seed does not belong to privacy.k.by",
        ),
        (
            '{column = "zq7"}',
            "privacy.k names a column that .columns. does not; allowed: who, age, job, income",
        ),
        ('{by = "zq7", default = 2}', "privacy.k names a column that .columns. does not"),
        ("0", "every k must be at least 1"),
        ("-77319", "every k must be at least 1"),
        (str(77319 * 10**30), "every k must be at least 1 and at most"),
        ("1", "privacy.k = 1 protects nobody; demand at least 2, or state"),
        ("{uniform = [1, 77319]}", "privacy.k = 1 protects nobody"),
        ('{by = "job", levels = {zq7 = 1}, default = 77319}', "privacy.k = 1 protects nobody"),
        ('{by = "job", default = 1}', "privacy.k = 1 protects nobody"),
    ],
)
def test_demands_that_cannot_be_met(load, k, words):
    refused(words, lambda: load(replace=[("k = 5", f"k = {k}")]), "77319")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "source needs either 'path' or 'uri' with 'query'"),
        (
            'path = "zq7.csv"\nuri = "sqlite:///zq7"\nquery = "zq7"',
            "source needs either 'path' or 'uri' with 'query'",
        ),
        ('uri = "sqlite:///zq7"', "source.uri and source.query go together"),
        ('path = "zq7.csv"\nquery = "zq7"', "source.uri and source.query go together"),
        (
            'uri = "mysql://zq7@h/db"\nquery = "zq7"',
            "source.uri must start with sqlite:///, duckdb:///, postgresql://, mssql://, snowflake://",
        ),
        ('uri = "sqlite://zq7.db"\nquery = "zq7"', "source.uri must start with sqlite:///"),
        ("path = 77319", "source.path must be a text"),
        ("uri = 77319", "source.uri must be a text"),
        ('path = "a"\nheader = "zq7"', "source.header must be true or false"),
        ('path = "a"\nmissing = "zq7"', "source.missing must be a list"),
        ('path = "a"\nmissing = [77319]', "source.missing.0 must be a text"),
        (
            'path = "a"\nencoding = "zq7"',
            "unknown key source.encoding; allowed: kind, path, uri, query, credentials, header, "
            "separator, missing",
        ),
        *(
            (f'path = "a"\nseparator = "{sign}"', "source.separator must be one ASCII")
            for sign in ("", "zq7", "§", "\\n", '\\"')
        ),
    ],
)
def test_sources_that_are_none(load, source, words):
    refused(words, lambda: load(replace=[('path = "people.csv"', source)]), "77319", "§")


@pytest.mark.parametrize("name", ["", "a b", "../zq7", "zq7/x", ".hidden", "-x", "ä", "a\\n"])
def test_names_become_folders(load, name):
    words = "name must be letters, digits, '.', '_' and '-' only, a letter or digit first"
    refused(words, lambda: load(replace=[('name = "people"', f'name = "{name}"')]))


def test_names_are_no_longer_than_those_of_files(load, tmp_path):
    assert load(overrides=["name=" + 200 * "x"]).freeze(tmp_path / "plans").is_file()
    refused(
        "name must be at most 200 characters long",
        lambda: load(overrides=["name=" + 201 * "x"]),
        "xx",
    )


def test_missing_parts_are_named(load):
    assert "name is missing; it is required" in refused(
        "missing", lambda: load(replace=[('name = "people"', "")])
    )
    assert "privacy is missing" in refused(
        "missing", lambda: load(replace=[("[privacy]\nk = 5", "")])
    )
    words = refused(
        "no column has role = 'quasi'", lambda: load(replace=[('"quasi"\nkind', '"keep"\nkind')])
    )
    assert "at least one quasi-identifier" in words


def test_several_faults_are_said_at_once(load):
    words = refused(
        "unknown key",
        lambda: load("[checks]\nfoo = 1\n[compute]\nbar = 2", replace=[('"sensitive"', '"zq7"')]),
    )
    assert "checks.foo" in words
    assert "compute.bar" in words
    assert "columns.income.role" in words


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name = zq7", "is not TOML, see line 1, column 8; texts need quotes"),
        (
            b"name = 'zq7'\nname = 'zq8'\n[publish]",
            "line 2, column 13; it states a key or a table twice",
        ),
        (b"[publish]\n[source]\n[publish]\nformats = []", "line 3, column 9; it states a key or a"),
        (
            b"[privacy]\nk = {column = 'zq7', column = 'zq8'}",
            "it states a key or a table twice; keep",
        ),
        (b"name = 'zq7'\nname = 'zq7'", "is not TOML"),
        (b"name = 'zq7", "is not TOML"),
        (b"name = '\xe4zq7'", "is not UTF-8 text"),
        (b"", "name is missing; it is required; source is missing"),
        (b"[" * 100_000, "is not TOML"),
        (b"source = 'zq7'\npublish = 'zq7'\ncolumns = ['zq7']", "columns must be a table"),
    ],
)
def test_files_that_are_no_plan(tmp_path, content, words):
    path = tmp_path / "plan.toml"
    path.write_bytes(content)
    refused(words, lambda: ReleasePlan.load(path))


def test_plans_that_are_not_there(tmp_path):
    for path in (tmp_path / "none.toml", tmp_path):
        refused(
            "cannot be read; give the path of a TOML file", lambda path=path: ReleasePlan.load(path)
        )


@pytest.mark.parametrize(
    "content", [f'["{MARK}"]', f'"{MARK}"', f"{{{MARK}", "null", '{"name": "zq7"}']
)
def test_frozen_plans_that_are_none(tmp_path, content):
    path = tmp_path / "plan.json"
    path.write_text(content)
    refused("is no table|is not JSON|is missing", lambda: ReleasePlan.load(path))


# ---------------------------------------------------------------- the header of the source


def test_headers(load):
    plan = load()
    plan.data.check_header(["income", "job", "age", "who"])
    plan.data.check_header(4)
    words = refused(
        "the plan does not name: zip, city; give each a role",
        lambda: plan.data.check_header(["who", "zip", "city", "age"]),
    )
    assert "identifier, quasi, sensitive, keep or drop" in words
    refused(
        "the source does not have: job, income; correct the source, or take them out",
        lambda: plan.data.check_header(["who", "age"]),
    )
    refused(
        r"does not have: job; .* does not name: trade; give each a role",
        lambda: plan.data.check_header(["income", "trade", "age", "who"]),
    )
    refused(
        r"\[columns\] names 4 columns, the source has 3; without a header each",
        lambda: plan.data.check_header(3),
    )


def test_a_first_row_that_shares_no_name_is_not_quoted(load):
    """It is a record where the file has no header and the plan forgot to say so."""
    words = (
        "the 4 fields of the source's first row are names of none of the 4 columns; set "
        "source.header = false"
    )
    refused(
        words,
        lambda: load().data.check_header([f"{MARK} ann", "31", MARK, "50000"]),
        "ann",
        "31",
        "50000",
    )


def test_columns_of_a_typed_file_are_names(load):
    plan = load(replace=[("people.csv", "people.parquet")])
    refused("does not name: a, b; give each a role", lambda: plan.data.check_header(["a", "b"]))


# ---------------------------------------------------------------- overrides


@pytest.mark.parametrize(
    ("override", "found", "expected"),
    [
        ("privacy.k=10", lambda p: p.data.demand, Demand(constant=10)),
        (" privacy.k = 10 ", lambda p: p.data.demand, Demand(constant=10)),
        ("privacy.k={uniform = [2, 5]}", lambda p: p.data.demand, Demand(uniform=(2, 5))),
        ("privacy.k.uniform=[2, 5]", lambda p: p.data.demand, Demand(uniform=(2, 5))),
        ("privacy.infeasible=drop", lambda p: p.data.demand, Demand(constant=5, infeasible="drop")),
        ("name=other", lambda p: p.name, "other"),
        ("name='other'", lambda p: p.name, "other"),
        ("name=2x", lambda p: p.name, "2x"),
        ("source.header=false", lambda p: p.source.header, False),
        ("source.separator=;", lambda p: p.source.separator, ";"),
        ("source.separator=\t", lambda p: p.source.separator, "\t"),
        ("source.missing=['?', 'a=b']", lambda p: p.source.missing, ["?", "a=b"]),
        ("columns.age.bins={edges = [1, 2]}", lambda p: p.data.quasi[0].spec.bins, (1.0, 2.0)),
        ("columns.age.bins=none", lambda p: p.data.quasi[0].spec.bins, None),
        ("columns.job.role=keep", lambda p: [c.name for c in p.data.quasi], ["age"]),
        ('columns.job={role="keep"}', lambda p: p.columns["job"].role, "keep"),
        ('columns."a b.c".role=keep', lambda p: p.columns["a b.c"].role, "keep"),
        ('columns."a=b".role=keep', lambda p: p.columns["a=b"].role, "keep"),
        ("columns.'a=\"b'.role=keep", lambda p: p.columns['a="b'].role, "keep"),
        ('columns."ä".role="drop"', lambda p: p.columns["ä"].role, "drop"),
        ("publish.formats=['csv']", lambda p: p.publish.formats, ["csv"]),
        ("anonymizer.epsilon=3", lambda p: p.build_anonymizer().epsilon, 3),
        ("anonymizer.cover=lse", lambda p: p.build_anonymizer().cover, "lse"),
        ("compute.memory=2GiB", lambda p: p.memory_bytes, 2**31),
        ("compute.threads=2", lambda p: p.compute.threads, 2),
        ("checks.min_utility=0.5", lambda p: p.checks.min_utility, 0.5),
        ("publish.allow_second_release=true", lambda p: p.publish.allow_second_release, True),
        ("publish.approval=required", lambda p: p.publish.time_to_approve, timedelta(days=7)),
        (
            "publish={approval='required', approval_timeout='1d12h'}",
            lambda p: p.publish.time_to_approve,
            timedelta(hours=36),
        ),
        ("publish.ledger=postgresql://u@h/d", lambda p: p.publish.ledger, "postgresql://u@h/d"),
    ],
)
def test_every_key_can_be_set(load, override, found, expected):
    replace = (
        [('role = "quasi"\nkind = "categorical"', 'role = "keep"')]
        if "columns.job={" in override
        else []
    )
    plan = load(replace=replace, overrides=[override])
    assert found(plan) == expected
    assert plan.columns["age"].kind == "numeric"  # what was not named stays


def test_values_may_hold_anything(load):
    database = [('path = "people.csv"', 'uri = "sqlite:///x.db"\nquery = "select 1"')]
    for query in (
        "select * from t where a = 'b=c' # \U0001f600\x7f",
        "select a,\n b",
        'say "hi"',
        "\\",
        "[1,",
        "{",
    ):
        assert load(replace=database, overrides=[f"source.query={query}"]).source.query == query
    uri = "postgresql://u=#1@h/db?sslmode=require"
    assert load(replace=database, overrides=[f"source.uri={uri}"]).source.uri == uri


@given(
    name=st.text(max_size=6).filter(lambda text: "\r\n" not in text),
    value=st.text(st.sampled_from("a=\"'\\ #\n\x7fé\U0001f600"), max_size=8),
)
def test_any_column_name_can_be_set(tmp_path_factory, name, value):
    from crowdcover.flows.plan.document import toml_text

    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(PLAN, encoding="utf-8")
    overrides = [
        f"columns.{toml_text(name)}.role=identifier",
        f"source.missing=[{toml_text(value)}]",
    ]
    plan = ReleasePlan.load(path, overrides)
    assert plan.columns[name].role == "identifier"
    assert plan.source.missing == [value]


def test_later_overrides_win_and_forms_replace_each_other(load):
    plan = load(overrides=["privacy.k=9", "privacy.k={uniform=[2, 8], seed=3}", "privacy.k.seed=4"])
    assert plan.data.demand == Demand(uniform=(2, 8), seed=4)
    plan = load(
        overrides=[
            'privacy.k={by="job", levels={IA=3}, default=2}',
            "privacy.k.levels.NY=4",
            "privacy.k.default=6",
        ]
    )
    assert plan.data.demand == Demand(by="job", levels={"IA": 3, "NY": 4}, default=6)
    plan = load(overrides=['privacy.k={by="job", default=2}', "privacy.k.column=job"])
    assert plan.data.demand == Demand(column="job")
    plan = load(overrides=["columns.age.bins={edges = [1.0]}", "columns.age.bins={quantiles = 4}"])
    assert plan.data.quasi[0].spec.bins == 4


def test_columns_named_like_keys_are_columns(load):
    addition = (
        '[columns.k]\nrole = "quasi"\nkind = "numeric"\n[columns.bins]\nrole = '
        '"quasi"\nkind = "numeric"'
    )
    plan = load(addition, overrides=["columns.k.weight=2", "columns.bins.weight=3"])
    assert [column.spec.weight for column in plan.data.quasi] == [1, 1, 2, 3]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("privacy.k", "--set takes key.path=value, e.g. --set privacy.k=10"),
        ("", "--set takes key.path=value"),
        ("=zq7", "--set takes key.path=value"),
        (" = zq7", "--set takes key.path=value"),
        ("a b=zq7", "--set: the key is not a TOML key path; quote parts with dots or blanks"),
        ("columns..x=zq7", "--set: the key is not a TOML key path"),
        ("columns.ä.role=zq7", "--set: the key is not a TOML key path"),
        ("[source]\npath=zq7", "--set: the key is not a TOML key path"),
        ("name='a'\nsource.path=zq7", "name must be letters"),
        ("privacy.q=zq7", "unknown key privacy.q; allowed: k, infeasible"),
        ("privacy.k=zq7", "privacy.k must be a whole number"),
        ("name.x=zq7", "name must be a text"),
        ("source=zq7", "source must be a table"),
        ("columns=zq7", "columns must be a table"),
        ("publish=zq7", "publish must be a table"),
        ("columns.zip.kind=numeric", "columns.zip.role is missing"),
    ],
)
def test_overrides_that_cannot_be_followed(load, override, words):
    refused(words, lambda: load(overrides=[override]))


# ---------------------------------------------------------------- paths


def test_paths_start_where_they_were_written(plan_at, tmp_path, monkeypatch):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    plans = tmp_path / "plans"
    path = plan_at("[publish]\nvault = '../safe'")
    plan = ReleasePlan.load(Path("../plans/people.toml"), ["publish.path=out"])
    assert plan.data.source.path == plans / "people.csv"
    assert plan.publish.vault == str(tmp_path / "safe")
    assert plan.publish.path == str(here / "out")
    assert ReleasePlan.load(path, ["source.path=other.csv"]).data.source.path == here / "other.csv"
    assert ReleasePlan.load(path, ["source.path=/a/b.csv"]).data.source.path == Path("/a/b.csv")
    assert ReleasePlan.load(path).publish.path == str(plans / "releases")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ReleasePlan.load(path, ["source.path=~/b.csv"]).data.source.path == tmp_path / "b.csv"


@pytest.mark.parametrize("key", ["source.path", "publish.path", "publish.vault"])
def test_the_home_of_nobody_is_no_place(load, key):
    refused(
        f"{key} starts at the home folder of a user whom this machine does not know",
        lambda: load(overrides=[f"{key}=~zq7/a"]),
    )


@pytest.mark.parametrize(
    ("path", "vault", "words"),
    [
        ("all", "all", "are the same folder"),
        ("all", "all/vault", "are nested"),
        ("all/releases", "all", "are nested"),
        (".", "vault", "are nested"),
        ("releases", "..", "are nested"),
        ("all", "all/../all/./vault", "are nested"),
        ("all", "link/vault", "are nested"),
        ("link", "all", "are the same folder"),
        ("link/releases", "all", "are nested"),
        ("ring", "ring", "are the same folder"),
    ],
)
def test_a_vault_among_the_releases_is_refused(plan_at, tmp_path, path, vault, words):
    (tmp_path / "plans" / "all").mkdir(parents=True)
    (tmp_path / "plans" / "link").symlink_to("all")
    (tmp_path / "plans" / "ring").symlink_to("ring")
    plan = plan_at(f"[publish]\npath = {path!r}\nvault = {vault!r}")
    refused(f"publish.path and publish.vault {words}", lambda: ReleasePlan.load(plan))


@pytest.mark.parametrize(
    ("path", "vault"), [("all", "all-vault"), ("all/releases", "all/vault"), ("link", "vault")]
)
def test_a_vault_beside_the_releases_is_taken(plan_at, tmp_path, path, vault):
    (tmp_path / "plans" / "all").mkdir(parents=True)
    (tmp_path / "plans" / "link").symlink_to("all")
    assert ReleasePlan.load(
        plan_at(f"[publish]\npath = {path!r}\nvault = {vault!r}")
    ).publish.vault.endswith(vault)


def test_sqlite_paths_start_where_they_were_written(plan_at, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = plan_at(replace=[('path = "people.csv"', 'uri = "sqlite:///x.db"\nquery = "q"')])
    assert ReleasePlan.load(path).source.uri == f"sqlite:///{tmp_path}/plans/x.db"
    assert (
        ReleasePlan.load(path, ["source.uri=sqlite:///x.db"]).source.uri
        == f"sqlite:///{tmp_path}/x.db"
    )
    assert (
        ReleasePlan.load(path, ["source.uri=sqlite:////a/x.db"]).source.uri == "sqlite:////a/x.db"
    )


# ---------------------------------------------------------------- freezing and hashing


RICH = """
[columns."a.b ä"]
role = "quasi"
kind = "numeric"
bins = {edges = [1, 2.5]}
weight = 2
[columns.grade]
role = "quasi"
kind = "categorical"
encoding = "ordinal"
order = ["lo", "hi"]
[columns.seen]
role = "keep"
kind = "date"
format = "%d.%m.%Y"
[anonymizer]
epsilon = 1
[compute]
threads = 1
[checks]
min_utility = 0.5
columns = {"a.b ä" = 0.25}
l_diversity = {column = "income", l = 3}
t_closeness = [{column = "income", t = 0.5}]
"""


@pytest.mark.parametrize(
    "k", ["5", "{uniform = [2, 9], seed = 3}", '{by = "job", levels = {"a b" = 3}, default = 4}']
)
def test_a_frozen_plan_is_the_plan(load, tmp_path, monkeypatch, k):
    plan = load(
        RICH,
        replace=[("k = 5", f"k = {k}")],
        overrides=["source.missing=['?']", "privacy.infeasible=drop"],
    )
    frozen = plan.freeze(tmp_path / "vault" / "plans")
    monkeypatch.chdir("/")
    again = ReleasePlan.load(frozen)
    assert again == plan
    assert again.sha256 == plan.sha256
    assert again.data.columns == plan.data.columns
    assert again.data.demand == plan.data.demand
    assert again.anonymizer_settings == plan.anonymizer_settings
    assert again.freeze(tmp_path / "vault" / "plans") == frozen


def test_a_frozen_database_is_read_as_before(load, tmp_path):
    uri = 'uri = "postgresql://u%20w@h/db"\nquery = "select \\"a\\" from t"'
    plan = load(replace=[('path = "people.csv"', uri)])
    assert ReleasePlan.load(plan.freeze(tmp_path / "v")) == plan


CLUSTER = """
[compute]
engine = "mpi"
[compute.cluster]
launcher = "slurm"
nodes = 2
tasks_per_node = 3
cores_per_task = 4
partition = "long"
time_limit = "1-02:00:00"
start = "srun"
mpi = "pmi2"
options = {constraint = "avx512"}
"""


def test_a_cluster_reaches_the_jobs_and_changes_no_hash(load, tmp_path):
    plan = load(CLUSTER)
    wanted = Cluster(
        "slurm",
        2,
        3,
        4,
        "long",
        None,
        timedelta(hours=26),
        "srun",
        "pmi2",
        3,
        (("constraint", "avx512"),),
    )
    assert plan.compute.jobs == wanted
    assert wanted.ranks == 6
    assert plan.sha256 == load().sha256
    assert ReleasePlan.load(plan.freeze(tmp_path / "v")).compute.jobs == wanted
    assert load(CLUSTER, overrides=["compute.cluster.nodes=5"]).compute.jobs.nodes == 5
    assert load().compute.jobs is None


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("00:30:00", 30), ("2h30m", 150), ("90m", 90), ("1d", 1440), ("30s", 0.5), ("48:00:00", 2880)],
)
def test_time_limits(load, text, minutes):
    cluster = f"compute.cluster={{launcher='slurm', time_limit='{text}'}}"
    assert load(overrides=["compute.engine=mpi", cluster]).compute.jobs.time_limit == timedelta(
        minutes=minutes
    )


def test_frozen_plans_are_their_owners(load, tmp_path):
    vault = tmp_path / "new" / "vault"
    path = load().freeze(vault / "plans")
    assert path.name.startswith("people-")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (vault, vault / "plans")] == [
        0o700,
        0o700,
    ]


@pytest.mark.parametrize(
    "override",
    [
        "source.path=elsewhere.csv",
        "compute.threads=3",
        "compute.memory=1GiB",
        "compute={engine='dask', scheduler='tls://host:8786'}",
        "compute={engine='dask', workers=7}",
        "checks.min_utility=0.1",
        "checks={l_diversity={column='income', l=3}, t_closeness={column='income', t=0.1}, "
        "columns={age=0.5}, max_row_loss=0}",
        "checks={max_attack_success=0.1}",
        "publish.path=elsewhere",
        "publish.vault=elsewhere",
        "publish.allow_second_release=true",
        "publish={approval='required', approval_timeout='1d'}",
        f"publish={{approval='required', approvers={{a='{PUBLIC}'}}, reports='x', "
        "requester_may_approve=false}",
        f"publish={{approval='required', approvals=2, approvers={{a='{PUBLIC}', b='{OTHER}'}}, "
        "approval_valid='30d'}",
        f"publish={{approval='required', sign_in='{PUBLIC}'}}",
        "publish.ledger=postgresql://elsewhere",
    ],
)
def test_where_it_runs_does_not_change_the_hash(load, override):
    assert load(overrides=[override]).sha256 == load().sha256


def test_an_engine_that_is_not_installed_is_refused_where_the_plan_is_to_run(load, monkeypatch):
    plan = load("[compute]\nengine = 'dask'")
    plan.check_machine()
    monkeypatch.setattr("crowdcover.flows.plan.plan.find_spec", lambda name: None)
    load().check_machine()
    refused(r"pip install 'crowdcover\[dask\]'", plan.check_machine)


@pytest.mark.parametrize(
    "anonymizer",
    [
        "",
        "[anonymizer]",
        "[anonymizer]\nexact = 0",
        "[anonymizer]\nexact = 0.0",
        "[anonymizer]\nname = 'local-search'\neffort = 1\nexact = 0\nloss = 'rank'",
    ],
)
def test_how_a_setting_is_written_does_not_change_the_hash(load, anonymizer):
    assert load(anonymizer).sha256 == load().sha256
    assert load(anonymizer).anonymizer_settings == load().anonymizer_settings


def test_a_setting_that_only_an_earlier_default_has_was_written_for_that(load):
    unnamed = load("[anonymizer]\nweights = 'cells'")
    named = load("[anonymizer]\nname = 'adaptive'\nweights = 'cells'")
    assert unnamed.sha256 == named.sha256
    assert unnamed.anonymizer_settings == named.anonymizer_settings
    assert load("[anonymizer]\nseats = 'even'").anonymizer_settings["name"] == "local-search"
    refused(
        "unknown key anonymizer.weights; allowed: name, part, effort, loss, exact, seats",
        lambda: load("[anonymizer]\nweights = 'cells'\neffort = 2"),
    )


def test_a_setting_past_all_numbers_is_refused(load):
    refused(
        "epsilon must be a positive finite number",
        lambda: load(overrides=["anonymizer.epsilon=1" + 400 * "0"]),
    )


@pytest.mark.parametrize(
    "override",
    [
        "name=other",
        "source.header=false",
        "source.separator=;",
        "source.missing=['?']",
        "columns.age.bins=none",
        "columns.age.bins={edges=[1.0]}",
        "columns.age.encoding=one-hot",
        "columns.age.weight=2",
        "columns.age.missing=drop",
        "columns.age.carry=median",
        "columns.job.rare=pool",
        "columns.job.order=['a']",
        "columns.job.role=sensitive",
        "columns.income.role=keep",
        "columns.income.kind=numeric",
        "columns.zip.role=drop",
        "privacy.k=6",
        "privacy.k.uniform=[2, 5]",
        "privacy.infeasible=drop",
        "anonymizer.epsilon=3",
        "anonymizer.weights=bits",
        "anonymizer.cover=lse",
        "anonymizer.max_iterations=3",
        "publish.formats=['csv']",
    ],
)
def test_what_shapes_the_release_changes_the_hash(load, override):
    replace = (
        [('role = "quasi"\nkind = "categorical"', 'role = "keep"')]
        if "columns.job.role" in override
        else []
    )
    assert load(replace=replace, overrides=[override]).sha256 != load(replace=replace).sha256


def test_the_order_of_columns_changes_the_hash_and_survives_freezing(load, tmp_path):
    age, job = (
        '[columns.age]\nrole = "quasi"\nkind = "numeric"\n',
        '[columns.job]\nrole = "quasi"\nkind = "categorical"\n',
    )
    plan, swapped = load(), load(replace=[(age + job, job + age)])
    assert list(swapped.columns) == ["who", "job", "age", "income"]
    assert plan.sha256 != swapped.sha256
    assert ReleasePlan.load(swapped.freeze(tmp_path / "v")).sha256 == swapped.sha256


def test_the_query_changes_the_hash_and_the_address_does_not(load):
    def at(uri, query):
        return load(replace=[('path = "people.csv"', f'uri = "{uri}"\nquery = "{query}"')]).sha256

    assert at("sqlite:///a.db", "q") == at("postgresql://u@h/db", "q")
    assert at("sqlite:///a.db", "q") != at("sqlite:///a.db", "r")


def test_a_plan_from_memory(load):
    document = json.loads(load().model_dump_json(exclude_unset=True))
    assert ReleasePlan.of(document) == load()
    assert "people.csv" in document["source"]["path"]


@pytest.mark.parametrize("role", ["sensitive", "keep", "drop", "identifier"])
def test_k_by_a_private_column_is_refused(tmp_path, role):
    """The size of a crowd would tell the value: who hides among 40 smokes."""
    k = {"by": "smokes", "levels": {"yes": 40}, "default": 4}
    order = Order(tmp_path, columns={"smokes": {"role": role}}, privacy={"k": k})
    with pytest.raises(PlanError, match="the size of a crowd would tell its value"):
        ReleasePlan.load(order.plan)
    order.write(columns={**order.document["columns"], "smokes": {"role": role, "public": True}})
    assert ReleasePlan.load(order.plan).data.demand.by == "smokes"


def test_who_knows_a_column_changes_no_hash(tmp_path):
    order = Order(tmp_path)
    before = ReleasePlan.load(order.plan).sha256
    junk = {"role": "drop", "public": True}
    order.write(columns={**order.document["columns"], "junk": junk})
    assert ReleasePlan.load(order.plan).sha256 == before


def test_what_only_allows_a_release_changes_no_hash(tmp_path):
    order = Order(tmp_path)
    before = ReleasePlan.load(order.plan).sha256
    order.write(privacy={"rows_are_people": True})
    assert ReleasePlan.load(order.plan).sha256 == before


@pytest.mark.parametrize(
    ("source", "others", "older"),
    [
        (
            {"uri": "postgresql://u@h/db", "query": "q", "credentials": "env:X"},
            {"credentials": "env:Y"},
            "55c6e7ad857175c9644ee7f669667d89801245104c94c5dcf7e0368c21dbca9b",
        ),
        (
            {"path": "links.csv", "missing": ["?"], "optional": True},
            {"optional": False},
            "5ddd9a12e1e1d5c8eb0ba458870511b7c52c863e49e1a67130c16456aa834cc3",
        ),
    ],
)
def test_what_only_reads_a_graph_changes_no_hash(source, others, older):
    """Runs that older builds made of such a plan, with another hash, stay known."""

    def plan_of(stated):
        sections = {"columns": {"u": "u", "v": "v"}, "privacy": {"k": 20}}
        return ReleasePlan.of({"name": "x", "source": {"kind": "graph", **stated}, **sections})

    plan = plan_of(source)
    without = {key: value for key, value in source.items() if key not in others}
    assert plan.sha256 == plan_of({**source, **others}).sha256 == plan_of(without).sha256
    assert [each.sha256 for each in plan.earlier] == [older]


def test_everyone_knows_a_quasi_identifier(tmp_path):
    smokes = {"role": "quasi", "kind": "binary", "public": True}
    order = Order(tmp_path, columns={"smokes": smokes})
    with pytest.raises(PlanError, match=r"columns\.smokes\.public"):
        ReleasePlan.load(order.plan)


# ---------------------------------------------------------------- what was meant, what it was


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('path = "people.csv"', 'pth = "people.csv"', "unknown key source.pth; .*mean 'path'"),
        ("[privacy]", "[privcy]", "unknown key privcy; .*did you mean 'privacy'"),
        ("k = 5", "k = 5\npersn = 'who'", "unknown key privacy.persn; .*did you mean 'person'"),
        ("k = 5", "k = 5\nperson = 'whom'", "privacy.person names .*did you mean 'who'"),
        ("k = 5", "k = {by = 'jab', level = {}}", "unknown key privacy.k.level; .*'levels'"),
        ("k = 5", "k = 5\n[anonymizer]\nname = 'adaptiv'", "is not known; .*mean 'adaptive'"),
        ("k = 5", "k = 5\n[anonymizer]\nefort = 2", "unknown key anonymizer.efort; .*'effort'"),
        ('"sensitive"', '"sensitiv"', "drop'; it is 'sensitiv'; did you mean 'sensitive'"),
        ('path = "people.csv"', 'path = "p"\nheader = "yes"', "true or false; it is 'yes'"),
        ('path = "people.csv"', "path = 7", "source.path must be a text; it is 7"),
        ('kind = "numeric"', 'kind = "numeric"\nweight = -1', "greater than 0; it is -1"),
        ('name = "people"', 'name = "a b"', "it becomes a folder; it is 'a b'"),
        ("k = 5", "k = 5\n[checks]\ncolumns = {jo = 0.5}", "names a column .*mean 'job'"),
    ],
)
def test_the_nearest_name_and_the_value_are_told(plan_at, old, new, words):
    with pytest.raises(PlanError, match=words):
        ReleasePlan.load(plan_at(replace=[(old, new)]))


@pytest.mark.parametrize(
    "addition",
    [
        f'missing = "{MARK}"',
        f'query = ["{MARK}"]\nuri = 7',
        f'credentials = ["{MARK}"]',
        f'partition = "{MARK}"',
    ],
)
def test_values_that_may_be_cells_or_secrets_are_not_told(plan_at, addition):
    path = plan_at(replace=[('path = "people.csv"', f'path = "people.csv"\n{addition}')])
    with pytest.raises(PlanError) as caught:
        ReleasePlan.load(path)
    assert MARK not in str(caught.value)
    assert "7" not in str(caught.value)


def test_an_address_in_the_wrong_place_is_not_told(plan_at):
    secret = f"postgresql://u:{MARK}@h"
    path = plan_at(replace=[('path = "people.csv"', f'path = "people.csv"\nheader = "{secret}"')])
    with pytest.raises(PlanError) as caught:
        ReleasePlan.load(path)
    assert MARK not in str(caught.value)


def test_columns_that_the_plan_may_have_meant(load):
    with pytest.raises(PlanError, match=r"did you mean 'jobs' for 'job', 'Age' for 'age'|Age"):
        load().data.check_header(["who", "Age", "jobs", "income"])
    with pytest.raises(PlanError) as caught:
        load().data.check_header(["who", "age", "zip", "income"])
    assert "did you mean" not in str(caught.value)
