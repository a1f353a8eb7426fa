"""What the figures of Xu & Zhang 2005 tell of their sets in the plane, and what it says of its algorithm in words."""

import numpy as np
import pandas as pd

from study import claims as ledger
from study.multiclass import experiment

SOURCE, CHAPTER = "Xu & Zhang 2005", "multiclass"


def claims():
    """A row for each figure: ours is what a set of the same description gives, drawn and visited by the seed 0.

    low and high are the middle 95 % of the draws, percentile the place of the published number among them. The rows are
    degenerate: our sets are separable by construction, so that the algorithm stops without an error.
    """
    draws, rows = experiment.source_figures(experiment.source_figures_parts()), []
    for claim in ledger.published("xu_zhang_2005_figures").itertuples():
        found = draws[draws["item"] == claim.item]
        errors = found["train_errors"].to_numpy()
        low, high = np.quantile(errors, [0.025, 0.975])
        figure = claim.item.removeprefix("Fig. ").replace(" (", "").replace(")", "")
        rows.append(
            {
                "key": f"xu-zhang-2005/figure-{figure}/training-errors",
                "item": claim.item,
                "quantity": claim.quantity,
                "published": claim.published,
                "ours": errors[0],
                "low": low,
                "high": high,
                "interval_of": f"draws of the set, each with an order of its own ({len(errors)})",
                "n": found["n_train"].iloc[0],
                "same_data": False,
                "percentile": ledger.percentile(errors, claim.published),
                "degenerate": True,
                "explanation": "our set of the same description is separable by construction",
            }
        )
    return ledger.rows(pd.DataFrame(rows), source=SOURCE, chapter=CHAPTER)


def statements():
    """What the source says in words of its examples in the plane and of its algorithm, each with a verdict from numbers.

    That two parameters alone matter is judged in study.uci.claims, on the source's own sets.
    """
    plain = experiment.PUBLISHED
    known = experiment.identities(plain.identities())
    edges = experiment.boundaries(plain.fresh())
    rows = [
        _no_errors(experiment.source_figures(experiment.source_figures_parts())),
        _lines_and_curves(known),
        _smooth(edges, plain.sigma),
        _close(edges[edges["sigma"] == plain.sigma]),
        _kesler(known),
        _transform(known, experiment.separability(plain.separability())),
        _simplest(known),
    ]
    return ledger.statement_rows(rows, source=SOURCE, chapter=CHAPTER)


def _row(name, place, statement, verdict, evidence):
    key = f"xu-zhang-2005/multiclass/{name}"
    return {"key": key, "place": place, "statement": statement, "verdict": verdict, "evidence": evidence}


def _no_errors(draws):
    clean = int((draws["train_errors"] == 0).sum())
    return _row(
        "no-training-errors", "IV.A", "all training samples of the examples in the plane are classified correctly",
        "holds" if clean == len(draws) else "holds in part" if clean else "does not hold",
        f"{clean} of {len(draws)} runs, over {draws['draw'].nunique()} draws of the set of each figure, end without a "
        "training error; the sets are separable by construction.",
    )  # fmt: skip


def _lines_and_curves(known):
    affine = dict(zip(zip(known["dataset"], known["kernel"], strict=True), known["affine"], strict=True))
    five = known["dataset"].iloc[0]
    right = [affine[five, "linear"] == "yes", affine[five, "poly"] == "no"]
    return _row(
        "lines-and-curves", "IV.A", "boundaries are piecewise linear with the linear kernel, not with the polynomial one",
        "holds" if all(right) else "holds in part" if any(right) else "does not hold",
        f"The scores are affine functions of the examples with the linear kernel: {affine[five, 'linear']}; with the "
        f"polynomial kernel of degree 2: {affine[five, 'poly']}.",
    )  # fmt: skip


TWICE = 2.0
"""Boundaries that turn at most so many times as much as the arms that they follow are called smooth."""


