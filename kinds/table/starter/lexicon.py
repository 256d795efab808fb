"""Words of many languages, read from words/*.toml, and how a name is cut into words.

A file gives each topic words, then, after commas, phrases. `word` is one word, `word*` a glob,
`a phrase` words beside each other, `=word` the whole name. Chinese, Japanese and Korean entries
count wherever they stand. Case and accents do not matter: `für` is found as `fur` and as `fuer`.

person: a person's name, number or contact      name: a name of somebody or something
identifying, number, numbering: numbers and addresses    holder: what stands before `id`
who, unit: people; records      firm, product, place, position, code: things and their codes
count, measure, age, birth, year, body, sampling, weight: numbers   paid: money if a number
attribute: what stands before or behind a thing, as in phone type
health, money, private: sensitive topics   flag: yes-or-no   note: free text   filler: of, the
given, surname, ending, particle: names of people in cells   title: words that stand before them
month, calendar: months, and words such as week, in cells
"""

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import translate
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from crowdcover.kinds.table.starter import words

_WORD_ENDS = re.compile(r"(?<=[a-z])(?=[A-Z])")  # patientId
_DOTTED = re.compile(r"\b([^\W\d_])\.(?=[^\W\d_]\b)")
# Vowels and other marks of the scripts of India and Thailand belong to words, too.
_WORDS = re.compile(r"(?:[^\W\d_]|[\u0900-\u0965\u0970-\u0e4e])+|\d+")
LISTS = (
    "title",
    "given",
    "surname",
    "ending",
    "particle",
    "filler",
    "month",
    "calendar",
)  # no topics of a column's name
TYPE_LETTERS = "cdins"  # iage, dHours: some tables put a letter for the type first
ARTICLE = "ال"  # of Arabic nouns
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Letters that Unicode does not take apart, and what stands for letters with marks elsewhere.
LETTERS = str.maketrans({
    "ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE", "ł": "l", "Ł": "L", "\u0131": "i",
    "°": "o", "đ": "d", "Đ": "D", "ð": "d", "þ": "th", "œ": "oe",
})  # fmt: skip
SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})


class Lexicon(NamedTuple):
    """Topics of whole words, and by topic what else tells it."""

    words: dict[str, set[str]]  # of one word, or `=` and all words without blanks
    globs: dict[str, re.Pattern[str]]  # of one word
    phrases: dict[str, re.Pattern[str]]  # of all words with blanks between and around them
    unspaced: dict[str, re.Pattern[str]]  # of a part of the name


def fold_accents(text: str) -> str:
    """A text without accents, its capitals kept."""
    apart = unicodedata.normalize("NFKD", text.translate(LETTERS))
    plain = "".join(sign for sign in apart if not unicodedata.combining(sign))
    return unicodedata.normalize("NFC", plain)


def tokenize_name(name: str) -> list[str]:
    """The words of a name, folded."""
    # Accents go first: `_WORD_ENDS` knows plain letters only.
    joined = _DOTTED.sub(r"\1", fold_accents(name))  # N.I.F.
    return [word.casefold() for word in _WORDS.findall(_WORD_ENDS.sub(" ", joined))]


def topics_of(words: list[str]) -> frozenset[str]:
    """What the words of a name are about. English words may have a letter for their type."""
    bare = [w[1:] for w in words if w[0] in TYPE_LETTERS and len(w) > 3]
    return _find_topics(load_lexicon(), words) | _find_topics(load_lexicon("en"), bare)


def _find_topics(lexicon: Lexicon, words: list[str]) -> frozenset[str]:
    letters = [word for word in words if not word.isdigit()]
    line = f" {' '.join(word for word in letters if word not in list_filler_words())} "
    whole = "".join(letters)
    found = {
        topic
        for patterns, text in ((lexicon.phrases, line), (lexicon.unspaced, whole))
        for topic, pattern in patterns.items()
        if pattern.search(text)
    }
    found |= lexicon.words.get(f"={whole}", set())
    for word in letters:
        for spelling in {word, word.removeprefix(ARTICLE)}:
            found |= lexicon.words.get(spelling, set())
        found |= {topic for topic, pattern in lexicon.globs.items() if pattern.match(word)}
    return frozenset(found)


