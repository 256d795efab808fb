"""Tables: one record a row, quasi-identifiers masked."""
