"""Reports for people: report.html (`page`), markdown and terminal (`summary`), `verdicts`."""
