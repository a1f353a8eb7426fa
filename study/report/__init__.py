"""Notebooks executed and shown: the output of their cells, words with values, documents, hand-ins.

It is a room (study.rooms): what notebooks take from it, `open_chapter` and `show_source`, loads the libraries that draw;
documents and the batch do without.
"""

import sys

from study.rooms import face

# jsonschema, behind the reader of notebooks, would build the grammar of all web addresses: a second in each process, for a
# check that no notebook asks for. It does without where there is none.
sys.modules["rfc3987_syntax"] = None

__getattr__, __dir__ = face(__name__)
