"""The chapters on MNIST at degrees 1 to 6 (Hermans 2021, sections 3 to 7)."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
