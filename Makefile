# Every target makes the virtual environment that it needs; `make demo` and `make test`
# are all that a fresh clone wants.
VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
MARK = $(VENV)/.installed

.PHONY: demo test tt lint format bench bench-small fuzz attack examples docs wheel clean

demo: $(MARK)-run
	$(BIN)/python examples/demo.py

test: $(MARK)-test
	$(BIN)/python -m pytest -n auto --dist loadfile --durations=10

# the real tt-mlir, in a folder of its own: beside JAX it would register itself with it
tt: $(MARK)-tt

lint: $(MARK)-dev
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(MARK)-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(MARK)-test
	$(BIN)/python benchmarks/speed/run.py --keep

bench-small: $(MARK)-test
	$(BIN)/python benchmarks/speed/run.py --small --check

# stored answers are asked anew first; the campaigns keep none. Programs of the newest
# JAX and of public packages need a Python that has these: TTXDSL_NEWEST_PYTHON and
# TTXDSL_PACKAGES_PYTHON name them (docs/evidence/packages.md); else they are skipped
fuzz: $(MARK)-test
	$(BIN)/python -m pytest -n auto --dist loadfile --ask-oracle
	$(BIN)/python -m pytest -m fuzz

attack: $(MARK)-test
	$(BIN)/python -m pytest -m attack

# the site, in build/site; the reference is written from the code first
docs: $(MARK)-docs
	$(BIN)/python docs/scripts/reference.py
	$(BIN)/python docs/scripts/pictures.py
	$(BIN)/python -m tests.conversion.lowering_page > docs/reference/lowering.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	$(BIN)/python docs/scripts/playground.py

# the package as users install it: a wheel in an empty environment, far from the sources
wheel:
	rm -rf build/wheel
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel .
	build/wheel/venv/bin/python -m pip install --quiet build/wheel/ttxdsl-*.whl
	cp -r examples build/wheel/examples
	cd build/wheel && venv/bin/python -P examples/demo.py

# the examples export themselves anew from JAX
examples: $(MARK)-test
	$(BIN)/python examples/export.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(MARK)-run: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

# most of what JAX and SciPy install is never imported: bytecode is written when it is
$(MARK)-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[test]'
	touch $@

$(MARK)-tt: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(VENV)/tt jax-tt-plugin==0.1.3
	touch $@

$(MARK)-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[test,dev]'
	touch $@

$(MARK)-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) build .pytest_cache .ruff_cache .hypothesis
