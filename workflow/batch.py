"""Run Snakemake on the batch of this folder, one at a time: python workflow/batch.py OPTIONS, those of Snakemake.

`make report` and `make pdf` call it. The system ends the lock with the process that holds it, so that nothing has to be
unlocked after a run was killed, as Snakemake's own lock would have to.
"""

import sys

import study  # first: it says where caches go if the home folder cannot be written


def only_one():
    """A file that is locked as long as it is open, and the options that leave out Snakemake's own lock; ends this process if
    another has it."""
    study.BUILD.mkdir(exist_ok=True)
    file = open(study.BUILD / "batch.lock", "a")
    try:
        import fcntl
    except ImportError:  # Windows: there, Snakemake's own lock remains
        return file, []
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"Another batch is running in {study.ROOT}; start this one when it has ended.")
    return file, ["--nolock"]


if __name__ == "__main__":
    lock, options = only_one()
    try:
        from snakemake.cli import main

        main([*options, *sys.argv[1:]])
    except KeyboardInterrupt:  # before a job was started; then Snakemake sees to it
        sys.exit("\nInterrupted before anything was started.")
