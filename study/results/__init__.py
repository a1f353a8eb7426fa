"""Computed results and how they are kept: declared experiments, stored tables, fingerprints of the code behind them."""
