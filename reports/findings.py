"""What the findings say that every kind of data has, by name: for audit, pages and Prefect."""

from collections.abc import Mapping

from reports.words import Words

# Findings of kinds/judge and flows/audit.py; a kind adds those of its own audit.
SHARED: Mapping[str, str] = {
    "files as published": "Every file is the one whose hash stands in the manifest. There are no "
    "links and no folders.",
    "numbers as measured": "The numbers in the manifest are those that the auditor measures.",
    "manifest as published": "The manifest is the one that the vault remembers.",
    "manifest": "The manifest can be read.",
    "signature as published": "The signature is the one that was made when the release was "
    "published.",
    "no direct identifiers": "No published cell and no published label looks like an e-mail "
    "address, a number of a person, a name beside a title or another direct identifier, unless the "
    "plan allows it.",
    "form of the codebook": "The codebook is written in the one form that leaves no room for "
    "anything else.",
    "form of the manifest": "The manifest is written in the one form that leaves no room for "
    "anything else, and has no key that releases do not have.",
    "catalogue": "The catalogue files say what follows from the release, and nothing else.",
    "report": "The report says what follows from the manifest and from the audit.",
    "not retracted": "Nobody has taken the release back.",
    "crowds after intersection": "With the other releases of the same people in hand, at least k "
    "rows remain possible for each person.",
    "checks of the plan": "Every number reaches the limit that the plan sets in [checks].",
    "approved as the plan requires": "The vault holds the approval of exactly these files.",
    "approved by who may": "The approval is signed with the key that the plan registers for the "
    "person, over exactly these files, words and times; it is not of the person who asked, where "
    "the plan wants another one.",
}


def sentence_of_finding(name: str, words: Words) -> str:
    """What must hold for the finding of this name; the name itself where nothing is known of it."""
    return words.findings.get(name) or SHARED.get(name) or f"{name[:1].upper()}{name[1:]}."
