"""What a message tells its reader to use exists."""

import ast
import re
from pathlib import Path

from sklearn.svm import SVC
from trees import nodes

ROOT = Path(__file__).parents[1]
PROGRAMS = [*sorted((ROOT / "kp").glob("*.py")), *sorted((ROOT / "study").rglob("*.py")), ROOT / "bootstrap.py"]
FILES = {path.name for path in ROOT.glob("*")} | {path.name for path in (ROOT / "data").glob("*")}
FILES |= {path.name for path in (ROOT / "study").glob("*/*.toml")}
NAME = re.compile(r"(?<![\w/.'-])(?:[a-z]\w*\.)*[a-z]+(?:_[a-z0-9]+)*(?:\.[a-z]\w*)*(?![\w/-])")


def strings(node):
    """The literal pieces of all strings in a node."""
    return [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]


SAYING = {"warn", "exit", "error"}
"""Functions that say something to the reader: warnings.warn, sys.exit, an argument parser's error."""


def messages():
    """(file, text) of what is raised anywhere, and of what is said otherwise."""
    for path in PROGRAMS:
        for node in nodes(path):
            said = node.exc if isinstance(node, ast.Raise) else node
            if not isinstance(said, ast.Call):
                continue
            if said is not node or getattr(said.func, "attr", "") in SAYING:
                yield from ((path.relative_to(ROOT).as_posix(), text) for each in said.args for text in strings(each))


def defined():
    """All names that the programs define: functions, classes, parameters, variables and attributes; modules, too."""
    found = {path.stem for path in PROGRAMS} | {path.parent.name for path in PROGRAMS}
    for path in PROGRAMS:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.arg | ast.keyword):
                found.add(node.arg)
            elif isinstance(getattr(node, "ctx", None), ast.Store):
                found.add(getattr(node, "id", getattr(node, "attr", None)))
    return found


def unknown(text, names, files):
    """The names with a dot or an underscore in a text that are neither defined nor a file."""
    words = {word for word in NAME.findall(text) if re.search(r"\w[._]\w", word)}
    return {word for word in words if word not in files and word.rpartition(".")[2] not in names}


def test_names_in_messages_are_defined():
    names = defined() | set(SVC().get_params())
    files = FILES | {path.name for path in PROGRAMS}
    assert unknown("show it with show_figure", names, files) == {"show_figure"}
    assert unknown("show it with chapter.figure, or see figures.py", names, files) == set()
    assert any(path == "kp/delta_rule.py" and "set max_iter" in text for path, text in messages()), "warnings, too"
    found = {(path, word) for path, text in messages() for word in unknown(text, names, files)}
    assert found == set()


def test_commands_in_messages_are_there():
    texts = [text for path in PROGRAMS for text in strings(nodes(path)[0])]
    named = {tuple(found) for text in texts for found in re.findall(r"python -m (study[\w.]*) ([a-z]+)", text)}
    main = {module: (ROOT / module.replace(".", "/") / "__main__.py").read_text(encoding="utf-8") for module, _ in named}
    assert len(named) > 5
    assert {(module, command) for module, command in named if f'"{command}"' not in main[module]} == set()


def test_files_in_messages_are_there():
    paths = {found for _, text in messages() for found in re.findall(r"(?<![\w/])(?:study|kp|data)/[\w/]+\.\w+", text)}
    assert paths and {path for path in paths if not (ROOT / path).exists()} == set()
