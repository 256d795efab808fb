"""`crowdcover vault`: verify, back up, restore, prune, rotate; make a key, read a file."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command, add_json_option, add_set_option


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add a parser for each thing that can be done."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    for step in STEPS:
        step.add_to(steps)


def _add_vault_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--vault", type=Path, metavar="FOLDER", help="the vault; or give --plan")
    parser.add_argument(
        "--plan", type=Path, metavar="PLAN.toml", help="a plan that names the vault and the ledger"
    )
    add_set_option(parser)


def _add_verify_arguments(parser: argparse.ArgumentParser) -> None:
    _add_vault_arguments(parser)
    add_json_option(parser, "what was found")


def _add_backup_arguments(parser: argparse.ArgumentParser) -> None:
    _add_vault_arguments(parser)
    parser.add_argument("--to", type=Path, required=True, metavar="FILE", help="a new file")
    parser.add_argument(
        "--recipient",
        action="append",
        default=[],
        metavar="age1...",
        help="public key that the backup is encrypted to; by default the vault's own",
    )
    parser.add_argument("--plain", action="store_true", help="do not encrypt the backup")
    add_json_option(parser, "what was written")


def _add_restore_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a backup")
    parser.add_argument(
        "--vault", type=Path, required=True, metavar="NEW", help="a folder that does not exist yet"
    )
    parser.add_argument(
        "--identity",
        type=Path,
        metavar="KEY_FILE",
        help="key of the backup, if it is not the vault's",
    )
    parser.add_argument(
        "--moved",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="a folder of releases that stands elsewhere now; may be repeated",
    )
    add_json_option(parser, "what was restored")


def _add_prune_arguments(parser: argparse.ArgumentParser) -> None:
    _add_vault_arguments(parser)
    parser.add_argument(
        "--keep",
        default="30d",
        metavar="DURATION",
        help="keep what was written within this time, such as 30d (the default)",
    )
    parser.add_argument("--dry-run", action="store_true", help="remove nothing, only list it")
    add_json_option(parser, "what was removed")


def _add_rotate_arguments(parser: argparse.ArgumentParser) -> None:
    _add_vault_arguments(parser)
    parser.add_argument("--to", type=Path, metavar="KEY_FILE", help="the new key")
    parser.add_argument("--to-plain", action="store_true", help="end the encryption")
    parser.add_argument("--yes", action="store_true", help="with --to-plain: be sure")
    add_json_option(parser, "what was written")


def _add_key_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="a new file, mode 0600"
    )
    add_json_option(parser, "the public key")


def _add_read_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a path inside the vault")
    _add_vault_arguments(parser)
    parser.add_argument("--output", type=Path, metavar="FILE", help="a new file, mode 0600")


STEPS = (
    Command(
        "verify",
        "look for damage in keys, stages, ledger and releases",
        "crowdcover vault verify --plan people.toml",
        _add_verify_arguments,
        "crowdcover.flows.vault.upkeep:verify_vault",
    ),
    Command(
        "backup",
        "write one file with the whole vault, also while runs go on",
        "crowdcover vault backup --plan people.toml --to vault-2026-10-01.age",
        _add_backup_arguments,
        "crowdcover.flows.vault.upkeep:back_up_vault",
    ),
    Command(
        "restore",
        "make a new vault of a backup",
        "crowdcover vault restore vault-2026-10-01.age --vault vault",
        _add_restore_arguments,
        "crowdcover.flows.vault.upkeep:restore_vault",
    ),
    Command(
        "prune",
        "remove what no later audit, intersection or series needs",
        "crowdcover vault prune --plan people.toml --keep 90d --dry-run",
        _add_prune_arguments,
        "crowdcover.flows.vault.upkeep:prune_vault",
    ),
    Command(
        "rotate",
        "encrypt the vault, or put all its files under a new key",
        "crowdcover vault rotate --plan people.toml --to new.key",
        _add_rotate_arguments,
        "crowdcover.flows.vault.upkeep:rotate_vault_key",
    ),
    Command(
        "key",
        "make a key for a vault or for its backups; prints the public key",
        "crowdcover vault key --output vault.key",
        _add_key_arguments,
        "crowdcover.flows.vault.upkeep:write_new_key",
    ),
    Command(
        "read",
        "print a file of an encrypted vault",
        "crowdcover vault read runs/0123456789abcdef/approval.html "
        "--plan people.toml --output approval.html",
        _add_read_arguments,
        "crowdcover.flows.vault.upkeep:print_vault_file",
    ),
)
# Its own work never runs: STEP is required, and the parser of each step sets `run` anew.
COMMAND = Command(
    "vault",
    "verify, back up, restore, prune, rotate or read a vault, or make a key for it",
    "crowdcover vault verify --plan people.toml",
    arguments,
    "crowdcover.flows.vault.upkeep:verify_vault",
)
