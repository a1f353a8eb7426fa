"""Small tables about recipes for a low error. Rates are fractions."""

import numpy as np
import pandas as pd

from study.lowest import experiment
from study.lowest.experiment import KEY
from study.words import styled


def tried(dataset="mnist", *, n_held=10_000):
    """All recipes that were tried: the columns of `held` and of its costs, and error (held-out)."""
    found = experiment.held(experiment.candidates(dataset, n_held=n_held))
    table = found["held"].merge(found["held_costs"], on=list(KEY), validate="one_to_one")
    return table.assign(error=table["errors"] / table["n"])


def alone(tried):
    """The fewest held-out errors of each preparation without copies: preparation, degree and error, the lowest first."""
    rows = tried[tried["copies"] == 0]
    best = rows.loc[rows.groupby("preparation")["errors"].idxmin()]
    return best[["preparation", "degree", "error"]].sort_values("error", ignore_index=True)


def steps(tried):
    """The recipe with the fewest errors of each preparation, of each number of copies, and of each protocol, in the order in
    which they were tried; ties go to the first."""
    lines = tried.groupby(["preparation", "copies", "protocol"], sort=False)
    return tried.loc[lines["errors"].idxmin()].reset_index(drop=True)


def in_words(steps):
    """`steps` as they are printed."""
    shown = pd.DataFrame(
        {
            "preparation": steps["preparation"],
            "copies": steps["copies"],
            "degree": steps["degree"],
            "held-out errors": steps["errors"],
            "held-out error": steps["error"],
            "training (s)": steps["prepare"] + steps["fit"],
            "memory (GiB)": steps["peak"],
        }
    )
    return styled(shown, {"held-out error": ".2%", "training (s)": ",.0f", "memory (GiB)": ".1f"})


def reached(dataset="mnist", *, n_held=10_000):
    """(predictions (R, n_test), costs): the chosen recipe on the test images in R orders, and the mean costs of one: fit, in
    which the preparation is, predict and peak."""
    found = experiment.reached(experiment.chosen(dataset, n_held=n_held))
    mean = found["reached_costs"][["prepare", "fit", "predict", "peak"]].mean()
    costs = {"fit": mean["prepare"] + mean["fit"], "predict": mean["predict"], "peak": mean["peak"]}
    return np.stack([arrays["predictions"] for arrays in found["arrays"]]), costs
