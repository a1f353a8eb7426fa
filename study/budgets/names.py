"""The names of the family's problems and methods, as they stand in its tables, and the columns that identify a stream."""

ODD_OR_EVEN = "odd or even"
TEN_DIGITS = "ten digits"
PROBLEMS = (ODD_OR_EVEN, TEN_DIGITS)
METHODS = ("perceptron", "oldest", "random", "forgetron", "basic forgetron", "norma")
KEYS = ["problem", "kernel", "method", "budget", "noise", "random_state"]

FINAL = "final"
AVERAGE = "average"
VOTED = "voted"
MARGIN = "margin"
REGULARISED = "regularised"
MARGIN_AVERAGE = "margin, average"
NORMA = "NORMA"
NORMA_AVERAGE = "NORMA, average"
SVM = "SVM"
LEARNERS = {
    FINAL: ("perceptron", 0.0, False, "last"),
    AVERAGE: ("perceptron", 0.0, False, "averaged"),
    VOTED: ("perceptron", 0.0, False, "voted"),
    MARGIN: ("perceptron", 1.0, False, "last"),
    REGULARISED: ("perceptron", 0.0, True, "last"),
    MARGIN_AVERAGE: ("perceptron", 1.0, False, "averaged"),
    NORMA: ("perceptron", 1.0, True, "last"),
    NORMA_AVERAGE: ("perceptron", 1.0, True, "averaged"),
    SVM: ("svm", None, True, "last"),
}
"""Learners from wrong labels: {name: method, margin rho, whether lambda > 0, predictor as the stored tables call it}."""
PERCEPTRONS = (FINAL, AVERAGE, VOTED)
"""The predictors of the perceptron itself."""
BESIDE = (AVERAGE, VOTED, MARGIN, REGULARISED)
"""The remedies, each taken alone."""
PAIRS = (
    *((name, FINAL) for name in (*BESIDE, NORMA)),
    *((AVERAGE, NORMA), (MARGIN, NORMA), (NORMA_AVERAGE, NORMA), (NORMA_AVERAGE, SVM)),
)
"""The pairs of learners whose errors are compared: one family of tests at each rate of wrong labels."""

KERNELS = {"poly": "polynomial", "rbf": "RBF"}
"""Names of the kernels in words."""

NAMES = {
    "perceptron": "perceptron, no budget",
    "oldest": "remove the oldest",
    "random": "remove a random one",
    "forgetron": "Forgetron, self-tuning",
    "basic forgetron": "Forgetron, basic",
    "norma": r"NORMA ($\rho = 0$)",
}
"""Names of the methods in figures and tables."""
