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
FAISS := $(VENV)/.faiss
# Validators of the catalogue files, and what evaluates formulas: their pins clash with Prefect's.
VALIDATORS := $(VENV)/validators/.ready
# The scores of benchmarks.nist: they want numpy 1.24, and Python 3.11.
SDNIST := $(VENV)/sdnist/.ready
# Models of benchmarks.reconstruction: scikit-learn and LightGBM are no dependencies here.
ATTACKS := $(VENV)/attacks/.ready
# The classifiers of benchmarks.anonml.
ANONML := $(VENV)/anonml/.ready
# The package that benchmarks.lighthouse compares with: it wants numpy below 2.
LIGHTHOUSE := $(VENV)/lighthouse/.ready

# Hundreds of processes import the same modules: some environments forbid to keep them compiled.
export PYTHONDONTWRITEBYTECODE :=

TEAM ?= open
PGSERVER := $(VENV)/.pgserver

.PHONY: demo team test test-all validators sdnist attacks anonml mutants check format bench
.PHONY: bench-all lighthouse lock clean

demo: $(READY)          ## release a real survey and show the result
	$(BIN)/crowdcover demo

team: $(READY) $(PGSERVER)  ## a team's services, two months of a series; TEAM=check ends by itself
	$(BIN)/python deploy/team/team.py $(if $(filter check,$(TEAM)),--check)

test: $(KERNELS) $(DATABASE)  ## all tests but the slow suites; PROFILE=thorough draws more examples
	$(PYTEST) -m "not slow" --hypothesis-profile $(PROFILE) $(WORKERS)

test-all: PROFILE = thorough
test-all: test $(VALIDATORS)  ## the slow suites, too: real tables, servers, more kills
	$(PYTEST) -m slow --hypothesis-profile $(PROFILE) $(WORKERS)

validators: $(VALIDATORS)  ## what checks datapackage.json, croissant.json and the like

sdnist: $(SDNIST)       ## what scores the releases of benchmarks.nist

attacks: $(ATTACKS)     ## what learns in benchmarks.reconstruction

anonml: $(ANONML)       ## what trains the classifiers of benchmarks.anonml

lighthouse: $(LIGHTHOUSE)  ## the package that benchmarks.lighthouse compares with

mutants: $(KERNELS)     ## planted faults, each caught by a fast test
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

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) $(FAISS)  ## print `name: value` lines; needs CROWDCOVER_DATA or ../shared/data
	$(BIN)/python -m benchmarks.anonymize adult.toml adult/adult.data.gz
	$(BIN)/python -m benchmarks.versus_mondrian
	$(BIN)/python -m benchmarks.anonymize openpayments.toml \
		openpayments/open_payments_gnrl_iowa_2013_2015.csv.gz
	$(BIN)/python -m benchmarks.versus_faiss
	$(BIN)/python -m benchmarks.threads
	$(BIN)/python -m benchmarks.judge
	$(BIN)/python -m benchmarks.insider
	$(BIN)/python -m benchmarks.paper_tables caltech36 reed98 haverford76 simmons81 adult adult-zeros
	$(BIN)/python -m benchmarks.methods --records 500
	$(BIN)/python -m benchmarks.uniform_draw --records 200 --draws 800
	$(BIN)/python -m benchmarks.figures poker
	$(BIN)/python -m benchmarks.smooth.figures curve
	$(BIN)/python -m benchmarks.smooth.table1 adult-dec13 play-cat7 caltech36
	$(BIN)/python -m benchmarks.triangles versus --edges 1000000

