"""dcat.jsonld: the release for data portals, in W3C's Data Catalog Vocabulary.

Addresses of files are relative: they start where this file stands.
"""

import re
from typing import Any

from crowdcover.reports.catalogue.described import (
    METHOD,
    DataFile,
    Described,
    media_type_of,
    without_nothing,
)

_CONTEXT = {
    "adms": "http://www.w3.org/ns/adms#",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "prov": "http://www.w3.org/ns/prov#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
MEDIA_TYPES = "https://www.iana.org/assignments/media-types/"
MAIL = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[A-Za-z]+")


def build_dcat(release: Described) -> dict[str, Any]:
    """A dataset with a distribution for each data file."""
    publisher, contact = release.about("publisher"), release.about("contact")
    return without_nothing(
        {
            "@context": _CONTEXT,
            "@id": release.urn,
            "@type": "dcat:Dataset",
            "dct:title": release.title,
            "dct:description": release.description,
            "dct:identifier": f"{release.name} {release.version}",
            "dcat:version": release.version,
            "dct:issued": _write_typed_value("dateTime", release.created),
            "dct:license": _state_licence(release),
            "dct:publisher": {"@type": "foaf:Agent", "foaf:name": publisher} if publisher else None,
            "dcat:contactPoint": _describe_contact(contact),
            "dct:provenance": {
                "@type": "dct:ProvenanceStatement",
                "rdfs:label": f"{METHOD} {release.manifest['crowdcover']}, method "
                f"{release.parameters.get('name', '')}. {release.limits}",
            },
            "foaf:page": [{"@id": name, "@type": "foaf:Document"} for name in release.others],
            "dcat:distribution": [_describe_distribution(release, file) for file in release.data],
        }
    )


def _state_licence(release: Described) -> dict[str, Any] | None:
    """The licence by its address; an expression of several by its text."""
    if uri := release.licence_uri:
        return {"@id": uri, "@type": "dct:LicenseDocument"}
    if not release.licence:
        return None
    return {"@type": "dct:LicenseDocument", "rdfs:label": release.licence}


def _describe_contact(contact: str) -> dict[str, Any] | None:
    if not contact:
        return None
    # A contact may be a telephone number or an office: only an address of mail becomes a mailto.
    mail = {"vcard:hasEmail": {"@id": f"mailto:{contact}"}} if MAIL.fullmatch(contact) else {}
    return {"@type": "vcard:Kind", "vcard:fn": contact, **mail}


def _describe_distribution(release: Described, file: DataFile) -> dict[str, Any]:
    entry = release.entries[file.name]
    packed = (
        {"dcat:compressFormat": _refer_to_media_type("application/gzip")}
        if file.name.endswith(".gz")
        else {}
    )
    return without_nothing(
        {
            # Below the name of the release, so that it is unique; each format has one file.
            "@id": f"{release.urn}#{file.format}",
            "@type": "dcat:Distribution",
            "dct:title": file.name,
            # DCAT-AP requires accessURL; downloadURL says that it leads to the file itself.
            "dcat:accessURL": {"@id": file.name},
            "dcat:downloadURL": {"@id": file.name},
            "dcat:mediaType": _refer_to_media_type(media_type_of(file.name, release.data)),
            **packed,
            "dct:license": _state_licence(release),
            "dcat:byteSize": _write_typed_value("nonNegativeInteger", str(entry.bytes)),
            "spdx:checksum": {
                "@type": "spdx:Checksum",
                "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
                "spdx:checksumValue": _write_typed_value("hexBinary", entry.sha256),
            },
        }
    )


def _refer_to_media_type(name: str) -> dict[str, str]:
    return {"@id": MEDIA_TYPES + name, "@type": "dct:MediaType"}


def _write_typed_value(kind: str, value: str) -> dict[str, str]:
    return {"@type": f"xsd:{kind}", "@value": value}
