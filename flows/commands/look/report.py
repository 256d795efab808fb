"""`crowdcover report`: a document that regulators ask for, filled from a release."""

import argparse
from pathlib import Path

from crowdcover.flows.commands.command import Command, add_release_argument


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the release, the document and where it goes."""
    from crowdcover.reports.documents.filled import list_templates

    add_release_argument(parser)
    parser.add_argument(
        "--template",
        required=True,
        choices=list_templates(),
        help="dpia: annex to an assessment under GDPR; ema: anonymisation report; hipaa: safe "
        "harbor and expert determination; sp800-188: evidence for a review board",
    )
    parser.add_argument(
        "--to",
        type=Path,
        metavar="FILE",
        help="write it here, never over a file; as DOCX if the name ends in .docx",
    )


def run(options: argparse.Namespace) -> int:
    """Print the document as markdown, or write it as markdown or DOCX."""
    from crowdcover.flows.look.named_release import read_manifest, refuse_damaged_manifest
    from crowdcover.kinds import words_of
    from crowdcover.kinds.section import PlanError
    from crowdcover.reports.documents.filled import fill_template
    from crowdcover.reports.documents.office import render_document

    manifest = read_manifest(options.release)
    with refuse_damaged_manifest():
        text = fill_template(options.template, manifest, words_of(manifest))
    if options.to is None:
        print(text, end="")
        return 0
    try:
        made = render_document(text) if options.to.suffix.lower() == ".docx" else text.encode()
        with options.to.open("xb") as file:
            file.write(made)
    except FileExistsError:
        refusal = f"{options.to} exists; it may have what a person filled in: give another name"
    except ImportError as error:
        refusal = str(error)
    except OSError as error:
        refusal = f"{options.to} cannot be written ({type(error).__name__}); give another path"
    else:
        return 0
    raise PlanError(refusal)


COMMAND = Command(
    "report",
    "fill a report that regulators ask for with a release's figures",
    "crowdcover report releases/adult/v1 --template ema --to ema.md",
    arguments,
    run,
)
