"""The paper's data sets as tables of bits, real ones from CROWDCOVER_DATA, others drawn.

Every draw is seeded. A drawn row takes its columns from several real rows that have something in
common, so distinct rows grow with n: of 126,084 drawn payments 67,251 are distinct, of as many real
ones 61,275; of 43,130 drawn people 18,311, of as many real ones 16,304.
"""

from dataclasses import replace

import numpy as np
import polars as pl

from anon_core.specs.columns import ColumnSpec
from anon_core.specs.demands import Demand
from anon_core.tables import encoding, orders
from anon_core.tables.demands import resolve_demands
from anon_core.tables.records import Attribute, BinaryTable, Codebook
from benchmarks import data_file

WIDE = Demand(uniform=(5, 100), seed=7)  # the paper's k of its larger sets
NARROW = Demand(uniform=(2, 10), seed=7)  # and of the Facebook networks
FIVE = Demand(constant=5)

FACEBOOK = ("student_fac", "gender", "major_index", "second_major", "dorm", "year")
ADULT = (
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
    "income",
)
ADULT_PLACES = (1, 3, 5, 6, 7, 8, 9, 13, 14)

PHYSICIAN = ("Physician_Specialty", "Recipient_City", "Physician_Primary_Type")
STATE = "Applicable_Manufacturer_or_Applicable_GPO_Making_Payment_State"
MANUFACTURER = "Applicable_Manufacturer_or_Applicable_GPO_Making_Payment_Name"
MANUFACTURERS = 105  # the most frequent ones; the rest is one level
AMOUNT, DATE = "Total_Amount_of_Payment_USDollars", "Date_of_Payment"
PAYMENT = ("Form_of_Payment_or_Transfer_of_Value", "Nature_of_Payment_or_Transfer_of_Value")

PERSON = ("SEX", "MSP", "EDU", "DREM", "DEYE")
ORIGIN = ("RAC1P", "HISP")
HOME = ("HOUSING_TYPE", "OWN_RENT")
INCOME, AGE = "PINCP_DECILE", "AGEP"


# ---------------------------------------------------------------- real rows


def facebook(school):
    """A Facebook100 network: six attributes without the high school, "unknown" as a level.

    Of all choices of attributes, with and without that level, only this one gives the paper's 101,
    139, 145 and 140 features.
    """
    frame = read(f"facebook100/{school}.nodes.csv.gz").select(pl.col(FACEBOOK).replace("0", None))
    return coded(frame, NARROW)


def adult():
    """UCI Adult: 8 categorical columns and income without a level for '?', 101 features.

    An unknown value (4,262 of 293,049) reads as the column's most frequent one, so that every
    column stays one-hot.
    """
    frame = _adult()
    return coded(
        frame.with_columns(
            pl.col(name).fill_null(frame[name].drop_nulls().mode().min()) for name in ADULT
        ),
        WIDE,
    )


def adult_zeros():
    """The same with no bit of a column set where its value is unknown: 101 one-bit attributes."""
    frame = _adult()
    levels = [
        (frame[name], label) for name in ADULT for label in frame[name].drop_nulls().unique().sort()
    ]
    flags = [(column == label).fill_null(value=False).to_numpy() for column, label in levels]
    return encoding.from_bits(np.stack(flags, axis=1), demanded(WIDE, frame.height))


def adult_people(places):
    """All 48,842 records of both files, as text: columns by name and place; null is unknown."""
    parts = [read(f"adult/adult.{part}.gz", has_header=False) for part in ("data", "test")]
    return pl.concat([part.drop_nulls("column_1").cast(pl.String) for part in parts]).select(
        pl.nth(place).str.strip_chars(" .").replace("?", None).alias(name)
        for name, place in places.items()
    )


def _adult():
    frame = read("adult/adult.data.gz", has_header=False).drop_nulls(
        "column_1"
    )  # the file ends in an empty line
    return frame.select(
        pl.nth(place).str.strip_chars().replace("?", None).alias(name)
        for place, name in zip(ADULT_PLACES, ADULT, strict=True)
    )


# ---------------------------------------------------------------- rows drawn from real ones


