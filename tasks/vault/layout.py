"""Names of what every release has, whatever its kind of data."""

MANIFEST = "manifest.json"
REPORT = "report.html"
KEY = "key"  # column of the random keys of released rows
