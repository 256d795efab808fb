"""What the findings say that every kind of data has, by name: for audit, pages and Prefect."""

from crowdcover.reports.messages import load_messages
from crowdcover.reports.words import Words

# Findings of kinds/judge and flows/look/audit.py; a kind adds those of its own audit.
SHARED = load_messages("crowdcover.reports").name_entries("findings")


def sentence_of_finding(name: str, words: Words) -> str:
    """What must hold for the finding of this name; the name itself where nothing is known of it."""
    # A kind may say it more exactly than what holds for all kinds.
    return words.findings.get(name) or SHARED.get(name) or f"{name[:1].upper()}{name[1:]}."
