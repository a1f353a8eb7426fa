"""Executed notebooks and what is made of them: what cells show, running notebooks, the report."""
