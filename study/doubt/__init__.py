"""How sure is a prediction? Votes of an ensemble over visiting orders, rejection, conformal sets, invalid input."""
