"""The texts of the small kind of data."""

from typing import ClassVar

from crowdcover.reports.facts import Fact
from crowdcover.reports.quantities import count, is_number
from crowdcover.reports.words import Block, Check, CheckText, PageSection


class BagWords:
    glossary = (("Group", "the lines that are published with one text"),)
    findings: ClassVar = {"groups of k": "Every published text stands for at least k lines."}
    checks_between_stages: ClassVar = {
        "ingested": CheckText("The lines as they were read", "No line is empty."),
        "encoded": CheckText("The numbered values", "Every code is a value."),
        "audited": CheckText("The guarantees", "Groups are counted in the published file."),
        "released": CheckText("The lines to be published", "Every group is counted once more."),
    }

    def subjects(self, manifest):
        return "lines"

    def demand(self, manifest):
        return f"k = {count(manifest['privacy']['k_min'])} for everyone"

    def promise(self, manifest):
        return f"Each of the {count(manifest['privacy']['records'])} lines hides in a group of k."

    def describe_no_change(self, manifest):
        return ""

    def promised(self, manifest):
        return [("Groups of k.", "Every published text stands for at least k lines.")]

    def not_promised(self, manifest):
        return [("Differential privacy.", "No noise was added.")]

    def not_promised_short(self, manifest):
        return "Not promised: differential privacy."

    def checks(self, manifest):
        below = manifest["privacy"].get("groups_below_k")
        return [Check("Groups below k", "0", count(below), is_number(below) and below == 0)]

    def warnings(self, manifest):
        return []

    def exposure(self, manifest):
        return None

    def risks(self, manifest):
        return []

    def columns(self, manifest):
        return []

    def list_unstated(self, manifest):
        return []

    def headline(self, manifest):
        return [Fact("lines", count(manifest["privacy"]["records"]))]

    def protection(self, manifest):
        return [Block("Groups", (), [Fact("Lines", count(manifest["privacy"]["records"]), "all")])]

    def utility(self, manifest):
        return [Block("Kept", (), [Fact("Shown", str(manifest["utility"]["shown"]), "of 1")])]

    def find_published_step(self, steps):
        return next((place for place, step in enumerate(steps) if step.get("published")), None)

    def sections(self, manifest, measured):
        return [PageSection("groups", "Groups", f"<p>{len(measured)} groups</p>")]


WORDS = BagWords()
