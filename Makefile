# Needs Python >= 3.11 and make. Every target first makes the environment .venv from requirements.lock.txt, once, unless a
# conda environment that has all packages is active.
# README.md gives the plain commands for machines without make.

PYTHON ?= python3
PROFILE ?= quick
RECOMPUTE ?= 0
REPORT ?= all
CODE ?= 0
SHEET ?=
YES ?= 0
TIMEOUT ?= 600
UNPROTECTED ?= 0

# A value that would be ignored or misread stops make with one line.
one_of = $(if $(filter-out $(2),$($(1)))$(word 2,$($(1))),$(error $(1) must be one of $(2), got $($(1))))
$(call one_of,PROFILE,quick full)
$(foreach each,RECOMPUTE CODE YES UNPROTECTED,$(call one_of,$(each),0 1))

# The Python of .venv, or of an active conda environment that has all that is needed; kernels are its own.
PY = $(eval PY := "$$(shell $$(PYTHON) bootstrap.py --python)")$(PY)
unexport JUPYTER_PATH
# Code of another checkout must not run here.
unexport PYTHONPATH
# Without byte code each of the many processes would compile all libraries again.
unexport PYTHONDONTWRITEBYTECODE

SNAKEMAKE = @$(PY) workflow/batch.py $(ANEW) --profile workflow/profiles/default --quiet host reason rules \
	--config profile=$(PROFILE) recompute=$(RECOMPUTE) report=$(REPORT) code=$(CODE) --

# All tests in lanes, which run side by side, since those of batches often wait for processes.
LANES = test-kp test-batch test-notebooks test-study

.DEFAULT_GOAL := help
.PHONY: help report pdf check api test test-all test-notebooks-long $(LANES) clean environment

help: ## show this list
	@awk -F ' ## ' '/^[a-z-]+:.* ## / { sub(/:.*/, "", $$1); printf "make %-8s %s\n", $$1, $$2 }' Makefile

report: REPORT = all
report: environment ## run the study and write the HTML report; PROFILE=full: at published scale; RECOMPUTE=1: recompute
	$(if $(filter-out all,$(REPORT)),$(error REPORT=$(REPORT) is for make pdf; make report writes the report of the study))
	$(SNAKEMAKE) report
	@echo
	@echo "The report of the study:                  build/full/report.html"
	@echo "Its ledger, with filters:                 build/full/ledger.html"
	@test $(PROFILE) != quick || echo "What was executed now, on bundled data:   build/quick/report.html"

# Texts as they were typed: make does not expand them, the shell does not see them.
unexport TITLE AUTHOR COURSE DATE DECLARATION
# It takes less than a minute, and what a font lacks is said each time.
pdf: ANEW = --forcerun document
pdf: export KP_TITLE := $(value TITLE)
pdf: export KP_AUTHOR := $(value AUTHOR)
pdf: export KP_COURSE := $(value COURSE)
pdf: export KP_DATE := $(value DATE)
pdf: export KP_DECLARATION := $(value DECLARATION)
pdf: export KP_NOTEBOOKS := $(value NOTEBOOKS)
pdf: environment ## write a PDF of the report, or of your runs: NOTEBOOKS="a.ipynb 'b c.ipynb'" (see docs/HANDIN.md)
ifneq ($(and $(value NOTEBOOKS),$(SHEET)$(filter-out all,$(REPORT))),)
	$(error NOTEBOOKS prints your own runs; leave REPORT and SHEET out)
else ifneq ($(SHEET),)
	@$(PY) -m study report --kind pdf --profile full --report $(REPORT) --sheet $(SHEET)
else ifdef NOTEBOOKS
	@printf '%s\n' "$$KP_NOTEBOOKS" | xargs $(PY) -m study report --kind pdf --profile full $(if $(filter-out 0,$(CODE)),--code) --target build/own.pdf --notebooks || exit 1  # xargs has its own code
else
	$(SNAKEMAKE) pdf
	@echo "The PDF: build/full/$(if $(filter all,$(REPORT)),report,$(REPORT)).pdf"
endif

