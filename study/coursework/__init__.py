"""The protocol of course assignments on kernel perceptrons, on any registered dataset."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
