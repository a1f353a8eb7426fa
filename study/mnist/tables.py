"""Small tables that the notebooks show, aggregated from results and stored tables; nothing is computed twice here."""

import numpy as np
import pandas as pd

from kp.gram import CrossGram, Points, Products
from kp.mistakes import PREDICTORS
from kp.predictors import scores
from study import datasets
from study.claims import interval
from study.forms import experiment as forms
from study.mnist.experiment import kernel


def with_rates(table):
    """The table of counts with error (a fraction) and its exact 95 % interval, low and high (fractions)."""
    low, high = interval(table["errors"], table["n"])
    return table.assign(error=table["errors"] / table["n"], low=low / table["n"], high=high / table["n"])


def by_epoch(multiclass, split):
    """Counts of errors of one degree: a row for each epoch, a column for each predictor."""
    rows = multiclass[multiclass["split"] == split].pivot(index="epoch", columns="predictor", values="errors")
    return rows[list(PREDICTORS)].rename_axis(columns=None).reset_index()


def ranking(multiclass, split="test"):
    """The best degree and epoch of each predictor: fewest errors, of equals the lowest degree and the earliest epoch."""
    rows = multiclass[multiclass["split"] == split].sort_values(["errors", "degree", "epoch"], kind="stable")
    best = rows.groupby("predictor", as_index=False, sort=False).first()
    return with_rates(best)[["predictor", "degree", "epoch", "errors", "n", "error", "low", "high"]]


def best_by_degree(multiclass, split="test"):
    """The best epoch of each predictor at each degree, with rates and intervals."""
    rows = multiclass[multiclass["split"] == split].sort_values(["errors", "epoch"], kind="stable")
    best = rows.groupby(["degree", "predictor"], as_index=False, sort=True).first()
    order = best["predictor"].map(PREDICTORS.index)
    best = best.assign(order=order).sort_values(["degree", "order"], ignore_index=True).drop(columns="order")
    return with_rates(best)


def mistakes_by_digit(logs):
    """A row for each digit: mistakes, support vectors (distinct examples), mistakes in the first and in the last epoch."""
    rows = []
    for digit, log in enumerate(logs):
        made = np.diff([0, *(log.length(e) for e in range(1, log.n_epochs + 1))])
        row = {"digit": digit, "mistakes": len(log), "support_vectors": len(np.unique(log.example))}
        rows.append(row | {"in epoch 1": made[0], "in the last epoch": made[-1]})
    return pd.DataFrame(rows)


def hardest(logs, count):
    """The training examples with the most mistakes over all digits; of equals the first. Columns example, mistakes."""
    examples, mistakes = np.unique(np.concatenate([log.example for log in logs]), return_counts=True)
    order = np.lexsort([examples, -mistakes])[:count]
    return pd.DataFrame({"example": examples[order], "mistakes": mistakes[order]})


def misclassified(result, data, predictor, epoch, count):
    """The test images that one predictor gets most wrong: example, true, predicted and the two scores.

    Scores are in units of the largest score of the image in size; sorted by the lead of the wrong digit, largest first.
    """
    labels = np.searchsorted(data.classes, data.y_test)
    predicted = result.predictions[PREDICTORS.index(predictor), epoch - 1]
    wrong = np.flatnonzero(predicted != labels)
    points = Points(data.X[: result.experiment.n_train]), Points(data.X_test[wrong])
    f = scores(result.logs, kernel(result.experiment), CrossGram(Products(*points)), predictor, epoch)
    f = f / np.abs(f).max(axis=0)
    column = np.arange(len(wrong))
    table = pd.DataFrame(
        {
            "example": wrong,
            "true": labels[wrong],
            "predicted": predicted[wrong],
            "score of the true digit": f[labels[wrong], column],
            "score of the predicted digit": f[predicted[wrong], column],
        }
    )
    lead = table["score of the predicted digit"] - table["score of the true digit"]
    return table.iloc[np.argsort(-lead, kind="stable")[:count]].reset_index(drop=True)


def published_beside_ours(multiclass, published):
    """A row for each degree and epoch; cells "published (ours minus published)" for each predictor and split."""
    keys = ["degree", "epoch", "predictor", "split"]
    both = published.merge(multiclass, on=[*keys, "n"], suffixes=("_published", ""))
    both["difference"] = both["errors"] - both["errors_published"]
    both["cell"] = [f"{p} ({d})" for p, d in zip(both["errors_published"], both["difference"], strict=True)]
    both["column"] = both["predictor"] + ", " + both["split"]
    columns = [f"{p}, {s}" for s in ("train", "test") for p in PREDICTORS if p in set(both["predictor"])]
    cells = both.pivot(index=["degree", "epoch"], columns="column", values="cell")[columns]
    return cells.rename_axis(columns=None).reset_index()


