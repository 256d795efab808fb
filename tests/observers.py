"""What tests watch an anonymizer with."""

from anon_core.steps import Observer


class Seen(Observer):
    """Remembers what it is told."""

    def __init__(self):
        self.expected, self.records, self.states = [], [], []

    def expects(self, steps):
        self.expected.append(steps)

    def report_records(self, records):
        self.records.append(records)

    def on_step(self, state):
        self.states.append(state)
