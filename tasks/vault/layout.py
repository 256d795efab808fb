"""Names of the files that every release has, whatever its kind of data."""

MANIFEST = "manifest.json"
REPORT = "report.html"
