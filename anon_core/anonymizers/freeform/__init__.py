"""Freeform generalization: k assignments of records to rows, segment by segment."""
