"""The release plan: what a person typed in TOML, typed, frozen and checked.

A plan has sections that every kind of data shares and sections of its kind. Refusals name the key
and what is allowed there, never a value.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, ValidationError, create_model

from anon_core.anonymizers import ANONYMIZERS
from anon_core.anonymizers.stated import Stated
from anon_core.errors import InputError
from crowdcover.flows.plan.about import AboutSection
from crowdcover.flows.plan.compute import ComputeSection
from crowdcover.flows.plan.document import find_kind_name, read_document
from crowdcover.flows.plan.hashing import hash_plan
from crowdcover.flows.plan.marks import refuse_marks
from crowdcover.flows.plan.passwords import refuse_passwords, withhold_kept, withhold_passwords
from crowdcover.flows.plan.publish.publishing import PublishSection
from crowdcover.flows.plan.refusals import explain_validation_error
from crowdcover.flows.plan.series import SeriesSection, refuse_with_series
from crowdcover.flows.plan.settings import list_field_metadata, list_settings, validate_settings
from crowdcover.flows.plan.sizes import UNITS, parse_size
from crowdcover.kinds import kind_called, rules_called
from crowdcover.kinds.checks import LimitsSection
from crowdcover.kinds.nearest import did_you_mean
from crowdcover.kinds.plan.rules import PlanRules
from crowdcover.kinds.plan.series import Following
from crowdcover.kinds.section import MOST_NAME, PlanError, Section, refuse_together
from crowdcover.storage.places.place import Place, place_of
from crowdcover.storage.vault.files import write_private

if TYPE_CHECKING:
    # Types only: a plan is checked without the code that makes and audits releases.
    from anon_core.anonymizers import Anonymizer
    from crowdcover.kinds.base import Kind

__all__ = ["PlanError", "ReleasePlan"]

_Method = TypeVar("_Method", bound=Stated)
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_Name = Annotated[str, Field(pattern=f"^{NAME}$", max_length=MOST_NAME)]  # as a schema says it


def _release_name(value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(NAME, value):
        raise ValueError(
            "must be letters, digits, '.', '_' and '-' only, a letter or digit first: "
            "it becomes a folder"
        )
    if isinstance(value, str) and len(value) > MOST_NAME:
        raise ValueError(f"must be at most {MOST_NAME} characters long: it becomes a folder")
    return value


class ReleasePlan(Section):
    """The sections that every kind shares; `of` adds those of the plan's kind.

    Attributes
    ----------
    name : what the release is called; it becomes a folder.
    about : what a reader should know of the data; published as it stands.
    source : where the data lies and how it is written.
    columns : what becomes of the columns of the source.
    privacy : among how many each person hides.
    purpose : what readers will do with the release.
    anonymizer : the method and its settings.
    compute : where the plan runs; never changes the release.
    checks : limits that a release must meet.
    publish : where the release and its secrets go.
    series : makes each run the next version of one release.
    """

    name: Annotated[str, BeforeValidator(_release_name, json_schema_input_type=_Name)]
    about: AboutSection = AboutSection()
    source: Any
    anonymizer: dict[str, Any] = {}
    compute: ComputeSection = ComputeSection()
    checks: Any
    publish: PublishSection = PublishSection()
    series: SeriesSection | None = None

    @classmethod
    def load(
        cls, path: Path, overrides: Sequence[str] = (), text: str | None = None
    ) -> "ReleasePlan":
        """Read a plan; `overrides` are key.path=value.

        Paths in the file start at its folder, paths in overrides at the current one. `text` is what
        the file will hold, of a plan that is not written yet.
        """
        return cls.of(read_document(path, overrides, text))

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "ReleasePlan":
        """Check a parsed plan."""
        name = find_kind_name(document)
        # Before the types are checked, so that no message about a key quotes a password.
        refuse_passwords(document)
        model = model_of(name)
        try:
            plan = model.model_validate(dict(document))
            plan._check()
        except ValidationError as error:
            refusal = explain_validation_error(error, model, rules_called(name))
        else:
            return plan
        # After the handlers: a ValidationError holds what was typed, and would be the context.
        raise PlanError(refusal)

    def _check(self) -> None:
        """Everything that the types of the keys do not say."""
        # First: an open question may be the cause of any refusal below.
        refuse_marks(self)
        refuse_together(
            (
                lambda: self.data,
                lambda: self.memory_bytes,
                lambda: self.limits.drift_limits,
                lambda: self.method_settings,
                lambda: self.compute.jobs,
                self._check_engine,
                self.compute.check_dask,
                self.publish.check,
                self._check_series,
                lambda: self.rules.check_method(self.data, self.method_settings),
            )
        )

    def _check_engine(self) -> None:
        settings = self.method_settings
        # What earlier rows tell, which the method of a series goes by, does not travel.
        by_pasts = self._follows_records and self._method == self._needed_method
        engines = {"local": ""} if by_pasts else settings.engines
        self.compute.check_engine(self._method, engines)

    def _check_series(self) -> None:
        if self.series is not None:
            refuse_with_series(self).check(self.data, self.following)
        elif self.partition is not None:
            raise PlanError(
                "source.partition belongs to [series]: each version of a series has the rows of "
                "one partition; state [series], or leave source.partition out"
            )

    @property
    def releases(self) -> Place:
        """Where the versions stand: <publish.path>/<name>."""
        return place_of(self.publish.path) / self.name

    def check_machine(self) -> None:
        """Refuse an engine or a key for signatures that is not there, where the plan is to run."""
        if self.compute.engine == "dask" and find_spec("distributed") is None:
            raise PlanError(
                "compute.engine = 'dask' needs Dask, which is not installed: "
                "pip install 'crowdcover[dask]'"
            )
        self.publish.check_key()

    @property
    def kind(self) -> "Kind":
        """The kind of the plan's data."""
        return kind_called(self.source.kind)

    @property
    def rules(self) -> PlanRules:
        """What the kind says of a plan: a part of it that needs no numba."""
        return rules_called(self.source.kind)

    @cached_property
    def data(self) -> Any:
        """What the plan says of its data, typed by its kind, such as `TablePlan`."""
        return self.rules.plan(self)

    def read_as(self, form: int) -> "ReleasePlan":
        """The same plan of a source that is read in a form, such as an older build's."""
        if self.data.source.form == form:
            return self
        plan = self.model_copy()
        # The model is frozen; a cached property looks into the dictionary first.
        plan.__dict__["data"] = self.rules.read_as(self.data, form)
        return plan

    @property
    def limits(self) -> LimitsSection:
        """[checks], typed by the kind."""
        checks: LimitsSection = self.checks
        return checks

    @property
    def _follows_records(self) -> bool:
        """Whether records are followed over time, so that rows are withdrawn."""
        return self.series is not None and self.series.record is not None

    @property
    def _needed_method(self) -> str | None:
        """The anonymizer that alone does what the plan asks, if it asks for such a thing."""
        if self._follows_records and self.rules.series is not None:
            return self.rules.series.anonymizer
        return self.rules.find_needed_method(self.data)

    @property
    def _default_method(self) -> str:
        """The anonymizer of a plan that names none.

        A plan that states what only an earlier default has was written for that.
        """
        if needed := self._needed_method:
            return needed
        defaults = (self.rules.anonymizer, *self.rules.earlier_anonymizers)
        fitting = (name for name in defaults if self.anonymizer.keys() <= list_settings(name))
        return next(fitting, self.rules.anonymizer)

    @property
    def _method(self) -> str:
        """The name of the anonymizer; refused where the kind has none of this name."""
        name = self.anonymizer.get("name", self._default_method)
        of_kind = [
            each for each in ANONYMIZERS if ANONYMIZERS.settings_of(each).kind == self.rules.name
        ]
        if isinstance(name, str) and name in of_kind:
            return name
        near = did_you_mean(name, of_kind) if isinstance(name, str) else ""
        allowed = ", ".join(sorted(of_kind))
        raise PlanError(f"anonymizer.name is not known; allowed: {allowed}{near}")

    @property
    def method_settings(self) -> Stated:
        """[anonymizer], checked: what the method promises follows from it, and numba is not needed.

        Where the method was loaded, these are the anonymizer itself.
        """
        return self._state(ANONYMIZERS.settings_of(self._method))

    def build_anonymizer(self) -> "Anonymizer[Any]":
        """[anonymizer] as an anonymizer with its settings."""
        return self._state(ANONYMIZERS[self._method])

    def _state(self, method: Callable[..., _Method]) -> _Method:
        """The settings of [anonymizer] as this class has them."""
        settings = {key: value for key, value in self.anonymizer.items() if key != "name"}
        if not self._follows_records and self.rules.states_levels(self.data):
            settings = {**list_field_metadata(method, "stated levels"), **settings}
        try:
            return method(**validate_settings(method, settings))
        except InputError as error:
            refusal = f"[anonymizer] {error}"
        raise PlanError(refusal)

    @property
    def anonymizer_settings(self) -> dict[str, Any]:
        """The anonymizer's name and all its settings: for the manifest, and for the hash."""
        settings: Any = self.method_settings
        return {"name": self._method, **dataclasses.asdict(settings)}

    @property
    def following(self) -> Following:
        """[series], typed for the kind."""
        assert self.series is not None
        return self.series.following(getattr(self.data, "person", None))

    @property
    def partition(self) -> Any:
        """How the source is divided, typed by the kind; None where a version has all its rows."""
        return getattr(self.data, "partition", None)

    @property
    def memory_bytes(self) -> int:
        """compute.memory in bytes."""
        size = parse_size(self.compute.memory)
        if size is None:
            raise PlanError(
                "compute.memory must be a number and a unit, e.g. '4GiB'; units: "
                + ", ".join(UNITS)
            )
        return size

    def freeze(self, folder: Path) -> Path:
        """Write the plan as understood, overrides included, into a private folder; its file.

        The file holds no password: `credentials` say where one lies. Plans that earlier versions
        have left there lose theirs.
        """
        for path in (folder.parent, folder):  # the modes of further parents stay as they are
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Written out, a default would count as stated, and keys of other settings are refused.
        document = json.loads(self.model_dump_json(exclude_unset=True))
        content = json.dumps(withhold_passwords(document), indent=2, ensure_ascii=False).encode()
        path = folder / f"{self.name}-{hashlib.sha256(content).hexdigest()[:16]}.json"
        withhold_kept(folder)
        write_private(path, content)
        return path

    @property
    def earlier(self) -> list["ReleasePlan"]:
        """The plan as older versions understood what it leaves to a default, the youngest first.

        No version understood a plan so that its settings contradict each other: such a plan states
        a setting that is younger than what it leaves to a default.
        """
        unnamed = "name" not in self.anonymizer and self._needed_method is None
        defaults = self.rules.earlier_anonymizers if unnamed else ()
        renamed = [self._understand({"name": name}) for name in defaults]
        named = [plan for plan in renamed if plan is not None] if defaults else [self]
        before = [
            plan._understand(
                list_field_metadata(plan.method_settings, "before"),
                self.rules.earlier(self),
            )
            for plan in named
        ]
        return [plan for plan in (*renamed, *before) if plan is not None]

    def _understand(
        self, anonymizer: Mapping[str, Any], sections: Mapping[str, Any] | None = None
    ) -> "ReleasePlan | None":
        """The plan with other defaults of [anonymizer], and sections; None where they clash."""
        update = {"anonymizer": {**anonymizer, **self.anonymizer}, **(sections or {})}
        plan = self.model_copy(update=update)
        plan.__dict__.pop("data", None)  # cached; it follows from the sections
        try:
            _ = plan.method_settings
        except PlanError:
            return None
        return plan

    @property
    def sha256(self) -> str:
        """Hash of everything that shapes the release, in whatever words the plan states it.

        A setting counts once it is not what it was before it existed: older vaults stay valid.
        """
        return hash_plan(self)


@cache
def model_of(kind: str) -> type[ReleasePlan]:
    """The plan of a kind: the shared sections and its own."""
    sections: dict[str, Any] = dict(rules_called(kind).sections)
    return create_model("ReleasePlan", __base__=ReleasePlan, **sections)
