"""The batch killed at random moments and started again: the same bytes as left alone?

    python benchmarks/kills.py [--kills 10] [--profile quick] [--notebooks "algorithm data"] [--seed 0]

Two copies of the checkout are made in temporary folders. In the first the batch runs to its end. In the second it gets
SIGKILL again and again, at random moments that are spread over the time that the first one took; at last it runs to its end.
Exit code 1 if any file that it makes differs, or is left over. In profile quick some chapters show seconds that they measure
anew; these are named apart.
"""

import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from study import ROOT, chapters

MADE = ("build/*/notebooks/*", "build/*/figures/*", "build/*/*.html", "notebooks/executed/*", "figures/*", "data/results/*")


def copied(folder):
    """A copy of the checkout in a folder."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def started(folder, options):
    """The batch in a copy, leading a group of processes."""
    config = [f"profile={options.profile}"] + ([f"notebooks={options.notebooks}"] if options.notebooks else [])
    target = f"build/{options.profile}/marks/executed" if options.notebooks else "report"
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/default", "--quiet", "all", "--config", *config]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.Popen([*command, "--", target], cwd=folder, env=environment, start_new_session=True)


def made(folder):
    """{name: hash} of the files that the batch makes."""
    paths = [path for pattern in MADE for path in folder.glob(pattern) if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def shows_seconds(name, profile):
    """Whether a file shows seconds that were measured in this run: those of the report are measured once and stored."""
    measuring = {each.name for each in chapters.chapters(profile) if any(map(_measures, each.experiments))}
    own = profile != "full" and name.startswith(f"build/{profile}/")
    return own and Path(name).stem.partition("-")[0] in {*measuring, "report"}


def _measures(name):
    return any(each.measured for each in chapters.experiments(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--notebooks", default="", help="those to be executed; the whole report if there are none")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        alone, killed = copied(Path(one)), copied(Path(two))
        begin = time.monotonic()
        if started(alone, options).wait():
            sys.exit("the batch failed without being killed; read the message above")
        whole = time.monotonic() - begin
        kills = 0
        for _ in range(options.kills):
            process, seconds = started(killed, options), generator.uniform(0, 2 * whole / options.kills)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                kills += 1
                print(f"killed after {seconds:.0f} s", flush=True)
                time.sleep(2)  # kernels and notebooks end by themselves when they are no longer led
        code = started(killed, options).wait()
        expected, found = made(alone), made(killed)
    wrong = [name for name in sorted({*expected, *found}) if expected.get(name) != found.get(name)]
    timed = [name for name in wrong if shows_seconds(name, options.profile)]
    wrong = [name for name in wrong if name not in timed]
    print(f"{kills} kills, {whole:.0f} s without them; {len(expected)} files, of which differ: {', '.join(wrong) or 'none'}")
    print(f"other seconds, measured anew: {', '.join(timed) or 'none'}")
    return int(bool(wrong) or code != 0)


if __name__ == "__main__":
    sys.exit(main())
