"""Kernel perceptrons: exact, compiled, and with every predictor of Algorithm 1 read from one mistake log.

    OneVsAllKernelPerceptron            one binary kernel perceptron for each class
    MulticlassKernelPerceptron          all classes at once; MulticlassPerceptron is the linear case
    OutputCodeKernelPerceptron          one perceptron for each output of a code
    DeltaRulePerceptron                 linear outputs of a code, learnt by the delta rule
    BudgetPerceptron, Forgetron, Norma  online, on a budget
    KernelRidgeClassifier               regularised least squares with the self-tuning kernel
    MistakeLog, MulticlassLog           the mistakes of a fit, and its predictors (PREDICTORS)
    predict_or_reject                   labels with rejection, of any classifier

All are scikit-learn estimators. `fit` learns, `predict` answers, `staged_predict` compares all epochs and predictors of one
fit:

>>> from sklearn.datasets import load_digits
>>> from kp import OneVsAllKernelPerceptron
>>> X, y = load_digits(return_X_y=True)
>>> model = OneVsAllKernelPerceptron(degree=3, max_iter=2, random_state=0).fit(X[:1000], y[:1000])
>>> round(model.score(X[1000:], y[1000:]), 3)
0.928

The algorithm is in kp.perceptron, its kernels in kp.kernels, its predictors in kp.predictors.
"""

from kp.budget import BudgetPerceptron, Forgetron, Norma
from kp.delta_rule import DeltaRulePerceptron
from kp.estimator import predict_or_reject
from kp.least_squares import KernelRidgeClassifier
from kp.mistakes import PREDICTORS, MistakeLog, MulticlassLog
from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from kp.output_codes import OneVsAllKernelPerceptron, OutputCodeKernelPerceptron

__version__ = "0.1.0"
__all__ = [
    "PREDICTORS", "BudgetPerceptron", "DeltaRulePerceptron", "Forgetron", "KernelRidgeClassifier", "MistakeLog",
    "MulticlassKernelPerceptron", "MulticlassLog", "MulticlassPerceptron", "Norma", "OneVsAllKernelPerceptron",
    "OutputCodeKernelPerceptron", "predict_or_reject",
]  # fmt: skip
