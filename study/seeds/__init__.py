"""The chapter on kernel least squares and the seeds data (Akar & Ye 2017)."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
