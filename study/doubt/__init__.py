"""How sure is a prediction? Votes of an ensemble over visiting orders, rejection, conformal sets, invalid input."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
