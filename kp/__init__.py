"""Kernel perceptrons: exact, compiled, and with every predictor of Algorithm 1 read from one mistake log."""

from kp.mistakes import PREDICTORS, MistakeLog, MulticlassLog
from kp.multiclass import MulticlassKernelPerceptron, MulticlassPerceptron
from kp.output_codes import OneVsAllKernelPerceptron

__version__ = "0.1.0"
__all__ = [
    "PREDICTORS",
    "MistakeLog",
    "MulticlassKernelPerceptron",
    "MulticlassLog",
    "MulticlassPerceptron",
    "OneVsAllKernelPerceptron",
]
