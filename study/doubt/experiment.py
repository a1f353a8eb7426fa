"""The ensemble over visiting orders: votes and scores on held-out images, on test images, and on inputs that are not digits.

Sources: Hermans 2021, final report: section 6 proposes ensembles over visiting orders and an uncertainty for each
prediction, section 7 a class "invalid input"; the perceptrons are those of its sections 3 to 5, of one degree, each with its
own order.

The last images of the training set are held out: no perceptron sees them. On them scales, temperatures, thresholds and
p-values are set; the test set then says what they are worth. The scikit-learn digits take the place of MNIST in the quick
profile.

Symbols: R orders, C classes, N images: the held-out ones, the test images, and the odd inputs, in the order of PARTS.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from tqdm import tqdm

from kp.shared import SharedTraining
from study import datasets
from study.doubt.inputs import KINDS, odd_inputs
from study.protocols.images import in_order
from study.protocols.settings import IMAGES, BaseSettings, require_integers, require_known
from study.results.experiment import experiment

HELD_OUT = {"mnist": 10_000, "digits": 300}
TOP = {"mnist": 255, "digits": 16}
"""The largest value of a pixel."""
PARTS = ("held out", "test", *KINDS)
PREDICTORS = ("final", "average")
MEMORY_BUDGET = 2 * 2**30
"""Bytes for rows of inner products."""


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """Parameters of one ensemble.

    dataset : "mnist", or "digits", the small set that comes with scikit-learn.
    degree, n_epochs : of the perceptrons.
    n_orders : how many visiting orders vote; order r has the random state degree + 100 r.
    n_held_out : how many of the last training images are held out; "default" becomes 10,000 (mnist) or 300 (digits).
    n_train : how many of the images before them are learnt, the first; "all" becomes their number.
    n_odd : how many inputs of each odd kind.
    random_state : seed of the odd inputs.

    Raises ValueError for anything else.
    """

    dataset: str = "mnist"
    degree: int = 3
    n_epochs: int = 10
    n_orders: int = 20
    n_held_out: int | str = "default"
    n_train: int | str = "all"
    n_odd: int | str = "default"
    random_state: int = 0

    KNOWN = {"dataset": IMAGES}
    BOUNDS = {"n_orders": (2, 255)}

    def __post_init__(self):
        require_known(self, **self.KNOWN)
        images = datasets.registered(self.dataset)
        size = images.n_train
        if self.n_held_out == "default":
            object.__setattr__(self, "n_held_out", HELD_OUT[self.dataset])
        if self.n_odd == "default":
            object.__setattr__(self, "n_odd", HELD_OUT[self.dataset] // 10)
        if self.n_train == "all" and isinstance(self.n_held_out, int):
            object.__setattr__(self, "n_train", size - self.n_held_out)
        super().__post_init__()
        require_integers(self, n_held_out=(100, size - 10), n_odd=(1, images.n_test))
        if self.n_train + self.n_held_out > size:
            raise ValueError(f"n_train must be at most {size - self.n_held_out}, got {self.n_train}; or hold out fewer")

    def estimators(self):
        """The estimators of the orders, not yet fitted."""
        return [in_order(self.degree, order, n_epochs=self.n_epochs) for order in range(self.n_orders)]


PUBLISHED = [Settings()]


@experiment(
    "doubt", published=PUBLISHED, tables=("orders",), arrays=lambda _: "", data=lambda s: [s.dataset],
    sample=replace(PUBLISHED[0], n_orders=2),
)  # fmt: skip
def ensemble(settings, *, progress=False):
    """{orders, arrays} of an ensemble, whose predictors are read after the last epoch; see the module.

    Table orders: order, predictor, test (errors).

    Arrays: part (N,), an index to PARTS; votes (2, N, C) uint8, how many perceptrons name each class, in the order of
    PREDICTORS; scores (N, C) float32, the mean over orders of the average predictor's scores, each order's divided by its
    scale; single (N, C) float32, those of the first order; scales (R,), the root mean square of each order's scores on the
    held-out images. Raises ValueError if the training images lack a class.
    """
    data = datasets.load(settings.dataset)
    images, part, labels = points(settings, data)
    X = data.X[: settings.n_train]
    y = data.y[: settings.n_train]
    if len(np.unique(y)) < len(data.classes):
        raise ValueError(f"the first {len(y)} images must show all {len(data.classes)} classes; raise n_train")
    training = SharedTraining(X, y, memory_budget=MEMORY_BUDGET, n_jobs=2)
    models = settings.estimators()
    size = len(y) * len(data.classes) * settings.n_epochs
    with tqdm(total=settings.n_orders * size, unit="visit", unit_scale=True, disable=not progress) as bar:
        training.fit(models, callback=bar.update)
    f = np.empty((len(PREDICTORS), settings.n_orders, len(images), len(data.classes)))
    with tqdm(total=len(images), unit="image", unit_scale=True, disable=not progress) as bar:
        for block, outputs in training.staged_outputs(models, images, callback=bar.update):
            for r, found in enumerate(outputs):
                for p, name in enumerate(PREDICTORS):
                    f[p, r, block] = found[name][-1].T
    return {"orders": _orders(f, part, labels), "arrays": {"part": part, **_summary(f, part)}}


def points(settings, data):
    """(images (N, d), part (N,) uint8, labels (N,)): all images that the ensemble reads; -1 labels what is no digit."""
    held = slice(-settings.n_held_out, None)
    X = data.X_test
    y = data.class_indices_test
    odd = odd_inputs(X, y, settings.n_odd, top=TOP[settings.dataset], random_state=settings.random_state)
    groups = [data.X[held], X, *odd.values()]
    part = np.repeat(np.arange(len(PARTS), dtype=np.uint8), [len(group) for group in groups])
    labels = np.full(len(part), -1)
    labels[part == 0] = data.class_indices[held]
    labels[part == 1] = y
    return np.concatenate(groups), part, labels


def _summary(f, part):
    """votes, scores, single and scales from f (2, R, N, C)."""
    winners = f.argmax(axis=3)
    classes = np.arange(f.shape[3])
    votes = np.stack([(winners == c).sum(axis=1) for c in classes], axis=-1).astype(np.uint8)
    average = f[PREDICTORS.index("average")]
    scales = np.sqrt((average[:, part == 0] ** 2).mean(axis=(1, 2)))
    scaled = average / scales[:, None, None]
    return {
        "votes": votes, "scores": scaled.mean(axis=0).astype(np.float32), "single": scaled[0].astype(np.float32),
        "scales": scales,
    }  # fmt: skip


def _orders(f, part, labels):
    """The table of errors from f (2, R, N, C)."""
    wrong = (f.argmax(axis=3) != labels)[:, :, part == 1].sum(axis=2)
    index = pd.MultiIndex.from_product([range(wrong.shape[1]), PREDICTORS], names=["order", "predictor"])
    return pd.DataFrame({"test": wrong.T.ravel()}, index=index).reset_index()
