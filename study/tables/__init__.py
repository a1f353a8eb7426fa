"""The chapters on the published tables (Xu & Zhang 2005, Tables I to III)."""
