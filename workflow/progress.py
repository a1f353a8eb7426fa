"""What a batch says while it runs: each job that has ended, its seconds, and about how long the rest will take."""

import logging
import sys
import time
from statistics import mean

from snakemake_interface_logger_plugins.common import LogEvent

# What Snakemake says of itself, its log with an absolute path too, is no news; errors and "Nothing to be done" are.
ITS_OWN = (
    "Assuming ", "Building DAG", "Complete log", "Elapsed time", "Execute ", "Provided ", "Rules claiming ", "Select jobs",
    "Touching output", "Using ",
)  # fmt: skip
REPLACED = (LogEvent.RUN_INFO, LogEvent.JOB_FINISHED, LogEvent.PROGRESS)
"""What Snakemake says on the same matter."""


class Progress(logging.Filter):
    """Passes on what Snakemake logs, without its own matters, and writes a line for each job that has ended.

    jobs : {name of a rule: (what it is called here, seconds of its last run or None)}; cores : how many run side by side.
    On a terminal a last line names what is at work.
    """

    def __init__(self, jobs, cores, stream=sys.stderr):
        super().__init__()
        self.jobs, self.cores, self.stream = jobs, cores, stream
        self.running, self.waiting, self.seconds, self.done, self.total = {}, {}, [], 0, 0

    def filter(self, record):
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self.waiting = {rule: n for rule, n in record.stats.items() if rule != "total" and rule in self.jobs}
            self.total = sum(self.waiting.values())
        elif event == LogEvent.JOB_INFO and record.rule_name in self.jobs:
            self.running[record.jobid] = (record.rule_name, time.monotonic())
            self.waiting[record.rule_name] = max(self.waiting.get(record.rule_name, 1) - 1, 0)  # a job may start twice
            self.say_what_runs()
        elif event == LogEvent.JOB_FINISHED and record.job_id in self.running:
            rule, start = self.running.pop(record.job_id)
            self.seconds.append(time.monotonic() - start)
            self.done += 1
            self.say(f"[{self.done}/{self.total}] {self.jobs[rule][0]}: {self.seconds[-1]:.0f} s{self.left()}", end="\n")
            self.say_what_runs()
        return event not in REPLACED and not str(record.msg).startswith(ITS_OWN)

    def left(self):
        """About how long the rest will take, by the last run of each job, or by the mean of those that have ended."""
        usual = mean(self.seconds)
        rest = sum(n * (self.jobs[rule][1] or usual) for rule, n in self.waiting.items())
        now = time.monotonic()
        rest += sum(max((self.jobs[rule][1] or usual) - (now - start), 0) for rule, start in self.running.values())
        return f", about {rest / self.cores:.0f} s left" if rest else ""

    def say_what_runs(self):
        if self.stream.isatty() and self.running:
            names = ", ".join(self.jobs[rule][0] for rule, _ in self.running.values())
            self.say(f"at work: {names}{self.left() if self.seconds else ''} …", end="")

    def say(self, text, end):
        start = "\r\x1b[K" if self.stream.isatty() else ""
        print(start + text, end=end, file=self.stream, flush=True)
