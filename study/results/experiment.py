"""A declared experiment: settings in, tidy tables out, read where they are stored and fresh, else computed.

    @experiment("tables", published=PUBLISHED, data=lambda settings: [settings.dataset])
    def kernel(settings, *, progress=False):
        ...
        return table

    kernel(PUBLISHED[0])     the rows of one part of the published table, as stored in data/results/tables_kernel.csv
    kernel(PUBLISHED)        all of them
    kernel(other_settings)   computed once and kept under build/results
    kernel.publish()         computes what is missing of the published table, part by part, and writes it

Settings are frozen dataclasses; each one is a separate part. A stored part belongs to its parameters, to the modules that
its experiment's module imports (code.py) and to its data: files, and what else it reads. Published results are never
computed on the spot: where they are missing or stale, StaleResult names the command that makes them.
"""

import hashlib
import importlib
import importlib.metadata
import json
import platform
import shutil
from dataclasses import asdict
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from study import BUILD, MEASURED, RESULTS, datasets
from study.results import code, store

VERSIONS = ("numpy", "numba", "llvmlite", "pandas", "scikit-learn", "scipy")


def experiment(chapter, **options):
    """The decorator that makes an `Experiment` of a function (settings, *, progress) -> table, or {name: table}.

    Options are those of `Experiment`.
    """
    return lambda compute: Experiment(chapter, compute, **options)