bench-all: bench $(SDNIST) $(ATTACKS) $(ANONML) $(LIGHTHOUSE)  ## all figures of the docs: hours
	$(BIN)/python -m benchmarks.growth open-payments
	$(BIN)/python -m benchmarks.growth poker
	$(BIN)/python -m benchmarks.scaling poker
	$(BIN)/python -m benchmarks.paper_tables census poker cms
	$(BIN)/python -m benchmarks.even
	$(BIN)/python -m benchmarks.methods
	$(BIN)/python -m benchmarks.releases
	$(BIN)/python -m benchmarks.whole --set "compute.memory='10 GiB'"
	$(BIN)/python -m benchmarks.registry --picture docs/pictures/series.png
	$(BIN)/python -m benchmarks.registry --method adaptive --months 3
	$(BIN)/python -m benchmarks.freeform
	$(BIN)/python -m benchmarks.versus_published
	$(BIN)/python -m benchmarks.lighthouse 8
	$(BIN)/python -m benchmarks.lighthouse 10
	$(BIN)/python -m benchmarks.nist --picture docs/pictures/nist.png
	$(BIN)/python -m benchmarks.nist --puma --cells intervals --ways 'default, rules'
	$(BIN)/python -m benchmarks.reconstruction
	$(BIN)/python -m benchmarks.anonml
	for figure in fig2 fig4 fig5 fig6 fig7 fig8 fig9 fig10 growth carry by-k; do \
		$(BIN)/python -m benchmarks.figures $$figure || exit; done
	for figure in levels epsilon income blocks; do \
		$(BIN)/python -m benchmarks.smooth.figures $$figure || exit; done
	$(BIN)/python -m benchmarks.smooth.scale 100000 1000000
	$(BIN)/python -m benchmarks.triangles versus
	$(BIN)/python -m benchmarks.triangles shuffle
	$(BIN)/python -m benchmarks.triangles large
	$(BIN)/python -m benchmarks.graphs.relevance
	$(BIN)/python -m benchmarks.graphs.worlds
	$(BIN)/python -m benchmarks.graphs.cells
	$(BIN)/python -m benchmarks.graphs.growth
	$(BIN)/python -m benchmarks.graphs.figure docs/pictures/graph-figures.png

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(PYCANON)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

$(KERNELS): $(READY) $(shell find anon_core -name '*.py')
	$(BIN)/python -m tests.kernels
	touch $@

$(DATABASE): $(READY)
	rm -rf $@.home && PREFECT_HOME=$(abspath $@.home) DO_NOT_TRACK=1 \
		$(BIN)/prefect server database upgrade --yes
	mv $@.home/prefect.db $@ && rm -rf $@.home
	touch $@

$(FAISS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]' \
		&& touch $@ \
		|| echo "faiss could not be installed; its comparison is left out"

$(VALIDATORS): tests/reports/catalogue/requirements.txt | $(READY)
	$(PYTHON) -m venv $(VENV)/validators
	$(VENV)/validators/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(SDNIST): benchmarks/nist/requirements.txt | $(READY)
	$(PYTHON) -m venv $(VENV)/sdnist
	$(VENV)/sdnist/bin/python -m pip install --quiet --disable-pip-version-check -r $< \
		&& touch $@ \
		|| echo "SDNist could not be installed; its scores are left out"

$(ATTACKS): benchmarks/reconstruction/requirements.txt | $(READY)
	$(PYTHON) -m venv $(VENV)/attacks
	$(VENV)/attacks/bin/python -m pip install --quiet --disable-pip-version-check -r $< \
		&& touch $@ \
		|| echo "scikit-learn or LightGBM could not be installed; attacks that learn are left out"

$(ANONML): benchmarks/anonml/requirements.txt | $(READY)
	$(PYTHON) -m venv $(VENV)/anonml
	$(VENV)/anonml/bin/python -m pip install --quiet --disable-pip-version-check -r $< \
		&& touch $@ \
		|| echo "scikit-learn and XGBoost could not be installed; their scores are left out"

$(LIGHTHOUSE): benchmarks/baselines/lighthouse-requirements.txt | $(READY)
	$(PYTHON) -m venv $(VENV)/lighthouse
	$(VENV)/lighthouse/bin/python -m pip install --quiet --disable-pip-version-check -r $< \
		&& touch $@ \
		|| echo "project-lighthouse-anonymize could not be installed; it is left out"

# PostgreSQL for `make team`, where the system has none.
$(PGSERVER): $(READY)
	ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check pgserver==0.1.4
	touch $@

lock:                   ## resolve the pins of requirements.lock again
	rm -rf .lock && $(PYTHON) -m venv .lock
	.lock/bin/pip install --quiet '.[dev,docs,postgres,duckdb,mssql,s3,cluster,dask,otel,lineage]'
	(sed -n 1p requirements.lock; .lock/bin/pip freeze --exclude crowdcover) > requirements.lock.new
	mv requirements.lock.new requirements.lock
	rm -rf .lock build *.egg-info

clean:
	rm -rf $(VENV) build dist *.egg-info crowdcover-demo crowdcover-team
