"""The pages of the study in a browser: Chromium without a window, on a screen of a phone's width."""

import html
import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from study import BUILD, ROOT
from study.__main__ import main
from study.algorithm import played

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


def look(page, program="return null", *, width=WIDTH):
    """What the browser finds in a page, by default of a phone's width, and what the program returns there."""
    probe = page.with_name("probe.html")
    probe.write_text(PROBE.format(page=page.name, width=width, program=program), encoding="utf-8")
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
def report():
    """The report, in the project's folder, so that it has links to files."""
    folder = BUILD / "pages"
    assert main(["report", "--profile", "full", "--target", str(folder / "report.html")]) == 0
    yield folder / "report.html"
    shutil.rmtree(folder)


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
    assert faults(look(report, width=320)) == {}, "the smallest phones"


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


def test_links_to_other_pages_are_addresses_of_the_web_or_lead_to_the_ledger_and_to_files_of_the_project(report):
    text = report.read_text(encoding="utf-8")
    local = {each for each in re.findall(r'<a [^>]*href="([^"]*)"', text) if not re.match("#|https?://", each)}
    assert "ledger.html" in local, "the page that is made beside it"
    rows = {each for each in local if each.startswith("numbers.html")}
    assert len(rows) > 700, "of the numbers, each with its own"
    files = {(report.parent / each).resolve() for each in local - rows - {"ledger.html"}}
    assert len(files) > 100 and all(each.is_file() and each.is_relative_to(ROOT) for each in files)


@pytest.mark.parametrize("width", [WIDTH, 1280])
def test_of_twenty_random_numbers_each_tells_where_it_comes_from(report, width):
    chosen = sorted(
        random.Random(0).sample(range(len(re.findall(r"<button popovertarget[^>]*>(?!✓)", report.read_text()))), 20)
    )
    program = f"""
      const values = [...page.querySelectorAll("main button[popovertarget]")].filter((each) => each.textContent !== "✓");
      const ask = (value) => {{
        value.scrollIntoView({{block: "center", behavior: "instant"}});
        value.click();
        const panel = page.querySelector(":popover-open"), at = panel.getBoundingClientRect();
        const parts = Object.fromEntries([...panel.querySelectorAll("dt")].map(
          (each) => [each.textContent, each.nextElementSibling.textContent]));
        const links = [...panel.querySelectorAll("a[href$='.csv']")].map((each) => each.href);
        const row = panel.querySelector("a[href*='#row-']").href;
        panel.hidePopover();
        return {{value: value.textContent, parts, links, row, tall: at.height,
          inside: at.left >= 0 && at.right <= view.innerWidth && at.top >= 0 && at.bottom <= view.innerHeight}};
      }};
      const stored = values.filter((each) => each.popoverTargetElement.querySelector("a[href$='.csv']"));
      return {{all: values.length, stored: stored.length, asked: {chosen}.map((place) => ask(values[place]))}};
    """
    found = look(report, program, width=width)["result"]
    assert found["all"] > 800 and found["stored"] > 0.75 * found["all"]
    for each in found["asked"]:
        parts = each["parts"]
        assert parts["expression"] and ".ipynb" in parts["notebook"] and each["inside"] and each["tall"] > 30, each
        if each["links"]:
            for link in each["links"]:
                rows = Path(link.removeprefix("file://")).read_text(encoding="utf-8").splitlines()[1:]
                assert f"{len(rows):,} rows" in parts["tables"] and rows
        else:
            assert parts["tables"].startswith("none: "), each
    assert_rows_are_seen(report, found["asked"], width)


