# Every target sets itself up. A fresh machine needs python3 (3.11 or later), venv and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest
PROFILE ?= fast
# Three on two cores: tests wait for processes. The order is that of tests/conftest.py.
WORKERS := --numprocesses 3 --dist loadfile --no-loadscope-reorder
KERNELS := $(VENV)/.kernels
# See tests/conftest.py.
DATABASE := $(VENV)/.prefect.db
# For tests/flows/test_classes.py. Without its pins, which want an older numpy.
PYCANON := pycanon==1.3.6
# Validators of the catalogue files, and what evaluates formulas: their pins clash with Prefect's.
VALIDATORS := $(VENV)/validators/.ready

# Hundreds of processes import the same modules: some environments forbid to keep them compiled.
export PYTHONDONTWRITEBYTECODE :=

# What a checked installation has.
EXTRAS := [dev,docs,postgres,duckdb,mssql,s3,cluster,dask,otel,lineage,office,sklearn]

TEAM ?= open
PGSERVER := $(VENV)/.pgserver

.PHONY: demo team test test-all soak bounds validators mutants check format bench bench-all newest
.PHONY: lock sbom clean

demo: $(READY)          ## release a real survey and show the result
	$(BIN)/crowdcover demo

team: $(READY) $(PGSERVER)  ## a team's services, two months of a series; TEAM=check ends by itself
	$(BIN)/python deploy/team/team.py $(if $(filter check,$(TEAM)),--check)

test: $(KERNELS) $(DATABASE)  ## tests of a second or two: five minutes; PROFILE=thorough draws more
	$(PYTEST) -m "not slow and not long" --hypothesis-profile $(PROFILE) $(WORKERS)

test-all: test bounds $(VALIDATORS)  ## the others, too: whole courses, real tables, servers
	$(PYTEST) -m "(slow or long) and not soak" --hypothesis-profile $(PROFILE) $(WORKERS)

soak: $(KERNELS) $(DATABASE) $(VALIDATORS)  ## all tests but the fast: more seeds, drawn thoroughly
	$(PYTEST) -m "slow or long" --hypothesis-profile thorough $(WORKERS)

# Machine code that looks at every index before it reads or writes has a folder of its own.
bounds: $(READY)        ## tests of the kernels, each index checked: without, a wrong one goes unseen
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(abspath $(VENV))/bounds \
		$(PYTEST) tests/anon_core -m "not slow and not long" $(WORKERS)

validators: $(VALIDATORS)  ## what checks datapackage.json, croissant.json and the like

mutants: $(KERNELS)     ## planted faults, each caught by a test that is not slow
	$(BIN)/python -m tests.mutants

check: $(READY) docs    ## lint, format, types, imports between packages, the site of the docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Its search needs a web server: python3 -m http.server --directory build/site. The variable
# silences a note about the next version of MkDocs.
.PHONY: docs
docs: $(READY)          ## the site of the docs: build/site/index.html; a broken link fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

sbom: $(READY)          ## build/sbom.cdx.json: every package here, its version and licence
	mkdir -p build
	$(BIN)/python deploy/sbom.py > build/sbom.cdx.json

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench bench-all:        ## measurements: minutes, hours; see benchmarks/Makefile
	$(MAKE) -C benchmarks $@

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(PYCANON)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

# Each state of the sources has a folder of its own: see anon_core/jit/kernel.py.
$(KERNELS): $(READY) $(shell find anon_core -name '*.py')
	rm -rf anon_core/__pycache__/kernels-*
	$(BIN)/python -m tests.kernels
	touch $@

$(DATABASE): $(READY)
	rm -rf $@.home && PREFECT_HOME=$(abspath $@.home) DO_NOT_TRACK=1 \
		$(BIN)/prefect server database upgrade --yes
	mv $@.home/prefect.db $@ && rm -rf $@.home
	touch $@

$(VALIDATORS): tests/reports/catalogue/requirements.txt | $(READY)
	$(PYTHON) -m venv $(VENV)/validators
	$(VENV)/validators/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

# PostgreSQL for `make team`, where the system has none.
$(PGSERVER): $(READY)
	ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check pgserver==0.1.4
	touch $@

newest:                 ## every dependency in its newest version: what changed, and what breaks
	rm -rf .newest && $(PYTHON) -m venv .newest
	.newest/bin/pip install --quiet --disable-pip-version-check --editable '.$(EXTRAS)'
	.newest/bin/pip install --quiet --disable-pip-version-check --no-deps $(PYCANON)
	-.newest/bin/pip freeze --exclude-editable | diff --unchanged-line-format= - requirements.lock
	touch .newest/.ready
	$(MAKE) test VENV=.newest

lock:                   ## resolve the pins of requirements.lock again
	rm -rf .lock && $(PYTHON) -m venv .lock
	.lock/bin/pip install --quiet '.$(EXTRAS)'
	(sed -n 1p requirements.lock; .lock/bin/pip freeze --exclude crowdcover) > requirements.lock.new
	mv requirements.lock.new requirements.lock
	rm -rf .lock build *.egg-info

clean:
	rm -rf $(VENV) .newest build dist *.egg-info crowdcover-demo crowdcover-team
