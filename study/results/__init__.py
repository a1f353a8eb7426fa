"""What is computed and kept: declared experiments, their stored results, and the fingerprints of the code behind them."""