@cache
def list_name_titles() -> tuple[str, ...]:
    """Words that stand before names of people, such as Frau; after them in Chinese."""
    return tuple(sorted(_list_topic_words("title")))


@cache
def names_of_people() -> frozenset[str]:
    """Given names and surnames, folded. In Chinese and Korean a surname is the first letter."""
    return frozenset(
        fold_accents(name).casefold()
        for name in _list_topic_words("given") | _list_topic_words("surname")
    )


@cache
def name_ends() -> tuple[str, ...]:
    """The ends of Slavic and Greek surnames and of names after fathers, folded."""
    return tuple(sorted({fold_accents(end) for end in _list_topic_words("ending")}))


@cache
def list_month_words() -> frozenset[str]:
    """Months, folded, and their first letters, three or more: gennaio, genn, gen."""
    plain = {
        fold_accents(month.lower().translate(SPELT_OUT)) for month in _list_topic_words("month")
    }
    whole = plain | {fold_accents(month).casefold() for month in _list_topic_words("month")}
    return frozenset(word[:end] for word in whole for end in range(3, len(word) + 1)) | whole


@cache
def list_calendar_words() -> frozenset[str]:
    """Words that stand beside a year, such as Quartal, folded."""
    return frozenset(fold_accents(word).casefold() for word in _list_topic_words("calendar"))


@cache
def list_name_particles() -> frozenset[str]:
    """Words within names, such as `von`."""
    return frozenset(_list_topic_words("particle")) | list_filler_words()


@cache
def list_filler_words() -> frozenset[str]:
    """Words between words, such as `of`."""
    return frozenset(_list_topic_words("filler"))


def _list_topic_words(topic: str) -> set[str]:
    return {word for texts in _read_word_files() for word in texts.get(topic, "").split()}


@cache
def load_lexicon(language: str = "") -> Lexicon:
    """The words of all files, or of one language, by the way in which they are looked for."""
    words: dict[str, set[str]] = defaultdict(set)
    globs, phrases, unspaced = (defaultdict[str, set[str]](set) for _ in range(3))
    for texts in _read_word_files(language):
        for topic, text in texts.items():
            for entry in () if topic in LISTS else _list_entry_spellings(text):
                if UNSPACED.search(entry) and not entry.startswith("="):
                    unspaced[topic].add(re.escape(entry.strip()))
                elif " " in entry:
                    # re.escape has put a backslash before the star.
                    phrases[topic].add(re.escape(entry).replace(r"\*", r"\w*"))
                elif "*" in entry:
                    globs[topic].add(translate(entry))
                else:
                    words[entry].add(topic)
    return Lexicon(dict(words), *map(_any_of, (globs, phrases, unspaced)))


def _any_of(patterns: dict[str, set[str]]) -> dict[str, re.Pattern[str]]:
    return {topic: re.compile("|".join(sorted(each))) for topic, each in patterns.items()}


def _read_word_files(language: str = "") -> list[dict[str, str]]:
    found = sorted(files(words).iterdir(), key=lambda file: file.name)
    return [
        tomllib.loads(file.read_text("utf-8"))
        for file in found
        if file.name.endswith(f"{language}.toml")
    ]


def _list_entry_spellings(text: str) -> Iterator[str]:
    """The entries of a topic in each of their spellings; phrases have blanks around them."""
    words, *rest = text.split(",")
    phrases = [[word for word in each.split() if word not in list_filler_words()] for each in rest]
    for entry in [*words.split(), *map(" ".join, phrases)]:
        for spelling in {
            fold_accents(entry.lower().translate(SPELT_OUT)),
            fold_accents(entry.lower()),
        }:
            plain = spelling.casefold().replace("_", " ")
            yield f" {plain} " if " " in plain else plain
