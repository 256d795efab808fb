"""What the releases of an anonymizer keep, by name of the findings that must hold."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """Which findings a release must have beside intact files.

    Audit, `[checks]`, report, summary and README state a promise only through these names, so that
    no sentence promises what the method does not keep. A kind knows the words of each finding.

    Attributes
    ----------
    findings : tuple of str
        Names of findings of the kind's audit, such as "compatible crowds".
    """

    findings: tuple[str, ...]
