"""What a column's name says: words that many tables use. A name is a hint, never a proof."""

import re
from functools import cached_property

WORD_ENDS = re.compile(r"(?<=[a-z])(?=[A-Z])")  # patientId
WORDS = re.compile(r"[^\W\d_]+|\d+")
TYPE_LETTERS = "cdins"  # iage, dHours: some tables put a letter for the type first


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Numbers and addresses of a person: those of the HIPAA Safe Harbor list, 45 CFR 164.514(b)(2).
OF_PEOPLE = _words(
    "ssn nin mrn npi nhs iban passport licence licences license licenses vin imei email emails "
    "phone phones telephone mobile fax surname firstname lastname fullname username nickname login"
)
IDENTIFYING = OF_PEOPLE | _words(
    "id ids uuid guid identifier account acct certificate plate serial ip url mail address "
    "addresses street"
)
NAME = _words("name names")
WHO = _words(
    "person patient physician doctor nurse member subject participant respondent customer client "
    "user employee student pupil teacher individual beneficiary enrollee applicant inmate donor "
    "resident citizen voter taxpayer victim driver passenger household case record node"
)
NUMBERS = _words("number nr no")
NUMBERING = NUMBERS | _words("num")
COMPOUND_ID = re.compile(
    r"(person|patient|pat|user|customer|cust|client|subject|subj|member|resp|student|stud|employee"
    r"|emp|household|hh|case|record|rec|node)ids?"
)
FIRM = _words(
    "manufacturer company firm employer vendor supplier organisation organization org entity bank "
    "insurer agency merchant business corporation"
)
PRODUCT = _words("drug product device brand model medicine biological item")
PLACE = _words(
    "city town village municipality zip zipcode postcode postal plz county state province region "
    "district country nation tract block neighborhood neighbourhood borough fips place "
    "metro msa geocode statenum"
)
POSITION = _words("lat latitude lon lng long longitude")
CODED = _words(
    "code codes cd index idx type class category cat group grp status flag kind mode choice race "
    "ethnic ethnicity hispanic sex gender marital occupation job industry major school university "
    "college dorm hospital clinic ward department unit relationship relation language citizenship "
    "color colour procedure version"
)
COUNTED = _words(
    "count counts cnt children kids siblings persons people visits members size total "
    "times quantity qty rooms"
)
MEASURED = _words(
    "age ages year years yr yrs hour hours hrs week weeks day days month months minutes mins "
    "duration height length width distance weight bmi temperature pressure rate ratio percent "
    "percentage pct score rating density population speed dose price value mean avg average tenure"
)
TIME_AT_END = re.compile(r"(days?|years?|yrs?|hours|weeks|months)$")  # studydays
SAMPLING = _words("sample sampling survey final person household design frequency expansion")
WEIGHT = re.compile(
    r"wgh?t|^(per|person|hh|house|p|h|f|fnl|final|samp|sample)wts?\d*$|^wt(fin|samp|mec|int)"
)
HEALTH = re.compile(
    r"diagnos|diseas|illness|disab|handicap|impair|injur|^icd|^hiv|^aids$|cancer|tumou?r|health"
    r"|hlth|^medic(al|ation|are|aid)|therap|treatment|symptom|chronic|psych|mental$|pregnan|abort"
    r"|surviv|suicid|overdose|allerg|genetic|genom"
)
MONEY = re.compile(
    r"income|salar|wages?$|(?<!l)earning|revenue|poverty|^pov|debt|^credit|^loans?$|mortgage"
    r"|bankrupt|^capital$|^benefits?$|welfare|pension|^assets?$|wealth|dividend"
    r"|^(p|h|hh|f|fam|tot|net|gross)?inc(p|tot|wage)?$"
)
PAID = re.compile(  # of numbers only: a form of payment is no amount
    r"payment|^amounts?$|^charges?$|^costs?$|^claims?$|^balance$|^tax(es)?$|^fees?$|^paid$"
    r"|dollars?$|^usd$|^eur(os?)?$|^expen[sd]|^spen[dt]|^bill(s|ed)?$|donation"
)
PRIVATE = re.compile(
    r"religio|^church|^faith$|politic|^party$|^vot(e|ed|es|ing)$|^union$|sexual|^affairs?$|crim(e|in)"
    r"|convict|^arrest|^offen[cs]e|prison|felony|abuse|alcohol|addict"
)