def cms_like(records):
    """Payments like those of Open Payments under 512 features; see `_payments`."""
    frame = _payments_frame()
    frequent = frame[MANUFACTURER].value_counts(sort=True)[MANUFACTURER].head(MANUFACTURERS)
    named = pl.col(MANUFACTURER)
    frame = frame.with_columns(
        pl.when(named.is_in(frequent.implode())).then(named).otherwise(pl.lit("other"))
    )
    deciles = [
        ColumnSpec(name=name, kind="numeric", bins=10, carry="median") for name in (AMOUNT, DATE)
    ]
    return _payments(frame, (*PHYSICIAN, STATE, MANUFACTURER, *PAYMENT), deciles, records, WIDE)


def open_payments(records):
    """Payments under the columns of examples/openpayments.toml, k = 5; see `_payments`."""
    deciles = [
        ColumnSpec(name=name, kind="numeric", bins=10, encoding="ordinal", carry="median")
        for name in (AMOUNT, DATE)
    ]
    return _payments(_payments_frame(), (*PHYSICIAN[:2], STATE, *PAYMENT), deciles, records, FIVE)


def survey():
    """All 43,130 people of the three NIST excerpts of the American Community Survey."""
    places = ("national", "ma", "tx")
    return pl.concat([read(f"census-like/nist_acs_{place}2018.csv.gz") for place in places])


def census_like(records):
    """People like those of the NIST excerpts of the American Community Survey, 68 features.

    A row joins a person, the income of another of that age and schooling, the origin of one of that
    district, and the home of one of that origin and marital status.
    """
    frame = survey().with_columns(pl.col(AGE).cast(pl.Float64))
    real = coded(
        frame,
        FIVE,
        (*PERSON, *ORIGIN, *HOME, INCOME),
        [ColumnSpec(name=AGE, kind="numeric", bins=10, carry="median")],
    )
    generator = np.random.default_rng(11)
    person = generator.integers(0, frame.height, records)
    earner = companions(numbered(frame, (AGE, "EDU")), person, generator)
    neighbour = companions(numbered(frame, ("PUMA",)), person, generator)
    household = companions(numbered(frame, ("RAC1P", "MSP")), person, generator)
    return mixed(
        real, {(AGE, *PERSON): person, (INCOME,): earner, ORIGIN: neighbour, HOME: household}, WIDE
    )


def _payments_frame():
    frame = read("openpayments/open_payments_gnrl_iowa_2013_2015.csv.gz").fill_null("")
    days = pl.col(DATE).str.to_date("%m/%d/%Y").cast(pl.Int32).cast(pl.Float64)
    return frame.with_columns(pl.col(AMOUNT).cast(pl.Float64), days)


def _payments(frame, names, deciles, records, demand):
    """Draw rows; see `payment_rows`."""
    return mixed(coded(frame, demand, names, deciles), payment_rows(frame, records), demand)


def payment_rows(frame, records):
    """Rows of `frame` by columns: a physician, a maker that paid its specialty and city, a payment.

    The payment is one of that maker to that specialty.
    """
    generator = np.random.default_rng(11)
    physician = generator.integers(0, frame.height, records)
    maker = companions(numbered(frame, PHYSICIAN[:2]), physician, generator)
    payment = companions(numbered(frame, (MANUFACTURER, PHYSICIAN[0])), maker, generator)
    return {
        PHYSICIAN: physician,
        (STATE, MANUFACTURER): maker,
        (*PAYMENT, AMOUNT, DATE): payment,
    }


def companions(key, rows, generator):
    """For each of `rows` a random row with the same key."""
    order = np.argsort(key, kind="stable")
    first = np.searchsorted(key[order], np.arange(key.max() + 2))
    group = key[rows]
    return order[first[group] + generator.integers(0, first[group + 1] - first[group])]


def mixed(real, sources, demand):
    """Return a table whose columns come from rows of `real`; `sources` maps columns to rows."""
    row_of = {name: rows for names, rows in sources.items() for name in names}
    codes = np.stack(
        [
            codes[row_of[a.name]]
            for a, codes in zip(real.codebook.attributes, real.codes, strict=True)
        ]
    )
    return table_of(real.codebook, codes, demanded(demand, codes.shape[1]))


# ---------------------------------------------------------------- poker hands


def poker(records):
    """Random hands of five cards, as in UCI Poker Hand: 95 features.

    Suit and rank of each card, and the class of the hand.
    """
    cards = hands(records, np.random.default_rng(5))
    suits, ranks = np.divmod(cards, 13)
    codes = np.empty((11, records), dtype=np.int32)
    codes[0:10:2], codes[1:10:2], codes[10] = suits, ranks, hand_class(suits, ranks)
    names = [f"{part}{card}" for card in range(1, 6) for part in "SC"] + ["class"]
    book = Codebook(
        tuple(one_hot(name, levels) for name, levels in zip(names, [4, 13] * 5 + [10], strict=True))
    )
    return table_of(book, codes, demanded(WIDE, records))


