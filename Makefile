# `make` alone lists the targets. `make demo` and `make test` need only python3 (3.11+), git (2.38+) and make.

PY := .venv/bin/python
RUNTIME := .venv/.ready-runtime
DEV := .venv/.ready-dev
PROJECT_TOOLS := .venv/.ready-projects
NODE := .venv/.ready-dashboard
BROWSER := .venv/.ready-browser
PAGE := src/interlock/ui/web/static/index.html
PAGE_SOURCE := $(shell find dashboard -type f -not -path 'dashboard/node_modules/*' -not -name schema.d.ts)
CODE := src tests $(wildcard bench) $(wildcard scripts)
PINS := requirements/build.txt pyproject.toml scripts/setup.sh
# Tests wait for processes and the disk a third of their time, so three of them fill two cores.
JOBS ?= 3
# Extra words for pytest: make test ARGS="tests/plan -k cycle"
ARGS ?=
# Which part of the thorough tests `make test` runs too, of how many: 3/8.
THOROUGH ?= 0/1
# Which part of the browser's tests `make test-browser` runs, of how many.
PART ?= 1/1
# Which kinds of projects `make test-projects` tries; empty: all of them.
KINDS ?=
# `make mutants`: which sample, of how many.
SEED ?= 1
COUNT ?= 40
# Which agent programs `make test-agents` installs and drives; empty: all of them.
PROGRAMS ?=
LOCK := $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header

export PYTHON


.DEFAULT_GOAL := help
.PHONY: browser-ready help demo test test-all test-night test-agents test-projects test-browser dashboard mutants audit check fix bench bench-short docs openapi lock changelog release setup clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(RUNTIME): requirements/runtime.txt $(PINS)
	@sh scripts/setup.sh runtime

$(DEV): requirements/dev.txt requirements/runtime.txt $(PINS)
	@sh scripts/setup.sh dev

setup: $(DEV) ## make .venv with everything for working on Interlock

# The pages, and Node to build them, only for the demo in the browser.
demo: $(RUNTIME) $(if $(filter --ui,$(ARGS)),$(PAGE)) ## watch twelve scripted agents work in a scratch repository; under a minute, no key; ARGS=--ui shows it in the browser
	@$(PY) -m interlock demo $(ARGS)

test: $(DEV) ## the tests to run before each commit
	@INTERLOCK_THOROUGH=$(THOROUGH) $(PY) -m pytest -q -n $(JOBS) --dist worksteal -m "not night and not agents and not projects and not browser" $(ARGS)

test-all: ## the same, with the thorough tests: more variants, longer waits
	@$(MAKE) --no-print-directory test THOROUGH=1/1

test-night: $(DEV) ## the long tests, ten thousand simulated runs, more examples of each property
	@INTERLOCK_SIM_SEEDS=10000 INTERLOCK_TEST_EXAMPLES=1000 INTERLOCK_COLD_TESTS=1 \
		$(PY) -m pytest -q -n $(JOBS) --dist worksteal -m "night or sim or property" $(ARGS)

test-agents: $(DEV) ## eight real agent programs from npm and PyPI against a scripted model; PROGRAMS=codex,aider for some
	@$(PY) scripts/agent_programs.py $(if $(PROGRAMS),--only $(PROGRAMS))
	@INTERLOCK_TEST_PROGRAMS=$(PROGRAMS) $(PY) -m pytest -q -n $(JOBS) --dist worksteal -m "agents and not night" $(ARGS)

$(PROJECT_TOOLS): tests/projects/pins/package-lock.json $(DEV)
	@mkdir -p .venv/projects && cp tests/projects/pins/package.json tests/projects/pins/package-lock.json .venv/projects/
	@if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund --prefix .venv/projects; fi
	@touch $@

test-projects: $(PROJECT_TOOLS) ## small real projects of eleven kinds, from `init` to a landing; KINDS=uv,c-make for some
	@INTERLOCK_TEST_PROJECTS=$(KINDS) $(PY) -m pytest -q -n $(JOBS) --dist worksteal -m projects $(ARGS)

