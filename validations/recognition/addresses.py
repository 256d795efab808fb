"""Addresses on the net and on earth: e-mail, pages of people, user names, IP, MAC, positions."""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.validations.recognition.cells import Cells, any_word
from crowdcover.validations.recognition.words import load_words

_AT = r"(?:@|[\[({<]\s*(?:at|@|ät|arroba|chez|kukac|chiocciola)\s*[\])}>])"
DOT = r"(?:\.|[\[({<]\s*(?:dot|\.|punkt|point|punto)\s*[\])}>]|\s+dot\s+)"
_EMAIL = (
    r"(?i)[\p{L}\p{N}][\p{L}\p{N}._%+'-]*@(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}"
    r"|[\p{L}\p{N}._+-]{2,}\s*" + _AT + r"\s*[\p{L}\p{N}-]{2,}\s*" + DOT + r"\s*\p{L}{2,}"
    r"|[\p{L}\p{N}._+-]{2,}(?:\s+at\s+|_at_)[\p{L}\p{N}-]{2,}(?:\s+dot\s+|_dot_)\p{L}{2,}"
    r"|(?:^|[^\p{L}\p{N}@])[\p{L}][\p{L}\p{N}._+-]+@\p{L}[\p{L}\p{N}-]+(?:$|[^\p{L}\p{N}@])"
    r"|(?-i:[\p{L}\p{N}._+-]{2,}[ _]AT[ _][\p{L}\p{N}-]+\.[a-z]{2,})"
)
PAGES = (
    r"linkedin\.com/(?:in|pub)|xing\.com/profile|facebook\.com|fb\.com|instagram\.com|twitter\.com"
    r"|x\.com|tiktok\.com|t\.me|wa\.me|vk\.com|github\.com|gitlab\.com|medium\.com|threads\.net"
    r"|youtube\.com/(?:user|c)|reddit\.com/u(?:ser)?|snapchat\.com/add|orcid\.org|researchgate\.net/profile"
)
URL = (
    r"(?i)\b[a-z][a-z0-9+.-]*://[^\s/@]+@[^\s/]"
    rf"|\b(?:{PAGES})/@?[\p{{L}}\p{{N}}._%-]*[\p{{L}}\p{{N}}]"
    r"|(?://|www\.)\S+/(?:~|users?/|profiles?/|members?/|people/|u/|@)[\p{L}\p{N}._%-]{2,}"
    r"|(?://|www\.)\S+[?&](?:user|username|user_?id|uid|e?mail|login|phone|tel|name|account)=[^&\s]{2,}"
)
HANDLE = (
    r"(?i)(?:^|[\s\"'(\[{:,;])@[\p{L}_][\p{L}\p{N}_.]{2,29}(?:$|/?\s|[^\p{L}\p{N}@/])"
    r"|\b(?:twitter|instagram|insta|tiktok|snapchat|skype|telegram|discord|icq|wechat|threema)"
    r"\"?\s?[:=]\s?\"?@?[\p{L}\p{N}._#-]{3,}"
)
_DOTTED = r"\b\d{1,3}(?:\.\d{1,3}){3}\b"
V4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)")
V6 = re.compile(
    r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{1,4}|:|\d+(?:\.\d+){3})?(?![\w:])"
)
_OF_VERSIONS = any_word(["version", "firmware", "release", "build", "driver", "fw", "sw", "ver"])
HIGH, LAST = 64, 100  # versions seldom reach them; half of the addresses of a private net do
OF_MACHINES = any_word(["ip", "ipv4", "host", "client addr", "remote addr", "server"])
MAC = (
    r"\b(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\b|\b(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}\b"
    r"|\b(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}\b"
)
ON_EARTH = (
    r"(?i)\b\d{1,2}[.,]\d{2,}\s?°?\s?[NS]\s?[,;/ ]?\s?\d{1,3}[.,]\d{2,}\s?°?\s?[EWO]\b"
    r"|\b[NS]\s?\d{1,2}(?:\.\d{2,}|°\s?\d+\.\d+)'?\s?[,;/ ]?\s?[EWO]\s?\d{1,3}[.°]\s?\d{2,}"
    r"|\d{1,3}\s?[°o]\s?\d{1,2}(?:\.\d+)?\s?'\s?(?:\d{1,2}(?:[.,]\d+)?\s?(?:\"|'')\s?)?[NSEWO]\b"
    r"|\bPOINT\s?Z?\s?\(\s?-?\d{1,3}\.\d{3,}\s+-?\d{1,3}\.\d{3,}"
    r"|\bgeo:-?\d+\.\d+,-?\d+\.\d+"
    r"|\b(?:lat|latitude|lon|lng|long|longitude|breite|länge)\b\"?\s?[:=]?\s?\"?-?\d{1,3}[.,]\d{3,}"
    r"|\"coordinates\"\s?:\s?\[\s?-?\d{1,3}\.\d{3,}"
    r"|\b[23456789CFGHJMPQRVWX]{8}\+[23456789CFGHJMPQRVWX]{2,3}\b"
)
PAIR = (  # with a point, or with a comma and another sign between the two
    r"(?:^|[^\d.,])[+-]?\d{1,3}\.\d{4,}\s?°?\s?[NS]?\s?[,;/| ]\s?[+-]?\d{1,3}\.\d{4,}(?:$|[^\d.])"
    r"|(?:^|[^\d.,])[+-]?\d{1,3},\d{4,}\s?°?\s?[NS]?\s?(?:,\s|[;/| ])"
    r"\s?[+-]?\d{1,3},\d{4,}(?:$|[^\d,])"
)
_DEGREES = re.compile(r"[+-]?\d{1,3}[.,]\d{4,}")
OF_POSITIONS = any_word(
    ["lat", "lon", "latlon", "latlng", "coord", "koord", "geo", "gps", "position", "location"]
)
NEAR_ZERO = 5  # degrees; scores and components lie so, hardly any people do
_SINGLE = r"^\s*[+-]?\d{1,3}[.,]\d{4,}\s*$"
_MANY = 10  # distinct cells before the name of a column and their form say enough


