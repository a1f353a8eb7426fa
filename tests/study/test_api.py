"""The page of the classes and functions of kp."""

import html
import inspect
import re

import pytest

import kp

pytest.importorskip("pdoc", reason="pdoc is not installed; python3 bootstrap.py makes an environment that has it")
from study.report import api  # noqa: E402


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("api") / "api.html"
    api.write(path)
    return path.read_text(encoding="utf-8")


def test_every_public_name_of_kp_stands_on_the_page(page):
    places = set(re.findall(r'<(?:section|div) id="([^"]+)"', page))
    estimators = [name for name in kp.__all__ if hasattr(getattr(kp, name), "fit")]
    assert set(kp.__all__) <= places and len(estimators) == 10
    assert {f"{name}.{method}" for name in estimators for method in ("__init__", "fit", "predict")} <= places
    assert not [place for place in places if "._" in place.replace(".__init__", "") or place.endswith("_request")]


def test_what_the_page_refers_to_stands_on_it(page):
    places = set(re.findall(r'id="([^"]+)"', page))
    named = set(re.findall(r"<code>([A-Z][A-Za-z]+[a-z])(?:\.\w+)?</code>", re.sub("</?a.*?>", "", page)))
    assert "OnlineKernelClassifier" in named and named <= places | {"Sparse"}, named - places
    assert not re.findall(r'(?:src|href)="(?:https?:)?//(?!pdoc\.dev)', page)


def test_all_parameters_of_an_estimator_stand_in_its_list(page):
    lists = {}
    for name, text in re.findall(r'<section id="(\w+)">(.*?)</section>', page, flags=re.DOTALL):
        terms = re.findall(r"<li><strong>(.*?)</strong>: ", text)
        lists[name] = {each for term in terms for each in re.sub("<.*?>", "", term).split(", ")}
    for name in kp.__all__:
        if hasattr(getattr(kp, name), "fit"):
            assert set(inspect.signature(getattr(kp, name)).parameters) <= lists[name], name


def test_signatures_are_as_they_are_written(page):
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<.*?>", "", page)))
    assert "fit(self, X: Data, y: ArrayLike, **unsupported: Any) -> Self:" in text
    assert "Data = ArrayLike | Sparse" in text and "_SupportsArray" not in text


def test_lists_of_a_docstring_become_lists_of_markdown():
    found = api.markdown("It is.\nParameters\n----------\na, b : one,\n    or : two.\nc : 3.\nExamples\n--------\n>>> 1\n1")
    lines = [line for line in found.splitlines() if line]
    assert lines == [
        "It is.",
        "**Parameters**",
        "- **a, b**: one, or : two.",
        "- **c**: 3.",
        "**Examples**",
        ">>> 1",
        "1",
    ]
