"""The first page: the results of all chapters that it, the conclusion and README quote."""
