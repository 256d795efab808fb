"""`crowdcover load`: a release as tables of a database."""

import argparse

from crowdcover.flows.commands.command import Command, add_json_option, add_release_argument


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the release and the database."""
    add_release_argument(parser)
    parser.add_argument(
        "--into",
        required=True,
        metavar="URI",
        help="the database: postgresql://user@host/database, without a password, or "
        "duckdb:///path.duckdb",
    )
    parser.add_argument(
        "--schema", metavar="NAME", help="an existing schema (default: the account's own)"
    )
    parser.add_argument(
        "--grant",
        action="extend",
        nargs="+",
        default=[],
        metavar="ROLE",
        help="existing roles of PostgreSQL that may read the tables and views",
    )
    parser.add_argument(
        "--credentials",
        metavar="PLACE",
        help="where the password lies: env:NAME, file:/path or prefect:block (default: PGPASSWORD, "
        "~/.pgpass)",
    )
    parser.add_argument(
        "--remove", action="store_true", help="take the release out, such as after a retraction"
    )
    add_json_option(parser, "what was done")


def run(options: argparse.Namespace) -> int:
    """Load or remove; print what was done."""
    from crowdcover.flows.loading import load_release, remove_release
    from crowdcover.flows.outcome import print_outcome
    from crowdcover.flows.plan.publish.into import Into
    from crowdcover.kinds.section import PlanError

    if options.remove and options.grant:
        raise PlanError("--grant belongs to a load; leave it out beside --remove")
    roles = tuple(dict.fromkeys(options.grant))
    into = Into(options.into, options.schema, roles, options.credentials)
    into.check("--into", "--grant", "--credentials")
    done = (remove_release if options.remove else load_release)(options.release, into)
    lines = [f"{name} is column {other} there" for name, other in done.renamed.items()]
    if done.views:
        lines.append(f"{', '.join(done.views)} show{'s' * (len(done.views) == 1)} {done.shows}")
    title = ", ".join(done.tables) or options.release.name
    document = {
        "state": done.state,
        "schema": done.schema,
        "tables": list(done.tables),
        "views": list(done.views),
        "shows": done.shows,
        "renamed": dict(done.renamed),
    }
    print_outcome(options, document, [*lines, f"{title}: {done.state}"])
    return 0


COMMAND = Command(
    "load",
    "load a release into PostgreSQL or DuckDB, all of it or nothing",
    "crowdcover load releases/people/v1 --into duckdb:///people.duckdb",
    arguments,
    run,
)