def arms_turning():
    """Radians by which an arm of the four spirals turns per unit of its length."""
    t = np.linspace(np.pi / 2, 2.5 * np.pi, 4000)
    return experiment.turning([(t / np.pi)[:, None] * np.column_stack([np.cos(t), np.sin(t)])])[1]


def _smooth(edges, sigma):
    by_width, arms = edges.groupby("sigma")["turning"].mean(), arms_turning()
    ratio, widths = by_width / arms, by_width.index
    return _row(
        "smooth-boundaries", "IV.A, Fig. 3", "the boundaries of the four spirals are very smooth",
        "holds" if ratio[sigma] <= TWICE else "does not hold",
        f"Over {edges['draw'].nunique()} draws the boundaries turn by {by_width[sigma]:.2f} radians per unit of length at "
        f"the width {sigma:g}, {ratio[sigma]:.1f} times as much as the arms themselves, and {ratio[widths[0]]:.1f} times at "
        f"the width {widths[0]:g}; up to {TWICE:g} times is called smooth here.",
    )  # fmt: skip


def _close(own):
    least, middle, most = own["close"].min(), own["close"].median(), own["close"].max()
    return _row(
        "close-to-boundaries", "IV.A, Fig. 3", "some training samples are very close to boundaries",
        "holds" if least > 0 else "holds in part" if most > 0 else "does not hold",
        f"Over {len(own)} draws {least} to {most} (median {middle:g}) of {own['n'].iloc[0]} examples lie less than "
        f"{experiment.CLOSE:g} from a boundary, the nearest {own['nearest'].min():.3f} to {own['nearest'].max():.3f}; the "
        "arms are 0.5 apart.",
    )  # fmt: skip


def _kesler(known):
    summed = (known["kesler"] == "yes").sum()
    bounded = (known["mistakes"] <= known["bound"]).sum()
    cycles = experiment.cycles(np.array([[1], [-3], [-1], [0], [2]]), np.arange(5)).set_index("demoted")["ends"]
    exception = "; where all rivals are demoted, a mistake adds none, and a separable set is known on which the run repeats "
    return _row(
        "kesler", "II", "Kesler's construction reduces the multiclass problem to the binary one, which proves convergence",
        "does not hold" if min(summed, bounded) < len(known) else "holds",
        f"With one class demoted, in {summed} of {len(known)} runs the weights are the sum of one Kesler vector for each "
        f"mistake, and in {bounded} the mistakes stay below the bound that follows"
        + (f"{exception}for ever." if cycles["all"] == "repeats" else "."),
    )  # fmt: skip


def _transform(known, separability):
    same = (known["transformed"] == "yes").sum()
    able = separability[separability["separable"] == "yes"]
    stopped = (able["converged"] == "yes").sum()
    return _row(
        "convergence", "III", "the kernel algorithm's convergence follows from that of the linear one by a proper transform",
        "holds" if same == len(known) and stopped == len(able) else "does not hold",
        f"Eq. 5 on examples described by their kernel values makes the same mistakes as eq. 11 in {same} of {len(known)} "
        f"runs; in {stopped} of {len(able)} cases where a linear programme finds the classes separable the algorithm stops.",
    )  # fmt: skip


def _simplest(known):
    row = known.iloc[-1]
    theirs, ordinary = 2 * row["examples"], 2
    return _row(
        "simplest", "V", "by its structure the method is the simplest multiclass kernel algorithm, and easier to implement",
        "does not hold" if theirs > ordinary else "cannot be told",
        "The source names no measure of simplicity; counted here is what a step takes. On the "
        f"{row['examples']} examples of {row['dataset']} a mistake moves {theirs} coefficients, with the ordinary update "
        f"{ordinary}; a prediction takes {row['examples']} kernel values, with the ordinary update {row['support']}. What "
        "is easier to implement is not measured.",
    )  # fmt: skip
