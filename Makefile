# Everything a developer types. Each target sets up what it needs in .venv first (scripts/setup.sh).
#
#   make demo     the main job, offline, with real tools and a scripted model
#   make check    format check, lint, types, tests: what CI runs
#   make test     the tests; ARGS="tests/text -k diff" chooses
#   make fuzz     the property tests with 2,000 examples each, and 300 kills of each kind
#   make bench    speed and memory, beside pi where PI=... names its package directory, and the screen's
#   make format   put the sources into their form, and tables and schemas of the documentation up to date
#
# PYTHON=/path/to/python chooses the interpreter, at the first time or to change it.

BIN := .venv/bin
SOURCES := src tests bench scripts examples
# As many workers as cores, but a large machine gains nothing from more than eight.
WORKERS ?= -n logical --maxprocesses 8 --dist worksteal
ARGS ?=

export PYTHON

.PHONY: help demo check test fuzz bench format setup setup-dev clean

help:
	@sed -n 's/^#   //p' Makefile

setup:
	@sh scripts/setup.sh run

setup-dev:
	@sh scripts/setup.sh dev

demo: setup
	@$(BIN)/sloyd demo

check: setup-dev
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q $(WORKERS)

test: setup-dev
	@$(BIN)/python -m pytest -q $(WORKERS) $(ARGS)

fuzz: setup-dev
	@SLOYD_TEST_PROFILE=fuzz $(BIN)/python -m pytest -q -m "hypothesis or kills" --timeout 3600 $(WORKERS) $(ARGS)

bench: setup
	@$(BIN)/python -m bench $(ARGS); missed=$$?; \
	if [ -z "$(ARGS)" ]; then $(BIN)/python -m bench.screen || missed=1; fi; exit $$missed

format: setup-dev
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/ruff check --fix $(SOURCES)
	@$(BIN)/python scripts/reference.py
	@$(BIN)/python scripts/make_schemas.py

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist bench/work
