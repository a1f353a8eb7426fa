"""The commands of the package: `python -m kp --compile` fills the cache of compiled code, `--clear-cache` removes it."""

import argparse
import sys
import time
from collections.abc import Sequence

from kp import compiled


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m kp",
        description="The package compiles its functions when they are first called and caches the machine code on disk.",
        epilog="Cache folders: " + ", ".join(map(str, compiled.parents())),
    )
    commands = parser.add_mutually_exclusive_group(required=True)
    commands.add_argument(
        "--compile", action="store_true",
        help="compile everything that estimators need now, and share it with other copies of these sources",
    )  # fmt: skip
    commands.add_argument(
        "--clear-cache", action="store_true",
        help="remove the compiled code of this version and of all earlier ones; the next fit compiles it again",
    )  # fmt: skip
    return _compile() if parser.parse_args(arguments).compile else _clear()


def _compile():
    from kp import ahead

    start = time.perf_counter()
    ahead.fit_all()
    compiled.share()
    seconds = time.perf_counter() - start
    made, written = compiled.Cache.made, compiled.Cache.written
    if written < made:
        print(f"none of these folders can be written: {', '.join(map(str, compiled.parents()))}", file=sys.stderr)
        return 1
    print(f"compiled {made} functions, for points of bytes, whole, real and sparse numbers, in {seconds:.0f} s")
    return 0


def _clear():
    try:
        folders = compiled.clear_cache()
    except OSError as error:
        print(f"{error.filename}: the cache could not be removed: {error.strerror}", file=sys.stderr)
        return 1
    print(*(f"removed {folder}" for folder in folders), sep="\n") if folders else print("the cache is empty")
    return 0


if __name__ == "__main__":
    sys.exit(main())
