"""What a column's name says: words that many tables use. A name is a hint, never a proof."""

from functools import cached_property

from crowdcover.kinds.table.starter.lexicon import load_lexicon, tokenize_name, topics_of


class Name:
    """The words of one name, and what they say."""

    def __init__(self, name: str) -> None:
        self.words = tokenize_name(name)

    @cached_property
    def topics(self) -> frozenset[str]:
        """What the words are about."""
        return topics_of(self.words)

    @cached_property
    def identifies(self) -> bool:
        """Someone's name, number or address, or the number of a record."""
        # Before all others: a firm's name or a kind of contact names nobody.
        if self._means("firm") or self.describes:
            return False
        if self._means("person"):
            return True
        if self.of_a_person and (self._means("name") or self.numbers_something):
            return True
        if self._means("product", "place", "code", "birth") or self.sensitive:
            return False
        return self._means("name") or self.numbers_something

    @cached_property
    def describes(self) -> bool:
        """The kind of something, such as `phone type`."""
        ends = {self.words[0], self.words[-1]} if len(self.words) > 1 else set()
        return any("attribute" in load_lexicon().words.get(word, ()) for word in ends)

    @cached_property
    def is_only_a_name(self) -> bool:
        """A name of somebody or something: `nombre`, which is French for a number, too."""
        return (
            self._means("name") and not self._means("person", "who") and not self.numbers_something
        )

    @cached_property
    def only_who(self) -> bool:
        """Nothing but a word for people, such as `individual`: their number, or yes and no."""
        words = load_lexicon().words
        about = [words.get(word, set()) for word in self.words]
        people = [each & {"who", "unit"} for each in about]
        return any(people) and all(
            who or each & {"number", "numbering"} for who, each in zip(people, about, strict=True)
        )

    @cached_property
    def numbers_something(self) -> bool:
        """A number or address of something, be it a person or a thing."""
        words = load_lexicon().words
        if len(self.words) > 1 and "number" in words.get(self.words[-1], ()):
            return True  # case number; not number of cases
        # patientid and patientids: no capital parts their words.
        holders = (w.removesuffix("s").removesuffix("id") for w in self.words if "id" in w[-3:])
        compound = any("holder" in words.get(holder, ()) for holder in holders)
        return compound or self._means("identifying")

    @cached_property
    def of_a_person(self) -> bool:
        """A person is meant, not a case, record or thing."""
        return self._means("who")

    @cached_property
    def of_a_firm(self) -> bool:
        """Name or number of a firm."""
        return self._means("firm") and (self._means("name", "person") or self.numbers_something)

    @cached_property
    def sensitive(self) -> str:
        """What nobody should learn about a person, in a word; empty if the name says nothing."""
        said = {"health": "health", "money": "money", "private": "private life"}
        return next((word for topic, word in said.items() if topic in self.topics), "")

    @cached_property
    def flags(self) -> bool:
        """Yes or no by its first word, such as `is_recid`."""
        return len(self.words) > 1 and "flag" in load_lexicon().words.get(self.words[0], ())

    @cached_property
    def recidivism(self) -> bool:
        """`recid`: a new offence, or the number of a record."""
        return "recid" in self.words

    @cached_property
    def is_money(self) -> bool:
        """An amount of money, if the values are numbers."""
        return self._means("paid")

    @cached_property
    def weighs(self) -> bool:
        """A sampling weight: how many people of the population a row stands for."""
        return self._means("weight") or (self._means("sampling") and "weight" in self.words)

    @cached_property
    def of_a_body(self) -> bool:
        """A word for the weight of a body, which may also be a sampling weight."""
        return self._means("body")

    @cached_property
    def place(self) -> bool:
        """A part of a country, or a country."""
        return self._means("place")

    @cached_property
    def position(self) -> bool:
        """A coordinate."""
        return self._means("position")

    @cached_property
    def coded(self) -> bool:
        """Numbers under this name are codes of things."""
        return self.numbers_something or self._means("code", "place", "firm", "product")

    @cached_property
    def is_counted(self) -> bool:
        """Numbers under this name are counts; the number of a place or thing is a code."""
        return self._means("count") or (self._means("number", "numbering") and not self.coded)

    @cached_property
    def measured(self) -> bool:
        """Numbers under this name are amounts of a unit."""
        return self._means("measure", "age", "birth")

    @cached_property
    def age(self) -> bool:
        """An age."""
        return self._means("age")

    @cached_property
    def birth(self) -> bool:
        """The time of a birth, or its place."""
        return self._means("birth")

    @cached_property
    def note(self) -> bool:
        """Free text, such as remarks."""
        return self._means("note")

    @cached_property
    def known(self) -> bool:
        """Some word is one that tables use for columns."""
        says = (
            self.sensitive,
            self.is_money,
            self.weighs,
            self.coded,
            self.is_counted,
            self.measured,
        )
        return self.identifies or self.only_who or self.note or any(says)

    def _means(self, *topics: str) -> bool:
        """Whether a word of the name belongs to one of these topics of the lexicon."""
        return not self.topics.isdisjoint(topics)
