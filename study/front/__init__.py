"""The first page: the results of all chapters that it, the conclusion and README quote."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
