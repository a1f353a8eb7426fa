# Needs Python >= 3.11 and make. Every target first makes the environment .venv from requirements.lock.txt, once.
# README.md gives the plain commands for machines without make.

PYTHON ?= python3
PROFILE ?= quick
RECOMPUTE ?= 0

SNAKEMAKE = .venv/bin/python -m snakemake --profile profiles/default $(if $(MAKE_TERMOUT),,--quiet host progress reason rules) \
	$(if $(filter-out 0,$(RECOMPUTE)),--forceall) --config profile=$(PROFILE) recompute=$(RECOMPUTE) --

.DEFAULT_GOAL := help
.PHONY: help report pdf test test-code test-notebooks clean environment

help: ## show this list
	@awk -F ' ## ' '/^[a-z]+:.* ## / { sub(/:.*/, "", $$1); printf "make %-8s %s\n", $$1, $$2 }' Makefile

report: environment ## run the study and write the HTML report; PROFILE=full for the published scale, RECOMPUTE=1 to use no stored results
	$(SNAKEMAKE) report
	@echo
	@echo "The report of the study:                  build/full/report.html"
	@test $(PROFILE) != quick || echo "What was executed now, on bundled data:   build/quick/report.html"

pdf: export KP_TITLE := $(TITLE)
pdf: export KP_AUTHOR := $(AUTHOR)
pdf: export KP_COURSE := $(COURSE)
pdf: export KP_DATE := $(DATE)
pdf: environment ## write the report as PDF; TITLE= AUTHOR= COURSE= DATE= fill the title page
	$(SNAKEMAKE) pdf
	@echo "The report of the study as PDF: build/full/report.pdf"

test: environment ## check style and formatting, then run all tests and all notebooks
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	@$(MAKE) --no-print-directory -j 2 test-code test-notebooks

test-code:
	.venv/bin/python -m pytest

# Beside the tests of the code, so the output is kept back until it ends. What needs no data is the same in both profiles:
# its executed copy alone is run and compared.
test-notebooks:
	@mkdir -p build
	@( .venv/bin/python -m pytest --nbval-lax --nbval-current-env \
	       $(filter-out %/algorithm.ipynb %/multiclass.ipynb %.part.ipynb %.failed.ipynb,$(wildcard notebooks/*.ipynb)) && \
	   .venv/bin/python -m pytest --nbval --nbval-current-env notebooks/executed \
	) > build/test-notebooks.log 2>&1; code=$$?; cat build/test-notebooks.log; exit $$code

clean: ## remove what the other targets made, except the environment and committed results
	rm -rf build .snakemake .pytest_cache .ruff_cache .hypothesis *.egg-info
	find . -path ./.venv -prune -o -type d -name __pycache__ -exec rm -rf {} +

environment:
	@$(PYTHON) bootstrap.py
