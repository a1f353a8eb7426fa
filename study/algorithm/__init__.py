"""The chapter on the algorithm and its predictors (Hermans 2021, Algorithm 1 and section 3)."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