class Name:
    """The words of one name, and what they say."""

    def __init__(self, name: str) -> None:
        self.words = [word.lower() for word in WORDS.findall(WORD_ENDS.sub(" ", name))]
        bare = {word[1:] for word in self.words if word[0] in TYPE_LETTERS and len(word) > 3}
        self._said = {*self.words, *bare}

    @cached_property
    def identifies(self) -> bool:
        """Someone's name, number or address, or the number of a record."""
        if self._has(FIRM):
            return False
        if OF_PEOPLE & set(self.words) or (self.of_a_person and self.numbers_something):
            return True
        if self._has(PRODUCT | PLACE | CODED) or self.sensitive:
            return False
        return self._has(NAME) or self.numbers_something

    @cached_property
    def only_who(self) -> bool:
        """Nothing but a word for people, such as `individual`: their number, or yes and no."""
        return bool(self.words) and set(self.words) <= WHO | NUMBERING and self._has(WHO)

    @cached_property
    def numbers_something(self) -> bool:
        """A number or address of something, be it a person or a thing."""
        if len(self.words) > 1 and self.words[-1] in NUMBERS:  # case number; not number of cases
            return True
        return bool(IDENTIFYING & set(self.words)) or any(map(COMPOUND_ID.fullmatch, self.words))

    @cached_property
    def of_a_person(self) -> bool:
        """A person is meant, not a case, record or thing."""
        return self._has(WHO - {"case", "record", "node"})

    @cached_property
    def of_a_firm(self) -> bool:
        """Name or number of a firm."""
        return self._has(FIRM) and (self._has(NAME) or self.numbers_something)

    @cached_property
    def sensitive(self) -> str:
        """What nobody should learn about a person, in a word; empty if the name says nothing."""
        for topic, stems in (("health", HEALTH), ("money", MONEY), ("private life", PRIVATE)):
            if any(map(stems.search, self._said)):
                return topic
        return ""

    @cached_property
    def paid(self) -> bool:
        """An amount of money, if the values are numbers."""
        return any(map(PAID.search, self.words))

    @cached_property
    def weighs(self) -> bool:
        """A sampling weight: how many people of the population a row stands for."""
        spelt_out = "weight" in self.words and self._has(SAMPLING)
        return spelt_out or any(map(WEIGHT.search, self.words))

    @cached_property
    def place(self) -> bool:
        """A part of a country, or a country."""
        return self._has(PLACE)

    @cached_property
    def position(self) -> bool:
        """A coordinate."""
        return self._has(POSITION)

    @cached_property
    def coded(self) -> bool:
        """Numbers under this name are codes of things."""
        return self.numbers_something or self._has(CODED | PLACE | FIRM | PRODUCT)

    @cached_property
    def counted(self) -> bool:
        """Numbers under this name are counts; the number of a place or thing is a code."""
        return self._has(COUNTED) or (self._has(NUMBERING) and not self.coded)

    @cached_property
    def measured(self) -> bool:
        """Numbers under this name are amounts of a unit."""
        return self._has(MEASURED) or any(map(TIME_AT_END.search, self.words))

    @cached_property
    def known(self) -> bool:
        """Some word is one that tables use for columns."""
        says = (self.sensitive, self.paid, self.weighs, self.coded, self.counted, self.measured)
        return self.identifies or self.only_who or any(says)

    def _has(self, words: frozenset[str]) -> bool:
        return not words.isdisjoint(self._said)
