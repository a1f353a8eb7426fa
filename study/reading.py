"""What a process reads of the project's files: an execution of a notebook keeps the list, and belongs to those files.

Names are paths relative to the project; "data/registry.toml#iris" is one entry of that file. What lies below build/ or
outside of the project is left out. Where the environment variable KP_NOTES names a file, each name is written there, too, a
line for each: a kernel tells by it what it has read.
"""

import os
from pathlib import Path

from study import BUILD, ROOT

NOTES = "KP_NOTES"
READ = set()
"""The names of what this process has read."""


def noted(path, entry=""):
    """The path of a file that is read now, after a note of it."""
    path = Path(path)
    if path.is_relative_to(ROOT) and not path.is_relative_to(BUILD):
        name = f"{path.relative_to(ROOT).as_posix()}{entry and '#'}{entry}"
        READ.add(name)
        if notes := os.environ.get(NOTES):
            with open(notes, "a", encoding="utf-8") as file:
                file.write(f"{name}\n")
    return path
