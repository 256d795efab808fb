"""What data must look like at each check, in Great Expectations.

Great Expectations quotes values in its logs and can send telemetry. Both are switched off before a
module of this package imports it.
"""

import logging
import os

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")

# The level stops the loggers that inherit it; without propagation the others have no handler.
_logger = logging.getLogger("great_expectations")
_logger.setLevel(logging.CRITICAL + 1)
_logger.addHandler(logging.NullHandler())
_logger.propagate = False
