"""croissant.json: the release for machine learning, with its part on responsible use (RAI)."""

from typing import Any

from crowdcover.reports.catalogue.described import (
    METHOD,
    DataFile,
    Described,
    Field,
    Type,
    media_type_of,
    without_nothing,
)
from crowdcover.reports.messages import load_messages

CONFORMS_TO = ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES: dict[Type, str] = {  # of columns that are no lists and no structs
    "string": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
    "date": "sc:Date",
    "datetime": "sc:DateTime",
    "any": "sc:Text",
}
_MEDIA = {"application/vnd.apache.parquet": "application/x-parquet"}  # as Croissant names it
_ROWS = "rows"


def build_croissant(release: Described) -> dict[str, Any]:
    """Every file, and the columns of one data file: of the CSV file if there is one."""
    # CSV first: it has flat columns only, which readers of Croissant 1.0 can take.
    read = next((each for each in release.data if each.format == "csv"), release.data[0])
    publisher = release.about("publisher")
    return without_nothing(
        {
            "@context": _CONTEXT,
            "@type": "sc:Dataset",
            "conformsTo": CONFORMS_TO,
            "name": release.name,
            "alternateName": release.title if release.title != release.name else "",
            "description": release.description,
            "identifier": release.urn,
            # Croissant asks for semantic versions; a release has one number.
            "version": f"{release.version.removeprefix('v')}.0.0",
            "citeAs": _build_citation(release),
            "license": release.licence_uri or release.licence,
            "datePublished": release.created,
            "dateCreated": release.created,
            "publisher": {"@type": "sc:Organization", "name": publisher} if publisher else None,
            "creator": {"@type": "sc:Organization", "name": publisher} if publisher else None,
            # A version that was published never changes.
            "isLiveDataset": False,
            "distribution": [_describe_file(release, name) for name in release.entries],
            "recordSet": [_describe_record_set(read)],
            **_describe_responsible_use(release),
        }
    )


def _build_citation(release: Described) -> str:
    """Publisher, title, version, year and the name that all formats share."""
    who = release.about("publisher")
    parts = (who, release.title, release.version, release.created[:4], release.urn)
    return ", ".join(filter(None, parts))


def _describe_file(release: Described, name: str) -> dict[str, Any]:
    kind, entry = media_type_of(name, release.data), release.entries[name]
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{entry.bytes} B",
        "encodingFormat": _MEDIA.get(kind, kind),
        "sha256": entry.sha256,
    }


def _describe_record_set(file: DataFile) -> dict[str, Any]:
    """The columns that readers of Croissant 1.0 can take: no lists, no structs."""
    numbers = {field.name: number for number, field in enumerate(file.fields, 1)}
    flat = [each for each in file.fields if each.type not in ("array", "object")]
    left = "" if len(flat) == len(file.fields) else "; codebook.json describes lists and structs"
    return without_nothing(
        {
            "@type": "cr:RecordSet",
            "@id": _ROWS,
            "name": _ROWS,
            "description": f"{file.rows} published rows{left}",
            "key": [{"@id": _id_of_column(numbers[name])} for name in file.key],
            "field": [_describe_field(file, numbers[each.name], each) for each in flat],
        }
    )


def _id_of_column(number: int) -> str:
    """Columns by number: names of columns may hold any sign."""
    return f"{_ROWS}/{number}"


def _describe_field(file: DataFile, number: int, field: Field) -> dict[str, Any]:
    return without_nothing(
        {
            "@type": "cr:Field",
            "@id": _id_of_column(number),
            "name": field.name,
            "description": field.about,
            "dataType": _TYPES[field.type],
            "source": {"fileObject": {"@id": file.name}, "extract": {"column": field.name}},
        }
    )


def _describe_responsible_use(release: Described) -> dict[str, Any]:
    """What the RAI vocabulary asks of personal data."""
    until, contact = release.about("answers_until"), release.about("contact")
    lasting = f", until {until}" if until else ""
    population, recipient = release.about("population"), release.about("recipient")
    parameters = dict(release.parameters)
    method = parameters.pop("name", "")
    settings = ", ".join(f"{key} = {value}" for key, value in parameters.items())
    day = release.about("as_of")
    return {
        "rai:dataCollection": f"Source: {population}" if population else "",
        # `as_of` may be a period in words; this entry takes a date.
        "rai:dataCollectionTimeframe": day if len(day) == len("2026-01-01") else "",
        "rai:dataManipulationProtocol": f"{METHOD} {release.manifest['crowdcover']}, method "
        f"{method} ({settings}). {release.promise}",
        "rai:personalSensitiveInformation": _list_columns_by_role(release),
        "rai:dataLimitations": [release.limits],
        "rai:dataBiases": [load_messages("crowdcover.reports").say("catalogue", "biases")],
        "rai:dataUseCases": [recipient] if recipient else [],
        "rai:dataReleaseMaintenancePlan": f"Questions: {contact}{lasting}" if contact else "",
    }


def _list_columns_by_role(release: Described) -> list[str]:
    """Which columns of the source are published, by role, and which are not."""
    roles: dict[str, list[str]] = {}
    for name, stated in release.manifest.get("columns", {}).items():
        roles.setdefault(str(stated.get("role")), []).append(name)
    return [f"{role}: {', '.join(names)}" for role, names in roles.items()]
