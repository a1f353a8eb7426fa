"""The chapters on the published tables (Xu & Zhang 2005, Tables I to III)."""

from study.rooms import face

__getattr__, __dir__ = face(__name__)
