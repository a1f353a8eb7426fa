"""The lists of dependencies and the versions that stand in several files agree."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock.txt").read_text()


def direct_dependencies():
    """Requirement texts of the package and of all extras."""
    return [*PROJECT["dependencies"], *(text for extra in PROJECT["optional-dependencies"].values() for text in extra)]


def name(requirement):
    return re.match(r"[A-Za-z0-9._-]+", requirement).group().lower().replace("_", "-")


def test_environment_yml_lists_the_packages_and_bounds_of_pyproject():
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (pip,) = (entry["pip"] for entry in listed if isinstance(entry, dict))
    conda = [entry for entry in listed if isinstance(entry, str)]
    assert conda[:2] == ["python=3.11", "pip"]
    assert pip[-1] == "-e ."
    assert sorted(conda[2:] + pip[:-1]) == sorted(direct_dependencies())


def test_lock_pins_every_direct_dependency():
    pinned = {name(line) for line in LOCK.splitlines() if re.match(r"[a-z0-9._-]+==", line)}
    assert {name(requirement) for requirement in direct_dependencies()} <= pinned


def test_lock_hashes_every_package_and_names_no_address():
    packages = re.split(r"\n(?=\S)", LOCK.strip())
    assert len(packages) > 100
    for package in packages:
        assert re.match(r"[a-z0-9._-]+==\S+ .*\n( +--hash=sha256:[0-9a-f]{64}( \\)?\n?)+\Z", package), package[:100]
    assert "://" not in LOCK


def test_versions_agree_in_all_files():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    version, date = re.search(r"^## (\S+) - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE).groups()
    assert PROJECT["version"] == str(citation["version"]) == version
    assert str(citation["date-released"]) == date
    assert PROJECT["license"] == citation["license"] == "BSD-3-Clause"