$(NODE): requirements/dashboard.txt $(PINS)
	@sh scripts/setup.sh dashboard

$(PAGE): $(PAGE_SOURCE) scripts/dashboard.py $(NODE)
	@$(PY) scripts/dashboard.py build

dashboard: $(PAGE) ## check and build the dashboard; Node comes from PyPI, packages from npm

$(BROWSER): requirements/browser.txt $(PINS)
	@sh scripts/setup.sh browser

browser-ready: $(NODE) $(BROWSER) $(DEV)
	@$(PY) scripts/dashboard.py install

test-browser: $(PAGE) $(BROWSER) $(DEV) ## the dashboard in headless Chromium, against real runs; PART=3/10 for some
	@INTERLOCK_THOROUGH=$(PART) $(PY) -m pytest -q -n $(JOBS) --dist worksteal -m browser $(ARGS)

mutants: $(DEV) ## wrong changes of the source that a test should notice, and the share that one does; SEED=2 COUNT=10
	@$(PY) -m scripts.mutants --seed $(SEED) --count $(COUNT) $(ARGS)

audit: $(DEV) ## look the pins up in the advisory database; says so where it cannot be reached
	@$(PY) scripts/audit.py

check: $(DEV) ## format, lint, types, layers, and a reason beside every ignore
	@$(PY) -m ruff format --check $(CODE)
	@$(PY) -m ruff check $(CODE)
	@$(PY) -m mypy $(CODE)
	@.venv/bin/lint-imports --no-logo
	@$(PY) scripts/reasons.py

fix: $(DEV) ## format, and repair what can be repaired
	@$(PY) -m ruff format $(CODE)
	@$(PY) -m ruff check --fix $(CODE)

bench: $(DEV) ## measure, with ratios; needs OR-tools for one of them
	@$(PY) -m pip install -qq --no-input --disable-pip-version-check --require-hashes -r requirements/bench.txt \
		|| echo "bench: OR-tools could not be installed, so CP-SAT is left out" >&2
	@$(PY) -m bench $(ARGS)

bench-short: $(DEV) ## the part of bench that CI runs
	@$(PY) -m bench --short $(ARGS)

docs: $(DEV) ## write the generated reference pages again
	@$(PY) scripts/docs.py

openapi: $(DEV) ## write dashboard/openapi.json, from which the dashboard generates its types
	@$(PY) -m scripts.openapi

lock: $(DEV) ## compile the pins in requirements/ again
	@$(LOCK) pyproject.toml -o requirements/runtime.txt
	@$(LOCK) requirements/build.in -o requirements/build.txt
	@$(LOCK) -c requirements/runtime.txt -c requirements/build.txt \
		pyproject.toml requirements/build.in requirements/dev.in -o requirements/dev.txt
	@$(LOCK) -c requirements/dev.txt requirements/bench.in -o requirements/bench.txt
	@$(LOCK) -c requirements/dev.txt requirements/audit.in -o requirements/audit.txt
	@$(LOCK) requirements/dashboard.in -o requirements/dashboard.txt
	@$(LOCK) -c requirements/dev.txt requirements/browser.in -o requirements/browser.txt
	@sh scripts/setup.sh dashboard && $(PY) scripts/dashboard.py lock

changelog: $(DEV) ## gather changes/ into CHANGELOG.md
	@$(PY) -m scripts.changelog

release: $(DEV) ## build sdist and wheel into dist/, try the wheel in an empty environment; uploads nothing
	@$(PY) -m scripts.release

clean: ## remove .venv and every cache
	rm -rf dashboard/node_modules dashboard/src/api/schema.d.ts src/interlock/ui/web/static
	rm -rf .venv .venv.lock .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find src tests scripts $(wildcard bench) -name __pycache__ -type d -prune -exec rm -rf {} +
