"""Names of what every release has, whatever its kind of data and wherever it stands."""

import re

MANIFEST = "manifest.json"
REPORT = "report.html"
SIGNATURE = "release.intoto.jsonl"  # of every other file, if the plan names a key
NOTICE = "retracted.json"  # in a folder that was put aside
KEY = "key"  # column of the random keys of released rows
MARK = ".vault"  # beside the versions: whose they are
ASIDE = "-retracted"  # behind the name of a version that was put aside
VERSION = re.compile(r"v\d+")
