# `make report` and `make test` need only Python 3.11, make and git: they create .venv and install into it.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest
OUT ?= out

.PHONY: report test test-long bench lint types coq coq-check lesson docs docs-check clean help

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

report: $(READY)  ## the main job on a real model with real text: out/minilm/report.html
	$(BIN)/certify report minilm --text examples/text.txt --out $(OUT)/minilm
	OMP_NUM_THREADS=1 $(BIN)/certify demo words --out $(OUT)/words

test: $(READY)  ## the default tests (under 10 minutes on 2 cores)
	$(PYTEST) -n auto --dist loadfile

test-long: $(READY)  ## slow sweeps: soundness, coverage, 100 x more property cases
	$(PYTEST) -m long

bench: $(READY)  ## speed ratios against peers, measured in one run
	$(BIN)/pip install -q -c constraints.txt -e '.[bench]'
	$(PYTEST) -m bench -s tests/bench

lint: $(READY)  ## ruff
	$(BIN)/ruff check certify proofs tests
	$(BIN)/ruff format --check certify proofs tests

types: $(READY)  ## mypy
	$(BIN)/mypy

coq:  ## build the machine-checked part (needs coq, coquelicot and interval)
	$(MAKE) -C proofs/coq all

coq-check: coq  ## coqchk and the axioms of every exported theorem
	$(MAKE) -C proofs/coq check

lesson: $(READY)  ## the course as static pages: out/lesson/index.html
	$(BIN)/certify teach --out $(OUT)/lesson --no-browser

docs: $(READY)  ## the documentation with the course in it: out/docs/index.html
	$(BIN)/python -m certify.teach.docs --out $(OUT)/docs

docs-check: $(READY)  ## run every command and code block of README and docs (about 15 minutes)
	$(PYTEST) -m docs -v --timeout 700 tests/docs

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "certify needs Python 3.11 or newer, this is " + sys.version)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $(READY)

clean:  ## remove what was built (not .venv)
	rm -rf $(OUT) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	$(MAKE) -C proofs/coq clean