def hands(records, generator):
    """Draw five different cards 0..51 a hand, int8 (5, records), every order equally likely."""
    cards = np.empty((5, records), dtype=np.int8)
    for place in range(5):
        # A number among the cards left: every taken card, from the least on, moves it up by one.
        card = generator.integers(0, 52 - place, records, dtype=np.int8)
        for taken in np.sort(cards[:place], axis=0):
            card += card >= taken
        cards[place] = card
    return cards


def hand_class(suits, ranks):
    """Return 0 nothing, 1 pair, 2 two pairs, 3 three, 4 straight, 5 flush, 6 full house, 7 four.

    8 is a straight flush, 9 a royal flush.

    Suits 0..3 and ranks 0..12 (ace, two, .., king), both (5, records).
    """
    held = np.sort(
        np.stack([(ranks == rank).sum(axis=0, dtype=np.int8) for rank in range(13)]), axis=0
    )
    most, second = held[-1], held[-2]
    ordered = np.sort(ranks, axis=0)
    royal = (ordered == np.array([0, 9, 10, 11, 12])[:, None]).all(
        axis=0
    )  # the ace counts low or high
    straight = (np.diff(ordered, axis=0) == 1).all(axis=0) | royal
    flush = (suits == suits[0]).all(axis=0)
    classes = [
        flush & royal,
        flush & straight,
        most == 4,
        (most == 3) & (second == 2),
        flush,
        straight,
    ]
    classes += [most == 3, (most == 2) & (second == 2), most == 2]
    return np.select(classes, range(9, 0, -1), default=0).astype(np.int32)


# ---------------------------------------------------------------- tables


SETS = {  # name: how it is made of so many records, or as it is; the paper's number of records
    "caltech36": (lambda: facebook("Caltech36"), None),
    "reed98": (lambda: facebook("Reed98"), None),
    "haverford76": (lambda: facebook("Haverford76"), None),
    "simmons81": (lambda: facebook("Simmons81"), None),
    "adult": (adult, None),
    "adult-zeros": (adult_zeros, None),
    "census": (census_like, 158_285),
    "poker": (poker, 500_000),
    "cms": (cms_like, 745_280),
    "open-payments": (open_payments, 126_084),
}


def table(name, records=None):
    """A set of `SETS`; real ones are cut to `records`, others drawn at that size."""
    make, usual = SETS[name]
    if usual is not None:
        return make(records or usual)
    whole = make()
    return whole if records is None else cut(whole, records)


def cut(whole, records):
    """The first records of a table."""
    first = whole.at(np.arange(records))
    return replace(first, k=np.minimum(first.k, np.int32(records)))


def read(name, *, has_header=True, separator=","):
    return pl.read_csv(
        data_file(name), has_header=has_header, separator=separator, infer_schema=False
    )


def coded(frame, demand, names=None, numeric=()):
    """Encode the named categorical columns (all, if none is named) and numeric ones."""
    specs = [ColumnSpec(name=name, kind="categorical") for name in names or frame.columns] + list(
        numeric
    )
    columns = {spec.name: frame[spec.name].to_numpy() for spec in specs}
    return encoding.encode(encoding.fit(specs, columns), columns, demanded(demand, frame.height))


def numbered(frame, names):
    """The group of each row, 0.., by the values of some columns."""
    return frame.select(pl.struct(names).rank("dense")).to_series().to_numpy().astype(np.int64) - 1


def demanded(demand, records):
    """k of each record, never more than there are records."""
    top = min(demand.uniform[1], records) if demand.uniform else None
    demand = replace(demand, uniform=(min(demand.uniform[0], top), top)) if top else demand
    return resolve_demands(demand, np.ones(records, dtype=np.bool_), None)[0]


def one_hot(name, levels):
    return Attribute(
        name=name,
        kind="categorical",
        encoding="one-hot",
        labels=tuple(str(level) for level in range(levels)),
    )


def table_of(codebook, codes, k):
    return BinaryTable(
        codebook,
        codes,
        k,
        np.zeros(codes.shape, dtype=np.bool_),
    )


def distinct_rows(whole):
    return len(orders.distinct_columns(whole.codes)[1])
