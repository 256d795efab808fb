"""`crowdcover alarms`: let Prefect's server tell people of refusals, crashes and silence."""

import argparse
from datetime import timedelta

from crowdcover.flows.commands.command import Command
from crowdcover.flows.plan.durations import parse_duration


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add who is told, and how long is waited."""
    told = parser.add_mutually_exclusive_group(required=True)
    told.add_argument("--webhook", metavar="URL", help="receives a POST with JSON")
    told.add_argument("--email", metavar="ADDRESS", help="by Sendgrid: set SENDGRID_API_KEY")
    told.add_argument("--block", metavar="TYPE/NAME", help="a notification block of the server")
    told.add_argument("--list", action="store_true", help="list the alarms of the server")
    told.add_argument("--remove", action="store_true", help="remove all alarms")
    for name, default, help_ in (
        ("--start-within", "15m", "a late run must have started after this time"),
        ("--end-within", "1d", "a run must have ended after this time"),
        ("--backup-within", "7d", "a vault must be backed up this long after a release"),
    ):
        parser.add_argument(
            name,
            type=_duration,
            default=default,
            metavar="DURATION",
            help=f"{help_} (default: %(default)s)",
        )


def _duration(text: str) -> timedelta:
    found = parse_duration(text)
    # Prefect waits for ten seconds at least.
    if found is None or found < timedelta(seconds=10):
        raise argparse.ArgumentTypeError("must be a duration of 10 s or more, such as 15m or 7d")
    return found


def run(options: argparse.Namespace) -> int:
    """Install, list or remove the alarms."""
    from crowdcover.flows.launch import alarms

    if options.list:
        for name, enabled in alarms.read_alarms():
            print(name if enabled else f"{name} (switched off)")
        return 0
    if options.remove:
        for name in alarms.remove_alarms():
            print(f"removed: {name}")
        return 0
    if options.webhook is not None:
        target = alarms.save_webhook(options.webhook)
    elif options.email is not None:
        target = alarms.save_email(options.email)
    else:
        target = alarms.load_block(options.block)
    patience = alarms.Patience(options.start_within, options.end_within, options.backup_within)
    for name in alarms.install_alarms(target, patience):
        print(f"installed: {name}")
    return 0


COMMAND = Command(
    "alarms",
    "let Prefect's server tell people of refusals, crashes and silence",
    "crowdcover alarms --webhook https://chat.example.org/hooks/1",
    arguments,
    run,
)
