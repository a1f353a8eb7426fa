"""Kernel perceptrons: exact, compiled, and with every predictor of Algorithm 1 read from one mistake log.

    OneVsAllKernelPerceptron     one binary kernel perceptron for each class
    OutputCodeKernelPerceptron   one for each output of a code
    MulticlassKernelPerceptron   all classes at once
    MulticlassPerceptron         the same without a kernel
    DeltaRulePerceptron          linear outputs of a code, by the delta rule
    BudgetPerceptron, Forgetron  online, on a budget of examples
    Norma                        online, by gradient descent
    Romma                        online, by the relaxed maximum margin
    MistakeLog, MulticlassLog    the mistakes of a fit
    UpdateLog                    the updates of a fit of Romma
    PREDICTORS                   the predictors that a log holds
    SharedTraining               several one-vs-all models on one training set
    predict_or_reject            labels with rejection, of any classifier
    ErrorByEpochDisplay          errors by epoch and predictor of one fit, drawn

The classifiers are scikit-learn estimators. `fit` learns, `predict` answers, `staged_predict` compares all epochs and
predictors of one fit:

>>> from sklearn.datasets import load_digits
>>> from kp import OneVsAllKernelPerceptron
>>> X, y = load_digits(return_X_y=True)
>>> model = OneVsAllKernelPerceptron(degree=3, max_iter=2, random_state=0)
>>> round(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]), 3)
0.937

The algorithm is in kp.perceptron, its kernels in kp.kernels, its predictors in kp.predictors.
"""

from kp.budget import BudgetPerceptron, Forgetron, Norma
from kp.delta_rule import DeltaRulePerceptron
from kp.display import ErrorByEpochDisplay
from kp.estimator import predict_or_reject
from kp.mistakes import PREDICTORS, MistakeLog, MulticlassLog, UpdateLog
from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from kp.one_vs_all import OneVsAllKernelPerceptron
from kp.output_codes import OutputCodeKernelPerceptron
from kp.romma import Romma
from kp.shared import SharedTraining

__version__ = "1.0.0"
__all__ = [
    "PREDICTORS", "BudgetPerceptron", "DeltaRulePerceptron", "ErrorByEpochDisplay", "Forgetron", "MistakeLog",
    "MulticlassKernelPerceptron", "MulticlassLog", "MulticlassPerceptron", "Norma", "OneVsAllKernelPerceptron",
    "OutputCodeKernelPerceptron", "Romma", "SharedTraining", "UpdateLog", "predict_or_reject",
]  # fmt: skip
