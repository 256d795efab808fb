"""What the page knows between two requests: what was opened, the draft, and the jobs."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowdcover.flows.page.draft import Draft
from crowdcover.flows.page.guard import Secrets
from crowdcover.flows.page.jobs import CommandRun
from crowdcover.flows.page.looking import PageLook
from crowdcover.flows.page.released.questions import ReleaseAnswer
from crowdcover.flows.page.source_values import NO_VALUES, SourceValues
from crowdcover.kinds.section import PlanError
from crowdcover.reader.reading import DATA
from crowdcover.reader.release import Release
from crowdcover.storage.places.place import Place, place_of


@dataclass
class Session:
    """One `crowdcover open`, for the person who started it.

    Attributes
    ----------
    own : Secrets
        Of the address, the cookie and the forms.
    opened : str
        What was named.
    starter : tuple of str
        The command that prints the starter plan; empty where a plan was opened.
    look : PageLook or None
        The last look at the source since a column of the plan has changed.
    draft : Draft or None
        The plan; None where a release was opened.
    release : Place or None
        The release that is shown: the one that was opened, made or chosen.
    others : tuple of Place
        Other releases that were named, to compare with.
    key : Path or None
        The file of the private key that signs decisions.
    tried, made, audited : CommandRun or None
        The last `crowdcover try`, `crowdcover release` and `crowdcover audit`.
    shown : CommandRun or None
        The `crowdcover release` whose release was shown.
    tried_settings : (str, str)
        The levels of k and the sample in the form of the next `crowdcover try`.
    tried_text : str
        The plan that the last `crowdcover try` has read.
    notice, refusal : str
        What the next page says of the last action.
    reading : (Path, Release) or None
        The release as its reader has it, with its folder.
    asked : mapping
        The last question to it, as its form was sent.
    answer : ReleaseAnswer or None
    values : SourceValues
        Of the source by column. They are private and go into the plan's page only.
    values_of : (mapping, mapping) or None
        The sections `source` and `columns` of the plan that they were read by; None: none were.
    is_whole_asked : bool
        Whether a person asked for the counts of all rows of a large source.
    """

    own: Secrets
    opened: str
    starter: tuple[str, ...] = ()
    look: PageLook[None] | None = field(default=None, repr=False)
    draft: Draft | None = None
    release: Place | None = None
    others: tuple[Place, ...] = ()
    key: Path | None = None
    tried: CommandRun | None = None
    made: CommandRun | None = None
    audited: CommandRun | None = None
    shown: CommandRun | None = None
    tried_settings: tuple[str, str] = ("3 5 10", "")
    tried_text: str = field(default="", repr=False)
    notice: str = ""
    refusal: str = ""
    reading: tuple[Path, Release] | None = field(default=None, repr=False)
    asked: Mapping[str, str] = field(default_factory=dict, repr=False)
    answer: ReleaseAnswer | None = field(default=None, repr=False)
    values: SourceValues = field(default=NO_VALUES, repr=False)
    values_of: tuple[Any, Any] | None = field(default=None, repr=False)
    is_whole_asked: bool = False
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def require_draft(self) -> Draft:
        """The plan; refused where a release was opened."""
        if self.draft is None:
            raise PlanError("a release was opened; open its plan to change, try or release it")
        return self.draft

    def require_saved_draft(self) -> Draft:
        """The plan, in its file as the page shows it; the commands read the file."""
        draft = self.require_draft()
        if not draft.is_saved:
            raise PlanError("the plan is not saved; save it first: the command reads the file")
        return draft

    def require_idle(self) -> None:
        """Refuse a second job beside one that runs."""
        if any(job.is_running for job in self.list_jobs()):
            raise PlanError("a command runs; wait for its end, or stop it")

    def show_release_of(self, job: CommandRun) -> None:
        """Let the page show the release that a job has made, until a person chooses another one."""
        if job.code == 0 and job.printed and job is not self.shown:
            self.release, self.shown = place_of(job.printed[-1]), job

    def require_release(self) -> Place:
        """The release that is shown: that was opened, that the page has made last, or chosen."""
        if self.made is not None:
            self.show_release_of(self.made)
        if self.release is None:
            raise PlanError("no release was made yet; make one, or open the folder of one")
        return self.release

    @property
    def has_table(self) -> bool:
        """Whether the reader of releases reads the release: a table in a folder of this machine."""
        folder = self.release
        return isinstance(folder, Path) and any((folder / name).is_file() for name in DATA)

    def list_jobs(self) -> list[CommandRun]:
        """The commands that were started."""
        return [job for job in (self.tried, self.made, self.audited) if job is not None]

    def end_jobs(self) -> None:
        """Stop what runs; no process outlives the page."""
        for job in self.list_jobs():
            if job.is_running:
                job.stop()


def shorten_path(path: Path) -> str:
    """A path as one would type it: from the current folder where it lies below that."""
    near = os.path.relpath(path)
    return str(path) if near.startswith("..") else near


def shorten_place(place: Place) -> str:
    """A place as one would type it."""
    return shorten_path(place) if isinstance(place, Path) else str(place)
