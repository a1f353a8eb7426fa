"""Notebooks executed and shown: the output of their cells, words with values, documents, hand-ins."""

from study.report.display import open_chapter, show_source

__all__ = ["open_chapter", "show_source"]
