"""Each suite lets a sound table pass and names what is wrong with any other."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anon_core.specs.columns import ColumnSpec
from anon_core.tables.records import Codebook
from crowdcover.kinds.table.layout import BITS
from crowdcover.kinds.table.suites import binarized, ingested, released
from crowdcover.kinds.table.suites.checked import build_binarized_suite
from crowdcover.validations.run import validate_columns
from tests.flows.orders import Order

Columns = dict[str, NDArray[Any]]

NAN, INFINITY = float("nan"), float("inf")


def _spoiled(columns: Columns, name: str, value: object) -> Columns:
    """The columns with one value put into the third row, in a type that holds it."""
    column = columns[name]
    column = column.astype(object if value is None else np.result_type(column, np.asarray(value)))
    column[2] = value
    return {**columns, name: column}


def _without(columns: Columns, name: str) -> Columns:
    return {other: column for other, column in columns.items() if other != name}


def _first(columns: Columns, rows: int) -> Columns:
    return {name: column[:rows] for name, column in columns.items()}


def bare(name: str) -> str:
    """The attribute that a column of the frame is about."""
    return name.partition(":")[2] or name


class TestIngested:
    @pytest.fixture
    def failures(self, specs: list[ColumnSpec]) -> Any:
        suite = ingested.build_suite(specs, ["diagnosis"])
        return lambda columns: {
            str(failure) for failure in validate_columns(suite, columns).failures
        }

    def test_sound(self, failures: Any, source: Columns) -> None:
        assert failures(source) == set()

    def test_order_of_columns_is_free(self, failures: Any, source: Columns) -> None:
        assert failures(dict(reversed(source.items()))) == set()

    def test_identifier_is_present(self, failures: Any, source: Columns) -> None:
        assert failures({**source, "name": source["city"]}) == {"expect_table_columns_to_match_set"}

    @pytest.mark.parametrize("name", ["age", "born", "smokes", "city", "diagnosis"])
    def test_column_is_absent(self, failures: Any, source: Columns, name: str) -> None:
        assert "expect_table_columns_to_match_set" in failures(_without(source, name))

    def test_too_few_rows(self, failures: Any, source: Columns) -> None:
        assert failures(_first(source, 2)) == set()
        assert "expect_table_row_count_to_be_between" in failures(_first(source, 1))
        assert "expect_table_row_count_to_be_between" in failures(_first(source, 0))

    @pytest.mark.parametrize(
        ("name", "value", "expectation"),
        [
            ("age", INFINITY, "expect_column_numbers_to_be_finite"),
            ("born", -INFINITY, "expect_column_numbers_to_be_finite"),
            ("born", NAN, "expect_column_values_to_not_be_null"),
            ("city", None, "expect_column_values_to_not_be_null"),
            ("smokes", "sometimes", "expect_column_unique_value_count_to_be_between"),
        ],
    )
    def test_bad_cell(
        self, failures: Any, source: Columns, name: str, value: object, expectation: str
    ) -> None:
        assert failures(_spoiled(source, name, value)) == {f"{expectation} ({name})"}

    def test_numbers_as_text(self, failures: Any, source: Columns) -> None:
        text = np.array(["31", "32", "33", "34", "35", "36"], dtype=object)
        assert failures({**source, "age": text}) == {"expect_column_numbers_to_be_finite (age)"}

    def test_binary_column_has_only_missing_values(self, failures: Any, source: Columns) -> None:
        nothing = np.full(6, None, dtype=object)
        assert failures({**source, "smokes": nothing}) == {
            "expect_column_unique_value_count_to_be_between (smokes)"
        }


class TestBinarized:
    @pytest.fixture
    def failures(self, codebook: Codebook) -> Any:
        suite = binarized.build_suite(codebook, 6)
        return lambda columns: {
            str(failure) for failure in validate_columns(suite, columns).failures
        }

    def test_sound(self, failures: Any, packed: Columns) -> None:
        assert failures(packed) == set()

    @pytest.mark.parametrize(
        ("name", "value"), [("level:k", -1), ("level:k", 3), ("level:age", -1), ("level:age", 4)]
    )
    def test_bits_do_not_decode(
        self, failures: Any, packed: Columns, name: str, value: int
    ) -> None:
        assert failures(_spoiled(packed, name, value)) == {
            f"expect_column_levels_to_decode ({bare(name)})"
        }

    @pytest.mark.parametrize("value", [0, -1, 7])
    def test_impossible_demand(self, failures: Any, packed: Columns, value: int) -> None:
        assert failures(_spoiled(packed, "k", value)) == {"expect_column_values_to_be_between (k)"}

    def test_unknown_demand(self, failures: Any, packed: Columns) -> None:
        assert failures(_spoiled(packed, "k", NAN)) == {"expect_column_values_to_not_be_null (k)"}

    def test_lost_record(self, failures: Any, packed: Columns) -> None:
        assert failures(_first(packed, 5)) == {"expect_table_row_count_to_equal"}

    def test_group_of_few_records(self, codebook: Codebook, packed: Columns) -> None:
        """On main a group might hold one record."""
        age = replace(codebook.attributes[1], binned=True, edges=(1.0, 2.0, 3.0))
        book = Codebook((codebook.attributes[0], age))
        packed = {**packed, "level:age": np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)}
        assert validate_columns(binarized.build_suite(book, 6, 2), packed).success
        failed = validate_columns(binarized.build_suite(book, 6, 3), packed).failures
        assert {str(each) for each in failed} == {"expect_column_levels_to_be_shared (age)"}
        medians = Codebook((codebook.attributes[0], replace(age, carry="median")))
        assert validate_columns(binarized.build_suite(medians, 6, 3), packed).success

    @pytest.mark.parametrize("name", ["k", "level:k", "level:age"])
    def test_column_is_absent(self, failures: Any, packed: Columns, name: str) -> None:
        found = failures(_without(packed, name))
        assert found
        assert all(failure.endswith(f"({bare(name)})") for failure in found)


class TestReleased:
    @pytest.fixture
    def failures(self, codebook: Codebook) -> Any:
        suite = released.build_suite({"k": 3, "age": 4}, 6)
        return lambda columns: {
            str(failure) for failure in validate_columns(suite, columns).failures
        }

    def test_sound(self, failures: Any, release: Columns) -> None:
        assert failures(release) == set()

    @pytest.mark.parametrize(
        ("key", "expectation"),
        [
            (None, "expect_column_values_to_not_be_null"),
            ("000000000000000a", "expect_column_values_to_be_unique"),
            ("00000000000000AB", "expect_column_values_to_match_regex"),
            ("00000000000000zz", "expect_column_values_to_match_regex"),
            ("00000000000000c\n", "expect_column_values_to_match_regex"),
            ("00000000000000cd\n", "expect_column_value_lengths_to_equal"),
            ("\n00000000000000cd", "expect_column_values_to_match_regex"),
            ("", "expect_column_value_lengths_to_equal"),
            ("00000000000000c", "expect_column_value_lengths_to_equal"),
            ("00000000000000cde", "expect_column_value_lengths_to_equal"),
        ],
    )
    def test_bad_key(
        self, failures: Any, release: Columns, key: str | None, expectation: str
    ) -> None:
        found = failures(_spoiled(release, "key", key))
        assert f"{expectation} (key)" in found
        assert all(failure.endswith("(key)") for failure in found)

    @pytest.mark.parametrize(
        ("name", "value", "expectation"),
        [
            ("cell:k", 0, "expect_column_cells_to_allow_a_level"),
            ("cell:k", 4, "expect_column_cells_to_allow_a_level"),
            ("cell:age", 0, "expect_column_cells_to_allow_a_level"),
            ("cell:age", 5, "expect_column_cells_to_allow_a_level"),
            ("compatible", 2, "expect_crowds_to_meet_demands"),
            ("matchable", 2, "expect_crowds_to_meet_demands"),
            ("matchable", NAN, "expect_crowds_to_meet_demands"),
        ],
    )
    def test_bad_row(
        self, failures: Any, release: Columns, name: str, value: object, expectation: str
    ) -> None:
        assert failures(_spoiled(release, name, value)) == {f"{expectation} ({bare(name)})"}

    def test_untruthful_row(self, failures: Any, release: Columns) -> None:
        assert failures(_spoiled(release, "truthful", False)) == {
            "expect_rows_to_be_truthful (truthful)"
        }

    def test_raised_demand(self, failures: Any, release: Columns) -> None:
        expected = {
            f"expect_crowds_to_meet_demands ({crowd})" for crowd in ("compatible", "matchable")
        }
        assert failures(_spoiled(release, "demanded", 4)) == expected

    def test_lost_row(self, failures: Any, release: Columns) -> None:
        assert failures(_first(release, 5)) == {"expect_table_row_count_to_equal"}

    @pytest.mark.parametrize("name", ["key", "cell:k", "compatible", "matchable", "truthful"])
    def test_column_is_absent(self, failures: Any, release: Columns, name: str) -> None:
        found = failures(_without(release, name))
        assert found
        assert all(failure.endswith(f"({bare(name)})") for failure in found)

    def test_demands_are_absent(self, failures: Any, release: Columns) -> None:
        expected = {
            f"expect_crowds_to_meet_demands ({crowd})" for crowd in ("compatible", "matchable")
        }
        assert failures(_without(release, "demanded")) == expected


@pytest.mark.long
def test_the_stored_bits_are_checked_not_those_packed_anew(tmp_path: Path) -> None:
    order = Order(tmp_path)
    order.release()
    stored = order.run.whole("binarize")
    assert stored is not None
    assert validate_columns(*build_binarized_suite(stored)).success
    path = stored.file(BITS)
    with np.load(path) as kept:
        arrays = dict(kept)
    arrays["bits"][3] = 0  # no level of a category
    np.savez(path, **arrays)
    failed = validate_columns(*build_binarized_suite(stored)).failures
    assert "expect_column_levels_to_decode (city)" in set(map(str, failed))
