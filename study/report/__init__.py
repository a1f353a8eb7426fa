"""Notebooks executed and shown: the output of their cells, words with values, documents, hand-ins."""

import sys

# jsonschema, behind the reader of notebooks, would build the grammar of all web addresses: a second in each process, for a
# check that no notebook asks for. It does without where there is none.
sys.modules["rfc3987_syntax"] = None

from study.report.display import open_chapter, show_source  # noqa: E402

__all__ = ["open_chapter", "show_source"]
