"""What experiments cost is kept when all of a chapter is computed again, and nothing where one fails."""

import os
import subprocess
import sys

import pytest

from study import chapters
from study.results import costs

told = pytest.mark.skipif(not hasattr(os, "wait4"), reason="this system does not say what a process took")


@pytest.fixture
def run(monkeypatch, tmp_path):
    """compute_again("algorithm"), where a program takes the place of each experiment."""
    monkeypatch.setattr(costs, "MEASURED", tmp_path)
    started, popen = [], subprocess.Popen

    def with_program(program):
        def start(command):
            started.append(command)
            return popen([sys.executable, "-c", program])

        monkeypatch.setattr(subprocess, "Popen", start)
        return costs.compute_again("algorithm"), started

    return with_program


@told
def test_seconds_and_memory_of_each_experiment_are_kept(run):
    assert costs.words("algorithm") == "" and costs.stored("algorithm") == {}
    code, started = run("held = b'x' * (300 * 2**20)")
    names = [each.name for each in chapters.experiments("algorithm")]
    assert code == 0 and [command[-2:] for command in started] == [[name, "--recompute"] for name in names]
    found = costs.stored("algorithm")
    assert list(found) == names
    # A process counts the memory of the one that started it, here that of all tests.
    assert all(0 < seconds < 30 and 0.29 < memory < 20 for seconds, memory in found.values())
    before = costs.path("algorithm").read_bytes()
    assert run("")[0] == 0 and costs.path("algorithm").read_bytes() == before


@told
def test_an_experiment_that_fails_fails_the_chapter_and_keeps_what_was_known(run):
    assert run("")[0] == 0
    before = costs.path("algorithm").read_bytes()
    code, started = run("raise SystemExit(3)")
    assert code == 3 and len(started) == len(chapters.experiments("algorithm")) + 1
    assert costs.path("algorithm").read_bytes() == before


def test_a_system_that_does_not_say_what_a_process_took_computes_all_the_same(run, monkeypatch):
    monkeypatch.delattr(os, "wait4", raising=False)
    code, started = run("")
    assert code == 0 and len(started) == len(chapters.experiments("algorithm")) and not costs.path("algorithm").exists()
    assert run("raise SystemExit(3)")[0] == 3
