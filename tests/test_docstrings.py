"""What kp exports has hints and docstrings: numpydoc for classes and functions, a sentence for their members."""

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import kp

MODULES = ["kp", *(f"kp.{module.name}" for module in pkgutil.iter_modules(kp.__path__))]
HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n---+\n", flags=re.MULTILINE)
ORDER = ["Parameters", "Attributes", "Returns", "Yields", "Raises", "See Also", "References", "Examples"]


def written(member):
    """The function behind a property or a method that is there for some estimators only."""
    return getattr(member, "fget", None) or getattr(member, "fn", None) or member


def exported():
    """{name: class or function} of what kp exports, with the public methods and properties of its classes."""
    found = {}
    for name in kp.__all__:
        thing = getattr(kp, name)
        if callable(thing):
            found[name] = thing
        for base in inspect.getmro(thing) if inspect.isclass(thing) else ():
            for method, member in vars(base).items() if base.__module__.startswith("kp.") else ():
                function = written(member)
                if inspect.isfunction(function) and not method.startswith("_"):
                    found[f"{base.__name__}.{method}"] = member
    return found


EXPORTED = exported()


def sections(thing):
    """(summary, {heading: text}) of a docstring."""
    summary, *parts = HEADING.split(inspect.getdoc(thing))
    assert [each for each in ORDER if each in parts[::2]] == parts[::2], "sections are in numpydoc's order"
    return summary, dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("name", [name for name in EXPORTED if "." not in name])
def test_a_docstring_has_its_sections_with_names_and_types(name):
    thing = EXPORTED[name]
    summary, found = sections(thing)
    signature = inspect.signature(thing, eval_str=True)
    assert {"See Also", "Examples"} <= set(found) and ">>> " in found["Examples"]
    listed = re.findall(r"^(\S+) : \S", found.get("Parameters", ""), flags=re.MULTILINE)
    expected = ["*" * (2 * (each.kind == each.VAR_KEYWORD)) + each.name for each in signature.parameters.values()]
    assert sorted(listed) == sorted(expected), "each parameter with its type"
    assert inspect.isclass(thing) or {"Returns", "Raises"} <= set(found)
    assert all(re.search(r"^    \S", text, flags=re.MULTILINE) for head, text in found.items() if head in ORDER[:5])
    assert "References" in found or not re.search(r"\b(1[89]|20)\d\d[,)]", "".join([summary, *found.values()])), "a source"


@pytest.mark.parametrize("name", [name for name in EXPORTED if "." in name])
def test_a_member_has_a_sentence(name):
    summary, found = sections(EXPORTED[name])
    assert re.match(r"[A-Z`].*[.]", summary, flags=re.DOTALL) and not found


@pytest.mark.parametrize("name", EXPORTED)
def test_the_public_surface_has_hints_that_signatures_show_as_they_are_written(name):
    function = written(EXPORTED[name])
    signature = inspect.signature(function, eval_str=True)
    hints = [each.annotation for each in signature.parameters.values() if each.name != "self"]
    hints += [] if inspect.isclass(function) else [signature.return_annotation]
    assert inspect.Signature.empty not in hints
    shown = str(inspect.signature(function))
    assert "numpy." not in shown and "scipy." not in shown


@pytest.mark.parametrize("name", [name for name in kp.__all__ if hasattr(getattr(kp, name), "get_params")])
def test_the_attributes_that_fit_makes_are_listed_and_no_other(name):
    estimator = getattr(kp, name)
    listed = set(re.findall(r"^(\w+_) : \S", sections(estimator)[1]["Attributes"], flags=re.MULTILINE))
    model = estimator().fit([[0.0], [1.0], [2.0], [4.0], [5.0], [7.0]], ["a", "a", "b", "b", "c", "c"])
    made = {each for each in {*vars(model), *dir(estimator)} if re.fullmatch(r"[a-zA-Z]\w*_", each)}
    assert listed == made - {"n_features_in_"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
