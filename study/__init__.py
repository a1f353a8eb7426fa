"""Everything that turns the algorithms into a report: experiments, stored results, figures, notebooks, documents."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The project's folder: data, results, notebooks and figures lie below it, wherever a command is run from."""

RESULTS = ROOT / "data" / "results"
BUILD = ROOT / "build"


def reject_unknown_parameters(namespace, known):
    """Raise ValueError if the notebook's namespace holds a plain value that is none of its parameters.

    papermill passes a mistyped parameter on with a warning only; here the notebook itself refuses it. namespace is the
    notebook's globals(), known the names of its parameters, separated by blanks. Call it right after the parameters.
    Constants (in capitals) and names that begin with an underscore do not count.
    """
    plain = (bool, int, float, str, bytes, list, tuple, dict, set, type(None))
    found = {name for name, value in namespace.items() if isinstance(value, plain) and name[0] != "_" and not name.isupper()}
    found -= {"In", "Out"}
    if unknown := sorted(found - set(known.split())):
        raise ValueError(f"parameters must be among {', '.join(known.split())}, got {', '.join(unknown)}; correct the name")
