"""Matter before the contents of a report, and at its end."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
