"""Names of what every release has, whatever its kind of data."""

MANIFEST = "manifest.json"
REPORT = "report.html"
NOTICE = "retracted.json"  # in a folder that was put aside
KEY = "key"  # column of the random keys of released rows
