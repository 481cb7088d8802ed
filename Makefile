# Every target sets up what it needs by itself: python3, pip and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FILE ?= demo
OUT ?= demo-run
AGENTS := heuristic oracle noop refuse_all random dump

.PHONY: demo test lint types check docs pictures bench bench-litellm test-litellm test-inspect test-atlas test-rl test-datasets test-serve test-sf clean

demo: $(VENV)/.installed
	@rm -rf $(OUT)
	@for agent in $(AGENTS); do \
	  $(BIN)/crmbench run $(FILE) --agent $$agent --out $(OUT)/$$agent --json --quiet >/dev/null || exit 1; \
	done
	@$(BIN)/crmbench report $(addprefix $(OUT)/,$(AGENTS)) --out $(OUT)/report.html
	@echo "Look at it: $(BIN)/crmbench view $(OUT)"

test: $(VENV)/.installed-dev lint types
	$(BIN)/pytest -n 2 --dist worksteal

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check src tests examples docs/conf.py docs/_ext
	$(BIN)/ruff format --check src tests examples docs/conf.py docs/_ext

types: $(VENV)/.installed-dev
	$(BIN)/mypy

check: lint types

# A warning fails the build: a broken link, a page that no menu names, a docstring that does not parse.
docs: .venv-docs/.installed
	.venv-docs/bin/sphinx-build -q -W --keep-going -E docs site
	@echo "The site: site/index.html"

# What the README and the docs show, from runs of the agents that come along and the pages as they are.
pictures: demo .venv-web/.installed
	PYTHONPATH=. .venv-web/bin/python -m tests.web.make_pictures $(OUT) docs/_static
	$(BIN)/crmbench report $(addprefix $(OUT)/,$(AGENTS)) --out $(OUT)/report.html --svg docs/_static/success.svg

bench: $(VENV)/.installed-dev
	$(BIN)/crmbench bench

# litellm and Inspect clash with each other and with dev: each has an environment of its own.
bench-litellm: .venv-litellm/.installed
	.venv-litellm/bin/crmbench bench --models-only

test-litellm: .venv-litellm/.installed
	.venv-litellm/bin/python -m pytest tests/models/test_litellm_real.py tests/models/test_litellm_model.py

test-inspect: .venv-inspect/.installed
	.venv-inspect/bin/python -m pytest -W ignore tests/integrations/test_inspect_bridge.py  # the warnings are Inspect's own

# Atlas wants its own litellm: an environment of its own, with PostgreSQL's embedded server.
test-atlas: .venv-atlas/.installed
	.venv-atlas/bin/python -m pytest -W ignore tests/integrations/test_atlas.py  # the warnings are the library's own

# The clients that people have, against a real server: simple-salesforce, jsforce in Node. Then what
# takes minutes: 100,000 hostile requests, a hundred sessions at once, two minutes of talk, kills.
test-serve: .venv-serve/.installed .venv-serve/node_modules/jsforce
	CRMBENCH_NODE_MODULES=$(CURDIR)/.venv-serve .venv-serve/bin/python -m pytest -o python_files='test_*.py soak_*.py' tests/serve tests/test_examples.py -k 'not openai'

# Salesforce's own command line; it wants a Node newer than most systems have.
test-sf: $(VENV)/.installed-dev .venv-serve/node_modules/@salesforce/cli
	CRMBENCH_SF=$(CURDIR)/.venv-serve $(BIN)/python -m pytest tests/serve/test_sf_cli.py

# Every page in Chromium, the system's package, driven by its path: clicks, keys, forms, screenshots,
# axe, texts that try to become more. htmx and axe-core are vendored; nothing else is fetched.
# The browser comes last: its driver keeps an event loop running in the thread of the tests.
test-web: .venv-web/.installed
	.venv-web/bin/python -m pytest tests/web/test_*.py tests/web/browser_*.py

# What trainers drive environments with, for real, each as it comes from the package index.
# verifiers pins what OpenEnv refuses, so it has an environment of its own.
test-rl: .venv-rl/.installed .venv-verifiers/.installed
	.venv-rl/bin/python -m pytest -W ignore tests/integrations/test_gym_real.py tests/integrations/test_train_example.py tests/integrations/test_rl_real.py tests/integrations/test_trl.py
	.venv-verifiers/bin/python -m pytest -W ignore tests/integrations/test_verifiers_real.py

# The Hugging Face library and Croissant's own read what generate writes.
test-datasets: .venv-datasets/.installed
	.venv-datasets/bin/python -m pytest -W ignore tests/integrations/test_datasets_real.py

.venv-datasets/.installed: .venv-datasets/bin/python pyproject.toml constraints-datasets.txt
	.venv-datasets/bin/python -m pip install -q -c constraints-datasets.txt -e . datasets 'mlcroissant[parquet]' pytest hypothesis
	touch $@

