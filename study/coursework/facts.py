"""The numbers that the text quotes of one run of the protocol."""

from types import SimpleNamespace

from study import statistics
from study.coursework import tables
from study.coursework.experiment import PUBLISHED, TEST_SHARE, coursework


def of_run(results, settings):
    """chosen : the choice of each split (`tables.choices`), error and value its means, sd_error and sd_value their standard
    deviations
    flattery : by how much the lowest test error of a split lies below that at the chosen value, on average
    pair : `tables.most_confused`
    tests : in how many splits an example is tested, on average
    hardest : `missed`, the first five; always : how many examples were missed in all of at least three tests
    against : `tables.against` of the final predictor (of the average one, if the final one chooses), other its name; told,
        the degrees or widths at which a difference is detected
    methods : `tables.methods`, a row for each method
    """
    errors, predictor = results["errors"], settings.predictor
    chosen = tables.choices(errors, predictor)
    missed = results["missed"]
    other = "average" if predictor == "final" else "final"
    against = tables.against(errors, predictor, other)
    always = (missed["missed"] == missed["tested"]) & (missed["tested"] >= 3)
    labels = sorted(results["confusion"]["label"].unique())
    return SimpleNamespace(
        chosen=chosen, error=chosen["error"].mean(), sd_error=chosen["error"].std(), value=chosen["value"].mean(),
        sd_value=chosen["value"].std(), flattery=(chosen["error"] - chosen["lowest"]).mean(),
        pair=tables.most_confused(results["confusion"], labels), tests=settings.n_splits * TEST_SHARE,
        hardest=missed.head(5), always=int(always.sum()), other=other, against=against,
        told=against.loc[against["p"] < statistics.ALPHA, "value"].tolist(),
        methods=tables.methods(errors, predictor).set_index("method"),
    )  # fmt: skip


def published(dataset, scheme):
    """The facts of the published run on this dataset with this scheme."""
    (settings,) = (each for each in PUBLISHED if (each.dataset, each.scheme) == (dataset, scheme))
    return of_run(coursework(settings), settings)
