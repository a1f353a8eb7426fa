"""Notebooks executed and shown: what their cells show, words with values, documents, hand-ins."""

from study.report.display import open_chapter, show_source

__all__ = ["open_chapter", "show_source"]