unexport HANDIN NOTEBOOKS
check: export KP_HANDIN := $(value HANDIN)
# It runs other people's code.
check: environment ## run a hand-in again in a sandbox and compare its results: HANDIN=file.ipynb or folder (see docs/HANDIN.md)
	@test -n "$$KP_HANDIN" || { echo "make check needs HANDIN=file.ipynb or HANDIN=folder"; exit 2; }
	@$(PY) -m study check --timeout $(TIMEOUT) $(if $(filter-out 0,$(UNPROTECTED)),--unprotected) \
		$(if $(filter-out 0,$(YES)),--yes) "$$KP_HANDIN" \
		|| { code=$$?; test $$code = 4 || { test $$code -lt 6 && test -t 0; } || exit $$code; }

# The package, and its modules in the order in which their pages are listed.
PAGES = kp kp.one_vs_all kp.output_codes kp.codes kp.shared kp.stream kp.multiclass kp.budget kp.romma kp.delta_rule kp.mistakes kp.predictors kp.display kp.estimator kp.kernels kp.perceptron kp.joint

api: environment ## the classes and functions of kp, a page for each module: build/api/index.html
	@$(PY) -m pdoc --docformat numpy --no-include-undocumented --template-directory study/report/api --output-directory build/api $(PAGES)
	@echo "Classes and functions of kp: build/api/index.html"

# nbval loads the reader of notebooks before any test, grammar of web addresses included: it is left out where no notebook is run,
# and comes after study/report/__init__.py, which keeps the grammar out, where notebooks are.
PYTEST = $(PY) -m pytest -p no:nbval
NBVAL = $(PY) -m pytest -p study.report -p no:cacheprovider --nbval-current-env

test: environment ## check style and formatting, run the tests and most notebooks on bundled data (about 3 minutes)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	@$(MAKE) --no-print-directory -j 4 $(LANES)

test-all: test ## make test, then run the executed notebooks again and recompute a part of every experiment
	$(PYTEST) -m "recompute or long"
	@$(MAKE) --no-print-directory test-notebooks-long
	$(NBVAL) --nbval notebooks/executed

# What the lanes of `make test` hold. What notebooks print is kept back until the lane ends.
BATCH = $(addprefix tests/study/test_,chapters.py check.py document.py experiment.py forked.py machines.py own_runs.py runs.py workflow.py)
# These read the runs at published scale, which need the raw images: their executed copies are held by their fingerprint.
SOURCES = $(filter-out %.part.ipynb %.failed.ipynb notebooks/front.ipynb notebooks/conclusion.ipynb notebooks/questions.ipynb notebooks/%_opening.ipynb notebooks/%_closing.ipynb,$(sort $(wildcard notebooks/*.ipynb)))
# The longest are for `make test-all`; `make report` executes them, too.
LONG = $(addprefix notebooks/,$(addsuffix .ipynb,course family hermans_results lower seeds uci))

# Lanes share the processor, so each computes with one thread; that of kp uses all, and holds its bits against one.
$(filter-out test-kp,$(LANES)): export OPENBLAS_NUM_THREADS := 1
$(filter-out test-kp,$(LANES)): export LOKY_MAX_CPU_COUNT := 1

test-kp:
	$(PYTEST) tests/kp

test-batch:
	@$(PY) -m study held
	$(PYTEST) $(BATCH) tests/test_*.py

test-study:
	$(PYTEST) tests/study $(addprefix --ignore=,$(BATCH))

test-notebooks: NOTEBOOKS = $(filter-out $(LONG),$(SOURCES))
test-notebooks-long: NOTEBOOKS = $(filter $(LONG),$(SOURCES))
test-notebooks test-notebooks-long:
	@mkdir -p build
	@$(NBVAL) --nbval-lax $(NOTEBOOKS) > build/$@.log 2>&1; \
	    code=$$?; cat build/$@.log; exit $$code

# Where Python leaves byte code. Of a link rm removes the link alone, and find does not follow it: what lies elsewhere stays.
CODE_FOLDERS = $(wildcard kp study tests benchmarks notebooks)

clean: ## remove build (your own runs included) and caches; keep the environment and committed results
	rm -rf build .snakemake .pytest_cache .ruff_cache .mypy_cache .hypothesis kernel_perceptron.egg-info
	find $(CODE_FOLDERS) -type d -name __pycache__ -prune -exec rm -rf {} +

environment:
	@$(PYTHON) bootstrap.py
