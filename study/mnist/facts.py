"""What texts say of the published study itself: how much of it is reproduced, and what its own runs show.

The ledger says what is reproduced. Errors are those of the published visiting order of each degree.
"""

from functools import cache
from types import SimpleNamespace

from kp.mistakes import PREDICTORS
from study import claims, datasets, statistics
from study.mnist import experiment, tables
from study.mnist.experiment import NeighbourSettings, SixDegrees
from study.protocols.images import examples

SOURCE = "Hermans 2021"
PUBLISHED = SixDegrees()
"""The published study: the order of each degree whose seed is the degree."""
AVERAGE = 1
"""The place of the average predictor."""


@cache
def reproduced():
    """table: how many published numbers are the same here, by kind; files: the numbers of the first three kinds, which the
    source's files hold, and whole: whether all of these are the same; differs: published numbers of Table 1 that are not;
    fails: the theses that do not hold, and verdicts: how many theses have which."""
    ledger, _, said = claims.stored()
    own = ledger[ledger["source"] == SOURCE]
    theses = said[said["source"] == SOURCE]
    table = tables.replicated(own)
    files = table[:3]
    return SimpleNamespace(
        table=table, files=files["numbers"].tolist(), whole=files["numbers"].equals(files["the same"]),
        differs=own.loc[own["item"].str.endswith("Table 1") & (own["verdict"] != "exact"), "published"].tolist(),
        fails=theses.loc[theses["verdict"] == "does not hold", "key"].str.rpartition("/")[2].tolist(),
        verdicts=theses["verdict"].value_counts().to_dict(),
    )  # fmt: skip


@cache
def six_degrees(run=PUBLISHED):
    """The runs of the published order of each degree: {multiclass, binary, confusion, arrays}, as `experiment.degrees`."""
    return experiment.degrees(run.runs())


@cache
def logs(run=PUBLISHED):
    """The mistake logs of these runs: a list of ten for each degree."""
    return [experiment.logs_from_arrays(arrays) for arrays in six_degrees(run)["arrays"]]


@cache
def best(run=PUBLISHED):
    """The fewest test errors of each predictor, at which degree and epoch: `tables.ranking` by predictor."""
    return tables.ranking(six_degrees(run)["multiclass"]).set_index("predictor")


@cache
def confusions(run=PUBLISHED):
    """{name: matrix} of the three predictors of the source at the degree and epoch of `best`: see `tables.confusions`."""
    own = best(run).loc[["average", "minimizing", "final"]]
    found = tables.confusions(six_degrees(run)["confusion"], own)
    return {f"{name}, degree {own.loc[name, 'degree']}": matrix for name, matrix in found.items()}


@cache
def one_order(run=PUBLISHED):
    """At which (epoch, degree, predictor) one order detects more errors than the average predictor's, at degrees above 1:
    McNemar's exact test, Holm over 36 with degree 1; over test images."""
    pairs = experiment.comparisons(run)
    seen = pairs[(pairs["family"] == "average") & (pairs["degree"] > 1) & (pairs["p"] < statistics.ALPHA)]
    seen = seen[seen["estimate"] > 0]
    return list(zip(seen["epoch"], seen["degree"], seen["predictor"], strict=True))


@cache
def halves(run=PUBLISHED):
    """Whether the first half of the test images is detectably the harder one, for the average predictor of each degree above
    1 after the last epoch and for the nearest neighbour (Fisher's tests, Holm over all)."""
    labels = datasets.load(run.dataset).class_indices_test
    arrays = six_degrees(run)["arrays"][1:]
    errors = {f"degree {d}": own["predictions"][AVERAGE, -1] != labels for d, own in enumerate(arrays, start=2)}
    neighbour = experiment.neighbours(NeighbourSettings(run.dataset, run.n_train))["arrays"][0]["predictions"][0, 0]
    found = tables.halves(errors | {"nearest neighbour": neighbour != labels}, len(labels) // 2)
    return bool(((found["p"] < statistics.ALPHA) & (found["estimate"] > 0)).all())


@cache
def one_degree(run):
    """What one run (experiment.Settings) has to say for itself, over its test images.

    multiclass, binary: its tables; last: error rates after the last epoch by predictor; against: the other predictors less
    the average one there (McNemar's exact test, Holm over three), and reach: the largest difference that it may not show;
    logs: those of its perceptrons, with their number of mistakes and of support vectors.
    """
    results = experiment.degrees(run)
    multiclass = results["multiclass"]
    end = multiclass.query("epoch == @run.n_epochs and split == 'test'").set_index("predictor")
    own = results["arrays"][0]
    missed = own["predictions"][:, -1] != examples(run.dataset).class_indices_test
    pairs = {name: statistics.mcnemar(row, missed[AVERAGE]) for name, row in zip(PREDICTORS, missed, strict=True)}
    pairs.pop("average")
    against = statistics.table(statistics.holm(pairs))
    own_logs = experiment.logs_from_arrays(own)
    return SimpleNamespace(
        multiclass=multiclass, binary=results["binary"], last=end["errors"] / end["n"], against=against,
        reach=statistics.half_widths(against)[1], logs=own_logs, mistakes=sum(map(len, own_logs)),
        support=tables.support_size(own_logs),
    )  # fmt: skip


@cache
def files_are_exact(degree):
    """Whether the ledger has counts from the source's files for this degree, and all of them are reproduced."""
    ledger = claims.stored()[0]
    own = ledger[ledger["quantity"].str.contains(f"degree {degree},") & (ledger["kind"] == "files")]
    return len(own) > 0 and bool((own["verdict"] == "exact").all())
