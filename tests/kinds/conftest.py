"""Plans that tests of kinds see refused are checked, too."""

from tests.support.checked import _refusals_are_checked  # noqa: F401 - a fixture of all tests here
