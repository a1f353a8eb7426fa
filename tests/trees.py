"""The syntax trees of the project's Python files, which several tests read: each is parsed and walked once."""

import ast
import functools


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes(path):
    """All nodes of the tree of a file."""
    return list(ast.walk(parsed(path)))
