"""What a batch says while it runs: each job that has ended, its seconds, and about how long the rest will take."""

import sys
import time
from collections import Counter
from statistics import mean


class Progress:
    """Writes a line for each job that has ended, and what is at work: on a terminal in a last line, in a log as it begins.

    usual : {what a job is called: seconds of its last run, or None}; waiting : {the same: how many will be run};
    cores : how many run side by side.
    """

    def __init__(self, usual, waiting, cores, stream=None):
        self.usual, self.waiting, self.cores = usual, Counter(waiting), cores
        self.stream = stream or sys.stderr
        self.running, self.seconds, self.total = {}, [], self.waiting.total()

    def started(self, job, name):
        """A job, by any key, has begun."""
        self.running[job] = (name, time.monotonic())
        self.waiting[name] = max(self.waiting[name] - 1, 0)  # a job may start twice
        if not self.stream.isatty():
            self.say(f"at work: {name}")
        self._say_what_runs()

    def ended(self, job, *, failed=False):
        """It has ended; returns its seconds."""
        name, start = self.running.pop(job)
        seconds = time.monotonic() - start
        self.seconds.append(seconds)
        words = "failed after " if failed else ""
        self.say(f"[{len(self.seconds)}/{self.total}] {name}: {words}{seconds:.0f} s{self._left()}")
        self._say_what_runs()
        return seconds

    def _left(self):
        """About how long the rest will take, by the last run of each job, or by the mean of those that have ended."""
        usual = {name: seconds or mean(self.seconds) for name, seconds in self.usual.items()}
        rest = sum(n * usual[name] for name, n in self.waiting.items())
        now = time.monotonic()
        rest += sum(max(usual[name] - (now - start), 0) for name, start in self.running.values())
        return f", about {rest / self.cores:.0f} s left" if rest else ""

    def _say_what_runs(self):
        if self.stream.isatty() and self.running:
            names = ", ".join(name for name, _ in self.running.values())
            self.say(f"at work: {names}{self._left() if self.seconds else ''} …", end="")

    def say(self, text, end="\n"):
        """Write a line, on a terminal instead of the one that names what is at work."""
        start = "\r\x1b[K" if self.stream.isatty() else ""
        print(start + text, end=end, file=self.stream, flush=True)
