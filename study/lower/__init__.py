"""Other learners on the same images: errors with paired tests, seconds, memory, numbers stored."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
