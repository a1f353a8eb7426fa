"""The names of the family's problems and methods, as they stand in its tables, and the columns that identify a stream."""

ODD_OR_EVEN, TEN_DIGITS = PROBLEMS = ("odd or even", "ten digits")
METHODS = ("perceptron", "oldest", "random", "forgetron", "basic forgetron", "norma")
KEYS = ["problem", "kernel", "method", "budget", "noise", "random_state"]

LAST, AVERAGED, VOTED, MARGIN, REGULARISED, NORMA, NORMA_AVERAGED, SVM = (
    "last", "averaged", "voted", "margin", "regularised", "NORMA", "NORMA, averaged", "SVM",
)  # fmt: skip
LEARNERS = {
    LAST: ("perceptron", 0.0, False, "last"),
    AVERAGED: ("perceptron", 0.0, False, "averaged"),
    VOTED: ("perceptron", 0.0, False, "voted"),
    MARGIN: ("perceptron", 1.0, False, "last"),
    REGULARISED: ("perceptron", 0.0, True, "last"),
    NORMA: ("perceptron", 1.0, True, "last"),
    NORMA_AVERAGED: ("perceptron", 1.0, True, "averaged"),
    SVM: ("svm", None, True, "last"),
}
"""What learns from wrong labels: {name: method, margin rho, whether lambda > 0, predictor}."""
PERCEPTRONS = (LAST, AVERAGED, VOTED)
"""The predictors of the perceptron itself."""
BESIDE = (AVERAGED, VOTED, MARGIN, REGULARISED)
"""The remedies, each taken alone."""

RULES = [
    ("kernel perceptron", r"if $y_t f(x_t) \le 0$: hold it, $w_t = y_t$"),
    (
        "voted",
        r"the same; predict $\operatorname{sgn} \sum_m c_m \operatorname{sgn} f_m(x)$, $c_m$ the steps that $f_m$ stood",
    ),
    ("remove the oldest", r"if $y_t f(x_t) \le 0$: hold it; with more than $B$, drop $r$"),
    ("random budget", r"if $y_t f(x_t) \le 0$: with $B$ held, drop one of them at random; hold it"),
    (
        "Forgetron, basic",
        r"as above, but before $r$ goes all $w_i \leftarrow \phi w_i$, "
        r"$\phi = \min\{(B+1)^{-1/(2(B+1))}, U / \lVert f \rVert\}$",
    ),
    (
        "Forgetron, self-tuning",
        r"the same with the largest $\phi \le 1$ for which $Q + \Psi(\phi\sigma_r, \phi\mu_r) \le \frac{15}{32} M$",
    ),
    (
        "NORMA",
        r"$w_i \leftarrow (1 - \eta\lambda) w_i$; if $y_t (f(x_t) + b) \le \rho$: hold it, $w_t = \eta y_t$, "
        r"$b \leftarrow b + \eta y_t$; drop what is $\tau$ steps old",
    ),
]
"""What each learner does with an example: its name and the rule."""

KERNELS = {"poly": "polynomial", "rbf": "RBF"}
"""Names of the kernels in words."""
