"""The names of the family's problems and methods, as they stand in its tables, and the columns that identify a stream."""

ODD_OR_EVEN, TEN_DIGITS = PROBLEMS = ("odd or even", "ten digits")
METHODS = ("perceptron", "oldest", "random", "forgetron", "basic forgetron", "norma")
KEYS = ["problem", "kernel", "method", "budget", "noise", "random_state"]
