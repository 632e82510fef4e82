# make play: race a bot here and now.   make test: lint, types, import contracts and every test.
# Both set everything up first, in .venv, from whatever index pip is set to. PYTHON=… names an interpreter.

VENV := .venv
RUN := $(VENV)/bin
PYTHON ?=
# The tests wait more than they work: four processes at once are not too many for two cores.
WORKERS ?= 4
INPUTS := pyproject.toml constraints.txt

# A virtual environment does not survive being moved: its commands and the editable install name their folder.
ifneq ($(shell cat $(VENV)/.folder 2>/dev/null),$(CURDIR))
INPUTS += anew
endif

.PHONY: help play test lint types contracts docs screens catalogues clean anew
.NOTPARALLEL:

help:
	@echo "make play   race a bot here and now"
	@echo "make test   lint, types, import contracts and every test"
	@echo "make docs   write the pages that are made from the code"
	@echo "make screens  draw the pictures of the pages from a race"
	@echo "make catalogues  gather what is said to people, and compile its translations"
	@echo "make clean  forget the set-up and all caches"

# Ctrl-C is a way to leave and no error: the shell outlives it, and 130 is how cellrace says that it was that.
play: $(VENV)/.for-play
	@trap : INT; $(RUN)/cellrace demo || test $$? -eq 130

test: lint types contracts
	@$(RUN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

lint: $(VENV)/.for-test
	@$(RUN)/ruff check .
	@$(RUN)/ruff format --check .

types: $(VENV)/.for-test
	@$(RUN)/mypy --strict protocol/cellrace server/cellrace_server client/cellrace_client bench examples $$(find tests -name '*.py' ! -name 'test_*.py')

contracts: $(VENV)/.for-test
	@$(RUN)/lint-imports --no-logo

# What is made from the code: the protocol page, and parts of other pages.
docs: $(VENV)/.for-test
	@$(RUN)/python -m cellrace_server.protocol_docs docs/protocol.md
	@$(RUN)/python -m tests.made_blocks

# What is said to people, in each language: gathered from the code into its .po, and compiled from there.
catalogues: $(VENV)/.for-test
	@$(RUN)/python -m tests.catalogues

# The pictures of the pages, from a race on a server of its own.
screens: $(VENV)/.for-test
	@$(RUN)/python -m tests.made_screens

$(VENV)/.for-play: $(INPUTS)
	$(call set_up,all)
	@touch $@

$(VENV)/.for-test: $(INPUTS)
	$(call set_up,test)
	@touch $(VENV)/.for-play $@

anew:

define set_up
@folder=`cat $(VENV)/.folder 2>/dev/null || echo "$(CURDIR)"`; \
if [ "$$folder" != "$(CURDIR)" ] || ! $(RUN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	python= unfit=; \
	for name in $(if $(PYTHON),'$(PYTHON)',python3 python3.14 python3.13 python3.12 python3.11 python); do \
		"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
		if "$$name" -c 'import venv, ensurepip' 2>/dev/null; then python=$$name; break; fi; \
		unfit=$${unfit:-$$name}; \
	done; \
	if [ -z "$$python" ] && [ -n "$$unfit" ]; then \
		echo "$$unfit cannot make virtual environments. Install its venv module; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; \
	elif [ -z "$$python" ]; then \
		echo "No Python 3.11 or later was found. Install one; on Debian and Ubuntu: apt install python3 python3-venv" >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with `"$$python" --version` …" >&2; \
	rm -rf $(VENV) && "$$python" -m venv $(VENV); \
fi
@echo "Installing into $(VENV) …" >&2
@$(RUN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[$(1)]'
@printf '%s\n' "$(CURDIR)" > $(VENV)/.folder
endef

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
