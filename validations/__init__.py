"""What data must look like at each border, said in Great Expectations.

Great Expectations quotes values in its logs and knows a telemetry switch: both are off before any room of this package
imports it.
"""

import logging
import os

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")

# The level stops the loggers that inherit it, the closed door those that set their own.
_voice = logging.getLogger("great_expectations")
_voice.setLevel(logging.CRITICAL + 1)
_voice.addHandler(logging.NullHandler())
_voice.propagate = False
