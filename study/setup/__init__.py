"""Matter before the contents of a report, and at its end."""
