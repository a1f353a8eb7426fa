"""The chapter on three forms for several classes, and Xu and Zhang's algorithm (2005, eqs 2 to 11, Figs 1 to 3)."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
