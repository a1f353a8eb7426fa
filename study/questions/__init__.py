"""Questions that people ask in public, and what the study answers."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