def assert_rows_are_seen(report, asked, width):
    """The link of each panel leads to the row of its number, which is then on the screen."""
    target = report.with_name("numbers.html")
    table = pd.read_csv(target.with_suffix(".csv"), dtype=str, keep_default_na=False, index_col="row")
    pages, names = zip(*(each["row"].split("#") for each in asked), strict=True)
    assert set(pages) == {target.as_uri()}
    program = f"""
      return {json.dumps(names)}.map((name) => {{
        view.location.hash = name;
        const row = page.querySelector(":target"), at = row.getBoundingClientRect();
        const parts = Object.fromEntries([...row.querySelectorAll("dt")].map(
          (each) => [each.textContent, each.nextElementSibling.textContent]));
        return {{parts, files: row.querySelectorAll("a[href$='.csv']").length, seen: at.top >= 0 && at.top < 700}};
      }});
    """
    found = look(target, program, width=width)
    assert faults(found) == {}
    for each, name, row in zip(asked, names, found["result"], strict=True):
        written = table.loc[name.removeprefix("row-")]
        assert row["seen"] and row["parts"] == {key: text for key, text in written.items() if text}
        assert written["text"] == each["value"].replace("\N{NO-BREAK SPACE}", " ")
        assert written["expression"] == each["parts"]["expression"]
        assert row["files"] == written["files"].count(".csv") >= len(each["links"])


def test_the_figure_plays_the_run_by_its_slider_and_its_switch(report):
    program = """
      const place = page.querySelector(".played"), [slider, ...switches] = place.querySelectorAll("input");
      const canvas = place.querySelector("canvas"), said = place.querySelector("output");
      const move = (value) => { slider.value = value; slider.dispatchEvent(new view.Event("input")); };
      const told = {}, pictures = new Set();
      for (const each of switches) {
        each.click();
        told[each.value] = [];
        for (const value of [1, 2, 17, 40, 73]) {
          move(value);
          told[each.value].push(said.textContent);
          pictures.add(canvas.toDataURL());
        }
      }
      return {shown: shown(place), told, pictures: pictures.size, right: place.getBoundingClientRect().right,
        most: slider.max, still: page.querySelector("figure:has(+ .played) img").complete};
    """
    found = look(report, program)
    assert faults(found) == {}
    run, result = played.run(), found["result"]
    assert result["shown"] and result["still"] and result["right"] <= WIDTH and int(result["most"]) == len(run["step"])
    assert result["pictures"] >= 12, "three predictors begin alike, and end with other boundaries"
    for name, said in result["told"].items():
        for m, words in zip([1, 2, 17, 40, 73], said, strict=True):
            assert f"step {run['step'][m - 1] + 1}, example {run['example'][m - 1] + 1}," in words
            assert f"Then the {name} predictor misclassifies {run['errors'][name][m - 1]} of 60" in words


def test_a_verdict_of_the_ledger_opens_the_panel_of_its_code_in_the_report(report):
    target = report.with_name("ledger.html")
    assert main(["ledger", "--target", str(target)]) == 0
    program = 'return [...page.querySelectorAll("#ledger td[data-name=verdict] a")].map((each) => each.getAttribute("href"))'
    addresses = look(target, program)["result"]
    assert len(addresses) > 800 and all(each.startswith("report.html#") for each in addresses)
    program = """
      const names = %s, opened = [];
      for (const name of names) { view.location.hash = name; view.dispatchEvent(new view.Event("hashchange"));
        opened.push(page.querySelector(":popover-open")?.id); }
      return opened;
    """  # fmt: skip
    names = sorted({each.partition("#")[2] for each in addresses})
    assert look(report, program % json.dumps(names))["result"] == names


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
      const id = page.querySelector("#ledger td[data-name=ID]").innerHTML;
      return {before, after: rows(), right: verdict.right, told: [...new Set(told)], options, id};
    """
    found = look(target, program)
    assert faults(found) == {}
    assert 0 < found["result"]["after"] < found["result"]["before"]
    assert found["result"]["told"] == ["outside"] and found["result"]["options"] == [4, 4]
    assert re.fullmatch(r"([\w-]+/<wbr>)+[\w-]+<wbr>", found["result"]["id"]), "an ID breaks after its slashes"
    assert found["result"]["right"] <= WIDTH, "a verdict is on the screen of a phone"
    assert faults(look(target, width=1280)) == {}, "all columns are on the screen of a laptop"


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