def find_emails(cells: Cells) -> NDArray[np.bool_]:
    """E-mail addresses, also with a word in place of the sign, or without the end of a domain."""
    return cells.contain(_EMAIL)


def find_urls(cells: Cells) -> NDArray[np.bool_]:
    """Addresses on the web with a user in them: before the host, in the path, or in the query."""
    return cells.contain(URL)


def find_handles(cells: Cells) -> NDArray[np.bool_]:
    """User names after an @ or the name of a network, or under the header of such a column."""
    found = cells.contain(HANDLE)
    if cells.says(any_word(list(load_words()["columns"]["handle"]))) and _has_distinct_cells(cells):
        found |= cells.contain(r"^[\p{L}\p{N}._-]*\p{L}[\p{L}\p{N}._-]*$")
    return found


def find_ips(cells: Cells) -> NDArray[np.bool_]:
    """IP addresses; four numbers with dots count unless most cells of the column are versions."""
    found = cells.nothing()
    dotted, six = cells.contain(_DOTTED), cells.contain(r"[0-9A-Fa-f]*:[0-9A-Fa-f]*:")
    likely = number = high = 0
    texts = cells.texts.filter(pl.Series(dotted | six)).to_list()
    for at, text in zip(np.flatnonzero(dotted | six).tolist(), texts, strict=True):
        if six[at] and any(map(_is_v6, V6.findall(text))):
            found[at] = True
        for candidate in V4.findall(text) if dotted[at] else ():
            number += 1
            if _looks_v4(candidate):
                likely, found[at] = likely + 1, True
                high += max(map(int, candidate.split("."))) >= LAST
    if number and not cells.says(OF_MACHINES):
        versions = int(cells.contain(r"^[vV]?\d+(?:\.\d+){1,4}$").sum())
        named = cells.says(_OF_VERSIONS)
        if (
            named
            or 2 * high < likely
            or 2 * likely < number
            or (versions > number and versions * 2 > len(cells.rows))
        ):
            found &= six | cells.contain(r"(?i)\b(?:ip|from|host|server|client|login|address)\b")
    return found