class Experiment:
    """A computation whose results are stored; see the module. Call it with settings, or with a list of them.

    Parameters
    ----------
    chapter : str
        The chapter's name, the first part of the names of its files.
    compute : function
        (settings, *, progress) -> DataFrame, or {name: DataFrame} where there are several tables. With `arrays`, a dict of
        numpy arrays is stored as one .npz file for each part.
    published : sequence of settings, or a function that returns it
        What is stored with the project, in the order of the rows.
    tables : tuple of str, default: the name of the function
        The tables that one computation gives. Their files are <chapter>_<table>.csv, or
        <chapter>.csv where both have one name.
    measured : tuple of str
        Those of the tables that hold times or memory. They are kept apart, in data/measured; what was once measured for
        these parameters stays until its file is deleted, for any code.
    arrays : function settings -> str, or None
        The name of a part in the experiment's file of arrays, <chapter>_<function>.npz, whose members are part/array; ""
        where there is one part only. The result has the arrays of a part under the key "arrays".
    data : function settings -> list of str
        The names of the datasets that are used (study.datasets).
    reads : function settings -> list of paths
        Other files of the project that the result depends on.
    parameters : function settings -> dict, default: the fields of the dataclass
        What the result depends on, as plain values.
    together : bool
        compute takes a list of settings and yields a result for each, in their order.
    processes : int
        How many parts are published side by side.
    sample : int, settings, or Experiment
        What `study stamp` and `make test-all` compute again: a published part by its index, one that takes little; settings
        like those of the published parts but smaller, all of whose rows are among those of the published tables; or another
        experiment, whose sample stands for this one, where no part of this one is small.
    stages : function () -> tuple of functions, or None
        How a single run is shared out over machines: see study.results.shares.
    sampled : tuple of str, default: all
        The tables that the sample is compared in: a table of sums over what a smaller sample has less of is none of them.
    """

    def __init__(
        self, chapter, compute, *, published=(), tables=None, measured=(), arrays=None, data=None, reads=None,
        parameters=None, together=False, processes=1, stages=None, sample=0, sampled=None,
    ):  # fmt: skip
        self.chapter = chapter
        self.compute = compute
        self.name = f"{chapter}.{compute.__name__}"
        self.tables = tables or (compute.__name__,)
        self.measured = measured
        self.arrays = arrays
        self._published = published
        self._data = data
        self._reads = reads
        self._parameters = parameters
        self.together = together
        self.processes = processes
        self.stages = stages
        self.sample = sample
        self.sampled = sampled or self.tables
        self.__doc__ = compute.__doc__
        self.__module__ = compute.__module__
        self.__wrapped__ = compute

    def __reduce__(self):
        return _find, (self.__module__, self.compute.__name__)

    def __repr__(self):
        return f"<experiment {self.name}>"

    @property
    def published(self):
        """The settings of the published results, a list."""
        return list(self._published() if callable(self._published) else self._published)

    @property
    def command(self):
        return f"python -m study run {self.name}"

    def __call__(self, settings, *, progress=False):
        """The table of these settings (one, or a list), or {name: table} where the experiment has several.

        Raises StaleResult for published settings whose stored results are missing, damaged, or made by other code.
        """
        asked = list(settings) if isinstance(settings, list | tuple) else [settings]
        found = self.known(asked)
        for s, result in self._computed([s for s in asked if s not in found], progress):
            self._keep(s, result)
            found[s] = self._checkpoint(s)
        return self._result([found[s] for s in asked])

    def known(self, settings):
        """{settings: {name: rows}} of those of a list that are stored, or kept under build/.

        Raises StaleResult for published settings whose stored results are missing, damaged, or made by other code.
        """
        published = self.published
        found = self._stored([s for s in settings if s in published])
        others = [s for s in settings if s not in found]
        return found | {s: result for s in others if (result := self._checkpoint(s)) is not None}

    def publish(self, *, recompute=False, progress=False):
        """Compute what is missing of the published results and write them to data/results.

        A part is kept under build/ when it is done, so an interrupted run goes on where it stopped. Parts that were
        published when there were fewer are taken from there. recompute=True computes everything again; measured tables are
        kept where they are stored, and an experiment that has no others is not computed.
        """
        if (not recompute or set(self.tables) <= set(self.measured)) and self.is_fresh():
            return
        earlier = {} if recompute else self._earlier()
        missing = [s for s in self.published if recompute or (s not in earlier and self._checkpoint(s) is None)]
        if recompute:
            for s in missing:
                shutil.rmtree(self._steps(s), ignore_errors=True)
        if self.processes > 1 and not self.together:
            jobs = Parallel(n_jobs=self.processes, return_as="generator_unordered")(
                delayed(_publish_part)(self, s) for s in missing
            )
            for _ in tqdm(jobs, total=len(missing), desc=self.name, disable=not progress):
                pass
        else:
            for s, result in self._computed(missing, progress):
                self._keep(s, result)
        results = [earlier[s] if s in earlier else self._checkpoint(s) for s in self.published]
        arrays = {}
        if self.arrays:
            parts = {self.arrays(s): result["arrays"] for s, result in zip(self.published, results, strict=True)}
            members = {f"{part}/{name}".lstrip("/"): array for part, own in parts.items() for name, array in own.items()}
            store.write_arrays(self.array_path, members, self._without_code(self.published))
            arrays = {part: store.arrays_hash(own) for part, own in parts.items()}
        for table in self.tables:
            parts = [result[table] for result in results]
            if table not in self.measured or not self._is_stored(table):
                record = {**self.provenance(self.published), "parts": [len(part) for part in parts]}
                record |= {"computed": str(date.today())} | ({"arrays": arrays} if arrays else {})
                store.write_table(self.path(table), pd.concat(parts, ignore_index=True), record, self.command)
        for s in self.published:
            for path in self._checkpoint_paths(s).values():
                path.unlink(missing_ok=True)
                path.with_suffix(".json").unlink(missing_ok=True)

    def checkpoint(self, settings, step, compute):
        """The arrays {name: array} of a step of a long computation, for the computing function itself.

        They are the arrays that an interrupted run has kept under build/, or compute(), which are kept now. step is a name.
        The steps of a part are removed when the part is done.
        """
        path = self._steps(settings) / f"{step}.npz"
        source = self.provenance([settings])
        try:
            return store.read_arrays(path, source, self.command)
        except store.StaleResult:
            arrays = compute()
            store.write_arrays(path, arrays, source)
            return arrays

    def differences(self, *, keys=tuple(store.KEYS)):
        """The names of the tables (and "arrays") that come out otherwise when the sample is computed again.

        keys are the fields of provenance in which what is stored must agree.
        """
        if isinstance(self.sample, Experiment):
            return self.sample.differences(keys=keys)
        published = self.published
        is_part = isinstance(self.sample, int)
        part = published[self.sample] if is_part else self.sample
        stored = self._stored(published[self.sample : self.sample + 1] if is_part else published, keys=keys)
        ((_, made),) = self._computed([part], False)
        known = self._result(list(stored.values()))
        known = {self.tables[0]: known} if isinstance(known, pd.DataFrame) else known
        found = []
        for table in self.tables:
            ours, theirs = (store.table_text(each[table]).splitlines() for each in (made, known))
            if (
                table in self.sampled
                and table not in self.measured
                and (ours != theirs if is_part else not set(ours) <= set(theirs))
            ):
                found.append(table)
        if self.arrays and is_part and store.arrays_hash(made["arrays"]) != store.arrays_hash(known["arrays"][0]):
            found.append("arrays")
        return found

    def stamp(self):
        """Write the present code into the provenance of all published results; tables and arrays keep their values.

        Call it after the sample was computed again and came out equal: the provenance says on which day. Raises StaleResult
        if they belong to other parameters or data.
        """
        found = self._read_arrays(self.published, keys=store.WITHOUT_CODE) if self.arrays else {}
        arrays = {self.arrays(s): store.arrays_hash(own) for s, own in found.items()}
        marks = {"sample_equal": {"date": str(date.today()), "sample": self._sample_named()}}
        for table in self.tables:
            if table not in self.measured:
                stored = store.read_record(self.path(table), self.command)
                if arrays and stored.get("arrays", arrays) != arrays:
                    raise store.StaleResult(f"{self.name}: its arrays are not those of its tables; run: {self.command}")
                marks |= {"computed": stored.get("computed")} | ({"arrays": arrays} if arrays else {})
                store.stamp_table(self.path(table), self.provenance(self.published), self.command, **marks)

    def _sample_named(self):
        """The sample as plain values: the index of a part, settings, or the name of another experiment."""
        if isinstance(self.sample, Experiment):
            return self.sample.name
        if isinstance(self.sample, int):
            return self.sample
        return {type(self.sample).__name__: json.loads(json.dumps(self._plain(self.sample)))}

    def is_fresh(self):
        """True if all published results are stored and belong to the code, the parameters and the data."""
        try:
            for table in self.tables:
                self._read(table)
            if self.arrays:
                self._read_arrays(self.published)
        except store.StaleResult:
            return False
        return True

    def path(self, table):
        """The file of a published table."""
        stem = self.chapter if table == self.chapter else f"{self.chapter}_{table}"
        return (MEASURED if table in self.measured else RESULTS) / f"{stem}.csv"

    def stored_files(self):
        """All files of published results, tables first."""
        return [self.path(t) for t in self.tables] + ([self.array_path] if self.arrays else [])

    def source_files(self):
        """The source files, relative to the project, in which the code stands that the results depend on."""
        return code.files(code.program(self.compute))

    def datasets(self, settings):
        """The names of the datasets of these settings, each once."""
        names = [name for s in settings for name in (self._data(s) if self._data else ())]
        return list(dict.fromkeys(names))

    def reads(self, settings):
        """The other files that the results of these settings depend on, sorted."""
        return sorted({Path(path) for s in settings for path in (self._reads(s) if self._reads else ())})

    def provenance(self, settings):
        """Return the inputs of the results of a list of settings: a dict of plain values.

        Raises StaleResult if a file that they are computed from is missing.
        """
        parameters = [self._plain(s) for s in settings]
        data = {name: datasets.facts(name) for name in self.datasets(settings)}
        # With the folder, as many chapters have a statements.toml.
        files = {f"{path.parent.name}/{path.name}": store.content_hash(path) for path in self.reads(settings)}
        return {
            "experiment": self.name,
            "parameters": json.loads(json.dumps(parameters)),
            "code": code.fingerprint(code.program(self.compute)),
            "data": json.loads(json.dumps(data | files)),
            "versions": dict(_versions()),
        }

    def _without_code(self, settings):
        """The provenance that arrays carry: their code is that of their tables, whose provenance has their hashes."""
        return {key: value for key, value in self.provenance(settings).items() if key != "code"}

    def _plain(self, settings):
        return self._parameters(settings) if self._parameters else asdict(settings)

    def _computed(self, settings, progress):
        """Yield (settings, {name: table}) of each one, computed now."""
        if self.together:
            results = self.compute(settings, progress=progress) if settings else ()
        else:
            results = (self.compute(s, progress=progress) for s in settings)
        for s, result in zip(settings, results, strict=True):
            yield s, {self.tables[0]: result} if isinstance(result, pd.DataFrame) else result

    def _result(self, results):
        """One result from those of several settings: tables one below the other, arrays as a list."""
        found = {name: pd.concat([each[name] for each in results], ignore_index=True) for name in self.tables}
        if self.arrays:
            return found | {"arrays": [each["arrays"] for each in results]}
        return found if len(self.tables) > 1 else found[self.tables[0]]

    def _stored(self, settings, among=None, keys=tuple(store.KEYS)):
        """{settings: {name: rows}} of some published parts; `among`: all that are stored, if not all that are published."""
        found = {s: {} for s in settings}
        published = among or self.published
        for table in self.tables if settings else ():
            rows = self._read(table, among, keys)
            ends = np.cumsum([0, *store.read_record(self.path(table))["parts"]])
            for s in settings:
                part = published.index(s)
                found[s][table] = rows.iloc[ends[part] : ends[part + 1]].reset_index(drop=True)
        if self.arrays and settings:
            for s, own in self._read_arrays(settings, among, keys).items():
                found[s]["arrays"] = own
        return found

    def _earlier(self):
        """{settings: {name: rows}} of parts that are stored among others than are published now, and fresh."""
        try:
            record = store.read_record(self.path(self.tables[0]))
            by_parameters = {self._key(s): s for s in self.published}
            settings = [by_parameters[_key_of(plain)] for plain in record["parameters"]]
            return self._stored(settings, among=settings) if len(settings) < len(self.published) else {}
        except (store.StaleResult, KeyError):
            return {}

    def _read(self, table, among=None, keys=tuple(store.KEYS)):
        """A published table, all parts of it (or those of `among`); a measured one may be of other code."""
        keys = ("experiment", "parameters") if table in self.measured else keys
        return store.read_table(self.path(table), self.provenance(among or self.published), self.command, keys=keys)

    def _read_arrays(self, settings, among=None, keys=tuple(store.KEYS)):
        """{settings: arrays} of some published parts (or of `among`); where the code counts, they belong to the tables."""
        path = self.array_path
        parts = {self.arrays(s): s for s in settings}
        source = self._without_code(among or self.published)
        members = store.read_arrays(path, source, self.command, keys=store.WITHOUT_CODE, folders=parts)
        found = {s: {} for s in settings}
        for member, array in members.items():
            part, _, name = member.rpartition("/")
            found[parts[part]][name] = array
        if "code" in keys:
            known = store.read_record(self.path(self.tables[0]), self.command).get("arrays", {})
            if any(known.get(part) != store.arrays_hash(found[s]) for part, s in parts.items()):
                raise store.StaleResult(f"{path.name} does not belong to its tables; make it again with: {self.command}")
        return found

    def _is_stored(self, table):
        try:
            self._read(table)
        except store.StaleResult:
            return False
        return True

    @property
    def array_path(self):
        """The file of the published arrays."""
        return RESULTS / f"{self.name.replace('.', '_')}.npz"

    def _steps(self, settings):
        """The folder of the steps of one part that is being computed."""
        return BUILD / "results" / self.name / f"{self._key(settings)}_steps"

    def _key(self, settings):
        return _key_of(self._plain(settings))

    def _checkpoint_paths(self, settings):
        """{name: path} of the files in which one part is kept under build/."""
        folder = BUILD / "results" / self.name
        key = self._key(settings)
        paths = {table: folder / f"{key}_{table}.csv" for table in self.tables}
        return paths | ({"arrays": folder / f"{key}.npz"} if self.arrays else {})

    def _checkpoint(self, settings):
        """{name: rows} of one part as kept under build/, or None."""
        source = self.provenance([settings])
        try:
            return {
                name: (store.read_arrays if name == "arrays" else store.read_table)(path, source, self.command)
                for name, path in self._checkpoint_paths(settings).items()
            }
        except store.StaleResult:
            return None

    def _keep(self, settings, result):
        source = self.provenance([settings])
        for name, path in self._checkpoint_paths(settings).items():
            if name == "arrays":
                store.write_arrays(path, result[name], source)
            else:
                store.write_table(path, result[name], source, self.command)
        shutil.rmtree(self._steps(settings), ignore_errors=True)


@cache
def _versions():
    return {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in VERSIONS}}


def _key_of(plain):
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


def _publish_part(experiment, settings):
    for s, result in experiment._computed([settings], False):
        experiment._keep(s, result)


def _find(module, name):
    return getattr(importlib.import_module(module), name)
