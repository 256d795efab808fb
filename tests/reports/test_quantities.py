"""Numbers of people that a published share stands for."""

import pytest

from crowdcover.reports.quantities import count_share


@pytest.mark.parametrize("records", [40, 999, 6_366, 10**8, 10**9])
def test_a_share_in_thousandths_counts_in_whole_numbers(records):
    """The float 0.282 times 10^8 is below the whole number, by more than 10^-9."""
    for part in range(1001):
        assert count_share(part / 1000, records) == part * records // 1000