def find_macs(cells: Cells) -> NDArray[np.bool_]:
    """Addresses of network cards; one with dots has a letter, as no version has."""
    found = cells.nothing()
    for at, text in cells.candidates(MAC):
        found[at] = any(each.strip("0123456789.") for each in re.findall(MAC, text))
    return found


def find_positions(cells: Cells) -> NDArray[np.bool_]:
    """Pairs of coordinates in a cell, or one of them in a column that is called so."""
    found = cells.contain(ON_EARTH) | _find_pairs(cells)
    words = load_words()["columns"]
    if cells.has_word({*words["latitude"], *words["longitude"]}) and _has_distinct_cells(cells):
        single = cells.contain(r"^\s*[+-]?\d{1,3}[.,]\d{3,}\s*°?\s*[NSEWOnsewo]?\s*$")
        found |= single if single.mean() >= 0.5 else cells.nothing()
    elif _is_one_of_two(cells):
        found |= cells.contain(_SINGLE)
    return found


def _find_pairs(cells: Cells) -> NDArray[np.bool_]:
    """Pairs of degrees; none where most of the column's lie near zero, unless its name says so."""
    found, near = cells.nothing(), 0
    for at, text in cells.candidates(PAIR):
        one, other = (abs(float(each.replace(",", "."))) for each in _DEGREES.findall(text)[:2])
        # Either order of the two: the latitude is at most 90, and which comes first is not known.
        if min(one, other) <= 90 and max(one, other) <= 180:
            found[at] = True
            near += max(one, other) <= NEAR_ZERO
    # Also where nothing was found: 0 >= 0.
    if 2 * near >= found.sum() and not cells.says(OF_POSITIONS):
        return cells.nothing()
    return found


def _is_one_of_two(cells: Cells) -> bool:
    """Whether a column such as home_x holds degrees of one country and home_y stands beside it.

    Projections of other data lie around zero or spread far.
    """
    last = cells.name[-1:]
    other = {"x": "y", "y": "x"}.get(last)
    if (
        other is None
        or not cells.has_beside(cells.name[:-1] + other)
        or not _has_distinct_cells(cells)
    ):
        return False
    single = cells.contain(_SINGLE)
    if single.mean() < 0.5:
        return False
    texts = cells.texts.filter(pl.Series(single)).str.strip_chars().str.replace(",", ".")
    low, middle, high = np.quantile(texts.cast(pl.Float64).to_numpy(), [0.25, 0.5, 0.75])
    most = 180 if last == "x" else 90
    return bool(NEAR_ZERO <= abs(middle) <= most and high - low <= abs(middle) / 2)


def _has_distinct_cells(cells: Cells) -> bool:
    """Whether the column has many cells, and half of its rows one of their own."""
    return len(cells.rows) >= _MANY and 2 * len(cells.rows) >= int(cells.rows.sum())


def _looks_v4(candidate: str) -> bool:
    """An address in use: of a private net, or with a number that versions seldom reach."""
    try:
        address = IPv4Address(candidate)
    except AddressValueError:
        return False
    parts = [int(part) for part in candidate.split(".")]
    if address.is_unspecified or address.is_multicast:
        return False
    return (address.is_private and parts[0] != 0) or (parts[0] >= 5 and max(parts) >= HIGH)


def _is_v6(candidate: str) -> bool:
    """An address with three groups or more, not a time and not a scope of a program."""
    try:
        IPv6Address(candidate)
    except AddressValueError:
        return False
    groups = [group for group in candidate.split(":") if group]
    return len(groups) >= 3 or (len(groups) >= 1 and len(groups[0]) == 4)
