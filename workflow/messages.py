"""What Snakemake logs, with a line of `study.progress` for each job that has ended instead of its own."""

import logging

from snakemake_interface_logger_plugins.common import LogEvent

from study.progress import Progress

# What Snakemake says of itself, its log with an absolute path too, is no news; errors and "Nothing to be done" are.
ITS_OWN = (
    "Assuming ", "Building DAG", "Complete log", "Elapsed time", "Execute ", "Provided ", "Rules claiming ", "Select jobs",
    "Touching output", "Using ",
)  # fmt: skip
INTERRUPTED = "Terminating processes on user request"
"""What it says first after Ctrl-C; then come the jobs that ended by it, as errors."""
REPLACED = (LogEvent.RUN_INFO, LogEvent.JOB_FINISHED, LogEvent.PROGRESS)
"""What Snakemake says on the same matter."""


class Messages(logging.Filter):
    """Passes on what Snakemake logs, without its own matters.

    jobs : {name of a rule: (what it is called here, seconds of its last run or None)}; cores : how many run side by side.
    """

    def __init__(self, jobs, cores, stream=None):
        super().__init__()
        self.jobs, self.cores, self.stream = jobs, cores, stream
        self.progress = None
        self.interrupted = False

    def filter(self, record):
        event = getattr(record, "event", None)
        if str(record.msg).startswith(INTERRUPTED) and not self.interrupted:
            self.interrupted = True
            record.msg = "\nInterrupted; what was finished is kept."
            return True
        if self.interrupted:
            return False
        if event == LogEvent.RUN_INFO:
            waiting = {self.jobs[rule][0]: n for rule, n in record.stats.items() if rule in self.jobs}
            self.progress = Progress(dict(self.jobs.values()), waiting, self.cores, self.stream)
        elif self.progress is None:
            pass  # the process of a single job, on a cluster: the one that plans tells the progress
        elif event == LogEvent.JOB_INFO and record.rule_name in self.jobs:
            self.progress.started(record.jobid, self.jobs[record.rule_name][0])
        elif event == LogEvent.JOB_FINISHED and record.job_id in self.progress.running:
            self.progress.ended(record.job_id)
        return event not in REPLACED and not str(record.msg).startswith(ITS_OWN)
