"""Kernel perceptrons: exact, compiled, and with every predictor of Algorithm 1 read from one mistake log."""

from kp.budget import BudgetPerceptron, Forgetron, Norma
from kp.delta_rule import DeltaRulePerceptron
from kp.estimator import predict_or_reject
from kp.least_squares import KernelRidgeClassifier
from kp.mistakes import PREDICTORS, MistakeLog, MulticlassLog
from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from kp.output_codes import OneVsAllKernelPerceptron, OutputCodeKernelPerceptron
from kp.romma import Romma, UpdateLog

__version__ = "0.1.0"
__all__ = [
    "PREDICTORS", "BudgetPerceptron", "DeltaRulePerceptron", "Forgetron", "KernelRidgeClassifier", "MistakeLog",
    "MulticlassKernelPerceptron", "MulticlassLog", "MulticlassPerceptron", "Norma", "OneVsAllKernelPerceptron",
    "OutputCodeKernelPerceptron", "Romma", "UpdateLog", "predict_or_reject",
]  # fmt: skip
