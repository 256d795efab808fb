"""Where the validators of files are installed: `make validators`."""

import os
import sys
from pathlib import Path

VALIDATORS = Path(os.environ.get("CROWDCOVER_VALIDATORS", Path(sys.prefix) / "validators"))
