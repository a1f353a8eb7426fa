"""The chapter on the delta rule and output codes (course page)."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