def agreement(claims):
    """How many claims of each item have which verdict, as counts; one row an item."""
    verdicts = pd.Categorical(claims["verdict"], ["exact", "within", "outside"])
    return pd.crosstab(claims["item"], verdicts, dropna=False).rename_axis(columns=None).reset_index()


def selection_optimism(results, *, draws, random_state):
    """Choose degree and epoch on a random half of the test set and look at the other half, many times.

    Columns predictor, draw, degree, epoch, chosen_on and rest (error rates on the two halves).
    """
    random = np.random.RandomState(random_state)
    wrong = np.stack([result.predictions != _labels(result) for result in results])  # (degree, predictor, epoch, image)
    n, total, rows = wrong.shape[-1], wrong.sum(axis=-1), []
    for draw in range(draws):
        half = random.permutation(n)[: n // 2]
        chosen = wrong[..., half].sum(axis=-1)
        for p, predictor in enumerate(PREDICTORS):
            d, e = np.unravel_index(chosen[:, p].argmin(), chosen[:, p].shape)
            inside = chosen[d, p, e] / len(half)
            rest = (total[d, p, e] - chosen[d, p, e]) / (n - len(half))
            degree = results[d].experiment.degree
            rows.append(
                {"predictor": predictor, "draw": draw, "degree": degree, "epoch": e + 1, "chosen_on": inside, "rest": rest}
            )
    return pd.DataFrame(rows)


def _labels(result):
    """The true classes (n_test,) of a result's test set."""
    data = datasets.load(result.experiment.dataset)
    return np.searchsorted(data.classes, data.y_test)


def support_size(logs):
    """The number of distinct examples on which any of the perceptrons erred."""
    return len(np.unique(np.concatenate([log.example for log in logs])))


def beside_literature(cited, best):
    """The cited test errors with our best predictors among them, largest error first."""
    ours = best.assign(
        method=[f"**Kernel perceptron, {b.predictor}, degree {b.degree}, epoch {b.epoch}**" for b in best.itertuples()],
        preprocessing="none",
        source="this study",
        test_error=best["error"],
    )
    both = pd.concat([cited, ours[list(cited)]], ignore_index=True).sort_values("test_error", ascending=False, kind="stable")
    return both.rename(columns={"test_error": "test error"})


def epochs_to_reach(test, predictor, error):
    """The first epoch at which the predictor, at any degree, errs on no more than this fraction; "more than E" if never."""
    rows = test[(test["predictor"] == predictor) & (test["errors"] <= error * test["n"])]
    return int(rows["epoch"].min()) if len(rows) else f"more than {test['epoch'].max()}"


def rivals(by_degree, winner):
    """How many degrees above 1, other than the winner's, have their best error in its interval, and where degree 1 lies."""
    best = by_degree.groupby("degree")["error"].min()
    inside = (winner.low <= best) & (best <= winner.high)
    others = inside[(best.index > 1) & (best.index != winner.degree)]
    return {"others": len(others), "inside": int(others.sum()), "linear": "inside" if inside[1] else "outside"}


def at_the_end(errors, n=None):
    """One row a form of study.forms.experiment, after its last epoch with n training examples (default: the most of each).

    Columns form, kernel, n, epoch, n_test, mistakes, support, and the counts of test errors of each predictor.
    """
    rows = errors[errors["n"] == (errors.groupby("form")["n"].transform("max") if n is None else n)]
    rows = rows[rows["epoch"] == rows.groupby("form")["epoch"].transform("max")]
    rows = rows.assign(kernel=[describe(kind, value) for kind, value in zip(rows["kernel"], rows["parameter"], strict=True)])
    keys = ["form", "kernel", "n", "epoch", "n_test", "mistakes", "support"]
    table = rows.pivot(index=keys, columns="predictor", values="errors").rename_axis(columns=None).reset_index()
    table = table.reindex(columns=[*keys, *PREDICTORS])
    return table.sort_values("form", key=lambda names: names.map(forms.FORMS.index), ignore_index=True)


def describe(kind, parameter):
    """A kernel of study.forms.experiment in words."""
    return f"RBF, $\\sigma$ = {parameter:g}" if kind == "rbf" else f"$(1 + x \\cdot y)^{{{parameter:g}}}$"


def spectra(dataset, kinds, n):
    """{title: (shares of K, shares of K^2)}: eigenvalues among n examples, descending, of kernels [(kind, parameter)]."""
    points, out = Points(forms.split(dataset)[0][:n]), {}
    for kind, parameter in kinds:
        K = CrossGram(Products(points, points)).values(forms.kernel_of(kind, parameter), np.arange(n))
        values = np.maximum(np.linalg.eigvalsh(K)[::-1], 0.0)
        out[describe(kind, parameter)] = values / values.sum(), values**2 / np.sum(values**2)
    return out
