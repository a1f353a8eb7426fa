"""The pages of the classes and functions of kp."""

import html
import importlib
import inspect
import os
import re
import warnings
from pathlib import Path

import pytest

import kp

pytest.importorskip("pdoc", reason="pdoc is not installed; python3 bootstrap.py makes an environment that has it")
from pdoc.__main__ import cli  # noqa: E402

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """{path: text} of the site that `make api` writes."""
    site = tmp_path_factory.mktemp("api")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    options = re.search(r"-m pdoc (.*) --output-directory build/api", makefile)[1].split()
    modules = re.search(r"\nPAGES = (.*)", makefile)[1].split()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(warnings, "showwarning", warnings.showwarning)  # pdoc sets its own
        cli([*options, "--output-directory", str(site), *modules])
    return {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}


def test_every_public_name_of_kp_stands_on_one_page_with_its_sections(pages):
    for name in kp.__all__:
        home = re.search(rf'<section id="{name}">.*?href="(.*?)#{name}"', pages["kp.html"], flags=re.DOTALL)[1]
        text = re.search(rf'<section id="{name}">(.*?)</section>', pages[home], flags=re.DOTALL)[1]
        headings = set(re.findall(r"<h6.*?>(.*?)</h6>", text))
        assert name == "PREDICTORS" or headings >= {"Parameters", "See Also", "Examples"}, name
    text = "".join(pages.values())
    assert "_request" not in "".join(re.findall(r' id="(.*?)"', text)) and "_SupportsArray" not in text


def test_a_page_begins_with_its_classes_and_they_with_those_that_are_no_bases(pages):
    shown = {page: re.findall(r'<section id="(\w+)">', text) for page, text in pages.items() if page != "kp.html"}
    for page, names in shown.items():
        module = page.removesuffix(".html").replace("/", ".")
        things = [getattr(importlib.import_module(module), name) for name in names]
        kinds = [2 if not inspect.isclass(each) else (each.__doc__ or "").startswith("Base of") for each in things]
        assert kinds == sorted(kinds), page
    assert not [name for names in shown.values() for name in names if name.startswith("_")]
    assert shown["kp/output_codes.html"] == ["OutputCodeKernelPerceptron"]
    assert shown["kp/mistakes.html"][0] == "MistakeLog" and shown["kp/codes.html"][0] == "Decoder"


def test_what_a_class_inherits_from_a_base_without_a_section_is_described_with_it(pages):
    for page, name in {"one_vs_all": "OneVsAllKernelPerceptron", "output_codes": "OutputCodeKernelPerceptron"}.items():
        text = re.search(rf'<section id="{name}">.*?</section>', pages[f"kp/{page}.html"], flags=re.DOTALL)[0]
        _, own = text.split(f'<div id="{name}.dual_coef_" class="classattr">')
        assert "Coefficients (m, S) of the support examples" in own
        assert re.findall('class="base">(?:<a[^>]*>)?([^<]+)', text) == ["kp.codes.Decoder"]


def test_links_lead_to_what_is_there_and_no_page_loads_anything_from_elsewhere(pages):
    places = {page: re.findall(r' id="([^"]+)"', text) for page, text in pages.items()}
    for page, text in pages.items():
        assert len(places[page]) == len(set(places[page])), f"a name stands twice on {page}"
        assert not re.findall(r"""(?:\bsrc=|<link [^>]*href=|url\(|@import )["']?(?:https?:)?//""", text)
        for link in map(html.unescape, re.findall(r'<a [^>]*href="([^"$]+)"', text)):
            target, _, place = link.partition("#")
            if link.endswith("gallery.ipynb"):
                assert (ROOT / "build" / "api" / page).parent.joinpath(link).resolve().exists(), link
            elif not link.startswith("https://") and not re.search(r"-\d+$", place):  # lines of sources
                found = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
                assert not place or place in places[found], f"{page}: {link}"
                assert found in pages, f"{page}: {link}"


def test_an_estimator_has_a_link_to_its_example_in_the_gallery(pages):
    links = {page for page, text in pages.items() if "notebooks/executed/gallery.ipynb" in text}
    assert links == {f"kp/{name}.html" for name in ("one_vs_all", "output_codes", "multiclass", "budget", "display")}
