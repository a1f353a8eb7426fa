"""The command of the package: `python -m kp --clear-cache` removes all compiled code, which is then compiled again."""

import argparse
import sys
from collections.abc import Sequence

from kp import compiled


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m kp",
        description="The package compiles its functions when they are first called and caches the machine code on disk.",
        epilog="Cache folders: " + ", ".join(map(str, compiled.parents())),
    )
    parser.add_argument(
        "--clear-cache", action="store_true", required=True,
        help="remove the compiled code of this version and of all earlier ones; the next fit compiles it again",
    )  # fmt: skip
    parser.parse_args(arguments)
    try:
        folders = compiled.clear_cache()
    except OSError as error:
        print(f"{error.filename}: the cache could not be removed: {error.strerror}", file=sys.stderr)
        return 1
    print(*(f"removed {folder}" for folder in folders), sep="\n") if folders else print("the cache is empty")
    return 0


if __name__ == "__main__":
    sys.exit(main())
