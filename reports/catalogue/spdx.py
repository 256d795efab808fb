"""method.spdx3.json: what made the release, with versions, parameters and licences (SPDX 3.0.1)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from crowdcover.reports.catalogue.described import (
    METHOD,
    METHOD_LICENCE,
    Described,
    media_type_of,
    without_nothing,
)

_CONTEXT = "https://spdx.org/rdf/3.0.1/spdx-context.jsonld"
SPEC = "3.0.1"
DATA_LICENCE = "CC0-1.0"  # of this document, as SPDX wants it
# Of the packages that the manifest's "software" names.
LICENCES = {
    "python": "Python-2.0",
    "numba": "BSD-2-Clause",
    "numpy": "BSD-3-Clause",
    "polars": "MIT",
    "scipy": "BSD-3-Clause",
}
PROFILES = ["core", "software", "simpleLicensing", "dataset", "build"]
INFO = "_:created"
Node = dict[str, Any]


def build_spdx(release: Described) -> Node:
    """The release as a dataset that a build of crowdcover made."""
    id_ = _Ids(release.urn)
    maker = _build_package(id_, METHOD, str(release.manifest["crowdcover"]))
    tools = [maker, *(_build_package(id_, *each) for each in release.software.items())]
    files = [_build_file(id_, release, name) for name in release.entries]
    dataset, build = _build_dataset(id_, release), _build_build(id_, release)
    licences, declared = _build_licences(id_, release, [dataset, *tools])
    related = [
        _relate_elements(id_, "made", build, "hasOutput", [dataset]),
        _relate_elements(id_, "used", build, "usesTool", tools),
        _relate_elements(id_, "parts", dataset, "contains", files),
        *declared,
    ]
    agent = _build_element(id_, "SoftwareAgent", "agent", name=METHOD)
    elements = [agent, dataset, build, *tools, *files, *licences, *related]
    return {
        "@context": _CONTEXT,
        "@graph": [
            {
                "@id": INFO,
                "type": "CreationInfo",
                "specVersion": SPEC,
                "created": _format_utc(release.created),
                "createdBy": [agent["spdxId"]],
            },
            # The document lists elements by name only, so all of them stand in the graph beside it.
            _build_document(id_, release, elements, dataset),
            *elements,
        ],
    }


class _Ids:
    """Names of elements, all below the release's."""

    def __init__(self, urn: str) -> None:
        self.urn = urn

    def __call__(self, *parts: str) -> str:
        return f"{self.urn}#{'-'.join(parts)}"


def _build_element(id_: _Ids, kind: str, *parts: str, **stated: Any) -> Node:
    return {
        "type": kind,
        "spdxId": id_(*parts),
        "creationInfo": INFO,
        **without_nothing(stated),
    }


def _build_document(id_: _Ids, release: Described, elements: Sequence[Node], root: Node) -> Node:
    return _build_element(
        id_,
        "SpdxDocument",
        "document",
        name=f"{release.name} {release.version}: how it was made",
        profileConformance=PROFILES,
        dataLicense=id_("licence", DATA_LICENCE),
        rootElement=[root["spdxId"]],
        element=[each["spdxId"] for each in elements],
    )


def _build_package(id_: _Ids, name: str, version: str) -> Node:
    return _build_element(
        id_,
        "software_Package",
        "software",
        name,
        name=name,
        software_packageVersion=version,
        software_primaryPurpose="application" if name == METHOD else "library",
    )


def _build_file(id_: _Ids, release: Described, name: str) -> Node:
    digest = {"type": "Hash", "algorithm": "sha256", "hashValue": release.entries[name].sha256}
    packed = name.endswith(".gz")
    return _build_element(
        id_,
        "software_File",
        "file",
        name,
        name=name,
        verifiedUsing=[digest],
        # The file as it lies there: its hash, too, is that of the packed bytes.
        contentType="application/gzip" if packed else media_type_of(name, release.data),
    )


def _build_dataset(id_: _Ids, release: Described) -> Node:
    settings = release.parameters
    demand = f"k from {settings['k_min']} to {settings['k_max']}" if "k_min" in settings else ""
    said = ", ".join(filter(None, (f"method {settings.get('name', '')}", demand)))
    return _build_element(
        id_,
        "dataset_DatasetPackage",
        "release",
        name=release.name,
        description=release.description,
        software_packageVersion=release.version,
        software_primaryPurpose="data",
        builtTime=_format_utc(release.created),
        releaseTime=_format_utc(release.created),
        originatedBy=[id_("agent")],
        dataset_datasetType=["graph" if release.graph else "structured"],
        dataset_datasetSize=sum(release.entries[file.name].bytes for file in release.data),
        dataset_anonymizationMethodUsed=[f"{METHOD} {release.manifest['crowdcover']}, {said}"],
        # Whether the rows are personal data is for a person to decide, not for the program.
        dataset_hasSensitivePersonalInformation="noAssertion",
        dataset_intendedUse=release.about("recipient"),
        dataset_knownBias=[
            "what stays exact is not a random part of the data: rare values are masked more often"
        ],
    )


def _build_build(id_: _Ids, release: Described) -> Node:
    # The hash ties the build to its plan without publishing the plan.
    stated = {**release.parameters, "plan_sha256": str(release.manifest["plan_sha256"])}
    return _build_element(
        id_,
        "build_Build",
        "build",
        name=f"{METHOD} release",
        build_buildType=f"urn:{METHOD}:release",
        build_buildEndTime=_format_utc(release.created),
        build_parameter=[
            {"type": "DictionaryEntry", "key": key, "value": value} for key, value in stated.items()
        ],
    )


def _build_licences(
    id_: _Ids, release: Described, of: Sequence[Node]
) -> tuple[list[Node], list[Node]]:
    """Each licence once, and which element declares which."""
    known: Mapping[str, str] = {METHOD: METHOD_LICENCE, **LICENCES}
    stated = {
        each["spdxId"]: licence
        for each in of[1:]
        if (licence := known.get(each["name"])) is not None
    }
    # An address is no licence expression.
    if release.licence and "://" not in release.licence:
        stated[of[0]["spdxId"]] = release.licence
    # With the licence of the document itself, to which `dataLicense` refers.
    names = sorted({*stated.values(), DATA_LICENCE})
    nodes = {
        name: _build_element(
            id_,
            "simplelicensing_LicenseExpression",
            "licence",
            name.replace(" ", "_"),
            simplelicensing_licenseExpression=name,
        )
        for name in names
    }
    declared = [
        _relate_elements(
            id_,
            f"licence-of-{each['name'] if each is not of[0] else 'release'}",
            each,
            "hasDeclaredLicense",
            [nodes[stated[each["spdxId"]]]],
        )
        for each in of
        if each["spdxId"] in stated
    ]
    return list(nodes.values()), declared


def _relate_elements(id_: _Ids, name: str, whole: Node, how: str, to: Sequence[Node]) -> Node:
    return {
        **_build_element(id_, "Relationship", name),
        "from": whole["spdxId"],
        "relationshipType": how,
        "to": [each["spdxId"] for each in to],
    }


def _format_utc(created: str) -> str:
    """A time as SPDX writes it: UTC, whole seconds, Z."""
    return datetime.fromisoformat(created).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
