"""The pages of the study in a browser: Chromium without a window, on a screen of a phone's width."""

import html
import json
import os
import re
import shutil
import subprocess

import pytest

from study.__main__ import main

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium here; install chromium, or put google-chrome on the path"),
]
WIDTH = 400
PROBE = """<!doctype html><meta charset="utf-8">
<iframe src="{page}" width="{width}" height="800" style="border: 0"></iframe><pre></pre>
<script>
addEventListener("load", () => {{
  const view = document.querySelector("iframe").contentWindow, page = view.document, root = page.scrollingElement;
  const shown = (each) => each.checkVisibility();
  const found = {{
    images: page.images.length,
    missing: [...page.images].filter((each) => !(each.complete && each.naturalWidth)).map((each) => each.alt),
    unnamed: [...page.images].filter((each) => !each.alt).map((each) => each.id),
    links: [...page.querySelectorAll("a[href]")].map((each) => each.getAttribute("href")),
    names: [...page.querySelectorAll("[id]")].map((each) => each.id),
    overflow: root.scrollWidth - root.clientWidth,
    result: ((view, page, shown) => {{ {program} }})(view, page, shown),
  }};
  document.querySelector("pre").textContent = JSON.stringify(found);
}});
</script>
"""


def look(page, program="return null"):
    """What the browser finds in a page of a phone's width, and what the program returns there."""
    probe = page.with_name("probe.html")
    probe.write_text(PROBE.format(page=page.name, width=WIDTH, program=program), encoding="utf-8")
    options = ["--headless", "--disable-gpu", "--allow-file-access-from-files", "--enable-logging=stderr"]
    options += [f"--user-data-dir={page.parent / 'profile'}", "--virtual-time-budget=60000", "--dump-dom"]
    options += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command = [BROWSER, *options, probe.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    (found,) = re.findall("<pre>({.*?})</pre>", done.stdout, re.DOTALL)
    return json.loads(html.unescape(found)) | {"console": re.findall("CONSOLE.*", done.stderr)}


def faults(found):
    """{kind: what is wrong with a page}, whatever it shows."""
    names = found["names"]
    dead = [each for each in found["links"] if each.startswith("#") and each != "#" and each[1:] not in names]
    kinds = {
        "console": found["console"],
        "images that are missing": found["missing"],
        "images without a text": found["unnamed"],
        "links to nothing": dead,
        "names that stand twice": sorted({each for each in names if names.count(each) > 1}),
        "pixels too wide": found["overflow"],
    }
    return {kind: wrong for kind, wrong in kinds.items() if wrong}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    target = tmp_path_factory.mktemp("pages") / "report.html"
    assert main(["report", "--profile", "full", "--target", str(target)]) == 0
    return target


def test_the_report_has_no_fault_and_code_appears_by_one_switch(report):
    program = """
      const folded = [...page.querySelectorAll("main details")];
      const count = () => folded.filter((each) => each.open).length;
      const before = count(), title = page.querySelector("main p").getBoundingClientRect().top;
      page.getElementById("code").click();
      const solutions = page.querySelectorAll(".solution");
      const closed = [...solutions].filter((each) => !each.open).length;
      const fonts = [...page.fonts].map((each) => each.status);
      return {all: folded.length, before, after: count(), solutions: solutions.length, closed, title, fonts};
    """
    found = look(report, program)
    assert faults(found) == {} and found["images"] > 50
    switch = found["result"]
    assert switch["fonts"] == ["loaded"]
    assert switch["before"] == 0 < switch["after"] == switch["all"] - switch["solutions"]
    assert switch["closed"] == switch["solutions"] > 0, "whoever wants the code does not want the solutions"
    assert switch["title"] < 800, "the abstract begins on the first screen of a phone"


def test_on_a_phone_wide_tables_say_so_figures_open_and_the_contents_unfold(report):
    program = """
      const wide = [...page.querySelectorAll(".scroll")].filter((each) => each.scrollWidth > each.clientWidth + 1);
      const last = (each) => each.querySelector("caption") ? [each.querySelector("caption"), "::after"] : [each, "::before"];
      const told = wide.filter((each) => view.getComputedStyle(...last(each)).content.includes("→"));
      const figure = page.querySelector("figure img"), whole = page.getElementById("whole");
      figure.click();
      const opened = [whole.open, whole.querySelector("img").clientWidth, figure.clientWidth];
      whole.click();
      const list = page.querySelector("nav ul"), before = shown(list);
      view.scrollTo({top: 5000, behavior: "instant"});
      page.getElementById("listed").click();
      const contents = [before, shown(list), list.getBoundingClientRect().bottom];
      return {wide: wide.length, told: told.length, opened, closed: !whole.open, contents};
    """
    found = look(report, program)["result"]
    assert found["told"] == found["wide"] > 20
    assert found["opened"][0] and found["opened"][1] > 2 * found["opened"][2] and found["closed"]
    folded, unfolded, bottom = found["contents"]
    assert not folded and unfolded and bottom <= 800, "longer contents scroll inside the screen"


def test_links_to_other_pages_are_addresses_of_the_web_or_lead_to_the_ledger(report):
    text = report.read_text(encoding="utf-8")
    local = [each for each in re.findall(r'<a [^>]*href="([^"]*)"', text) if not re.match("#|https?://", each)]
    assert local == ["ledger.html"], "the page that is made beside it"


def test_the_ledger_has_no_fault_and_filters(tmp_path):
    target = tmp_path / "ledger.html"
    assert main(["ledger", "--target", str(target)]) == 0
    program = """
      const rows = () => page.querySelectorAll("#ledger tbody tr").length, before = rows();
      const verdict = page.querySelector("td[data-name=verdict]").getBoundingClientRect();
      const choice = page.getElementById("verdict"), option = choice.options[1].value;
      choice.value = option;
      choice.dispatchEvent(new view.Event("change", {bubbles: true}));
      choice.dispatchEvent(new view.Event("input", {bubbles: true}));
      const told = [...page.querySelectorAll("#ledger td[data-name=verdict]")].map((each) => each.textContent);
      const options = [...choice.querySelectorAll("optgroup")].map((each) => each.children.length);
      return {before, after: rows(), right: verdict.right, told: [...new Set(told)], options};
    """
    found = look(target, program)
    assert faults(found) == {}
    assert 0 < found["result"]["after"] < found["result"]["before"]
    assert found["result"]["told"] == ["outside"] and found["result"]["options"] == [4, 4]
    assert found["result"]["right"] <= WIDTH, "a verdict is on the screen of a phone"


def test_the_policy_of_a_page_stops_scripts_and_pictures_that_are_not_its_own(tmp_path):
    target = tmp_path / "ledger.html"
    assert main(["ledger", "--target", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    foreign = '<script>document.title = "run"</script><img src="probe.html" onerror="document.title = 1" alt="p">'
    target.write_text(text.replace("<h1>", f"{foreign}<h1>"), encoding="utf-8")
    found = look(target, 'return [page.title, page.querySelectorAll("tbody tr").length]')
    assert found["result"][0] == "Ledger of published numbers and statements" and found["result"][1] > 0
    refused = [each for each in found["console"] if "Content Security Policy" in each]
    assert len(refused) >= 2 and found["missing"] == ["p"]
