"""The chapter on budgets and wrong labels, and its companion on the kernel perceptron's family (encyclopedia article)."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
