"""Methods of others, to compare with: plain functions that return classes or holders of rows."""