.venv-rl/.installed: .venv-rl/bin/python pyproject.toml constraints-rl.txt
	.venv-rl/bin/python -m pip install -q -c constraints-rl.txt -e '.[gym]' openenv skyrl-gym transformers datasets pytest hypothesis
	touch $@

.venv-verifiers/.installed: .venv-verifiers/bin/python pyproject.toml constraints-verifiers.txt
	.venv-verifiers/bin/python -m pip install -q -c constraints-verifiers.txt -e . verifiers pytest hypothesis
	touch $@

.venv-docs/.installed: .venv-docs/bin/python pyproject.toml constraints-docs.txt
	.venv-docs/bin/python -m pip install -q -c constraints-docs.txt -e '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) .venv-serve .venv-web .venv-litellm .venv-inspect .venv-atlas .venv-datasets .venv-docs .venv-rl .venv-verifiers site $(OUT) bench-results .mypy_cache .ruff_cache .pytest_cache

# A Python without ensurepip (Debian splits it off) gets it from the system's packages.
%/bin/python:
	$(PYTHON) -m venv $* || { apt-get update -q && apt-get install -qy python3-venv && $(PYTHON) -m venv $*; }

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[postgres,serve]"
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	touch $@ $(VENV)/.installed

.venv-litellm/.installed: .venv-litellm/bin/python pyproject.toml constraints-litellm.txt
	.venv-litellm/bin/python -m pip install -q -c constraints-litellm.txt -e '.[litellm]' pytest hypothesis
	touch $@

.venv-inspect/.installed: .venv-inspect/bin/python pyproject.toml constraints-inspect.txt
	.venv-inspect/bin/python -m pip install -q -c constraints-inspect.txt -e '.[inspect]' pytest hypothesis
	touch $@

.venv-atlas/.installed: .venv-atlas/bin/python pyproject.toml constraints-atlas.txt
	.venv-atlas/bin/python -m pip install -q -c constraints-atlas.txt -e '.[atlas,postgres]' pytest hypothesis
	touch $@

.venv-serve/.installed: .venv-serve/bin/python pyproject.toml constraints-serve.txt
	.venv-serve/bin/python -m pip install -q -c constraints-serve.txt -e '.[serve]' simple-salesforce pytest hypothesis
	touch $@

.venv-web/.installed: .venv-web/bin/python pyproject.toml constraints-web.txt
	command -v chromium >/dev/null || { apt-get update -q && apt-get install -qy --no-install-recommends chromium; }
	.venv-web/bin/python -m pip install -q -c constraints-web.txt -e '.[serve]' playwright pillow pytest hypothesis
	touch $@

# Node comes from the system's packages, jsforce from npm, both outside the repository.
.venv-serve/node_modules/jsforce: .venv-serve/.installed
	command -v npm >/dev/null || { apt-get update -q && apt-get install -qy nodejs npm; }
	npm install --silent --no-audit --no-fund --no-package-lock --prefix .venv-serve jsforce@3.10.16
	touch $@

.venv-serve/node_modules/@salesforce/cli: .venv-serve/.installed
	command -v npm >/dev/null || { apt-get update -q && apt-get install -qy nodejs npm; }
	npm install --silent --no-audit --no-fund --no-package-lock --prefix .venv-serve node@22 @salesforce/cli@2.146.3
	touch $@

.PHONY: bench-ray test-ray test-ray-kills clean-ray
bench-ray: .venv-ray/.installed
	.venv-ray/bin/crmbench bench --scale

# A Ray cluster of two nodes on this machine, one of which is killed.
test-ray: .venv-ray/.installed
	.venv-ray/bin/python -m pytest -W ignore tests/runner/executors/test_ray.py

# A node killed at a random moment, twenty times over.
test-ray-kills: .venv-ray/.installed
	.venv-ray/bin/python -m pytest -W ignore tests/runner/executors/soak_ray.py

.venv-ray/.installed: .venv-ray/bin/python pyproject.toml constraints-ray.txt
	.venv-ray/bin/python -m pip install -q -c constraints-ray.txt -e '.[ray,postgres]' pytest hypothesis
	touch $@

clean: clean-ray
clean-ray:
	rm -rf .venv-ray

# Sets and runs at addresses: in memory, and on a server of this machine that speaks S3.
.PHONY: test-remote clean-remote
test-remote: .venv-remote/.installed
	.venv-remote/bin/python -m pytest -W ignore tests/formats/test_remote.py tests/formats/test_remote_s3.py

.venv-remote/.installed: .venv-remote/bin/python pyproject.toml constraints-remote.txt
	.venv-remote/bin/python -m pip install -q -c constraints-remote.txt -e '.[remote]' 'moto[server]' pytest hypothesis
	touch $@

clean: clean-remote
clean-remote:
	rm -rf .venv-remote
