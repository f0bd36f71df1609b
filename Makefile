# make help lists the targets.

# The packages of a sourced ROS 2 would come before those of .venv. Fast DDS is the only middleware
# among the wheels. Discovery is limited to this machine, so that no other can command the robot.
ifdef AMENT_PREFIX_PATH
unexport AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH PYTHONPATH LD_LIBRARY_PATH
endif
# With this variable Python stores no bytecode, and each process compiles PyTorch again (10 s).
unexport PYTHONDONTWRITEBYTECODE
export RMW_IMPLEMENTATION := rmw_fastrtps_cpp
export ROS_AUTOMATIC_DISCOVERY_RANGE ?= LOCALHOST
export PATH := $(CURDIR)/.venv/bin:$(PATH)

# Arguments of the demo's launch file, such as ARGS="rule:=rule_003 safe:=safe_07 seed:=4", or of
# scripts/mutants.py, such as ARGS="limits --sample 0".
ARGS ?=

# `make demo rule:=rule_003` would set a make variable, which the launch file does not receive.
$(foreach word,policy rule safe seed split memory,$(if $(filter command,$(origin $(word))),\
	$(error arguments of the launch file go into ARGS: make demo ARGS="$(word):=$($(word))")))

# Marks of tests (pyproject.toml describes them) that `make test` and `make check` leave out.
THOROUGH := thorough or colcon or train
SLOW := $(THOROUGH) or ros or episode

.DEFAULT_GOAL := help
.PHONY: help setup browser demo check test test-all lint docs bench clean fuzz campaign mutants paper

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

setup: ## Install what is missing: compilers, .venv, interfaces
	@scripts/setup.sh

# Without ARGS: the expert, then the policy for all rules, whose memory tokens are shown below its
# video.
demo: setup ## Watch the robot open safes: runs/<time>/; ARGS="rule:=rule_003 ..." for another one
ifeq ($(strip $(ARGS)),)
	@.venv/bin/rulesafe launch launch/sim_evaluation.launch.xml policy:=expert
	@echo "demo: now a learned policy with memory under rule_020; this takes some minutes"
	@.venv/bin/rulesafe launch launch/sim_evaluation.launch.xml rule:=rule_020 safe:=safe_02 seed:=1
	@echo "demo: the expert opened safe_03 under rule_001, the policy safe_02 under rule_020; films:"
	@ls -t runs/*/films/*/film.mp4 | head -n 2
else
	@.venv/bin/rulesafe launch launch/sim_evaluation.launch.xml $(ARGS)
endif

browser: setup
	@scripts/setup.sh tests

# mypy is one process: the tests begin meanwhile. $(1): arguments of pytest.
define run_tests
@.venv/bin/mypy & types=$$!; \
.venv/bin/ruff check . && .venv/bin/ruff format --check . && \
.venv/bin/python -m rulesafe_studies pages --check && \
.venv/bin/pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(1); \
result=$$?; wait $$types && exit $$result
endef

test: browser ## Lint, type-check, and test every promise of the product once
	$(call run_tests,-m "not ($(THOROUGH))")

test-all: browser ## Also campaigns, trainings, the colcon build and wheels, integrations and studies
	$(call run_tests,tests $(wildcard integrations studies))

check: lint ## Lint, type-check and run the tests without graph, training or episodes
	@.venv/bin/pytest -n auto --dist worksteal -q -m "not ($(SLOW))"

lint: setup ## Check style, format and types
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/python -m rulesafe_studies pages --check
	@.venv/bin/mypy

docs: setup ## Build the documents' site, build/site/index.html
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --strict
	@echo build/site/index.html

paper: setup ## Reproduce the paper's tables 1 to 4: an estimated 18 hours on two cores, resumable; runs/paper
	@studies/study.sh runs/paper paper

fuzz: setup ## Give 10 000 random and hostile inputs to each reader of files and messages
	@RULESAFE_FUZZ=10000 .venv/bin/pytest -n auto --maxprocesses 4 --timeout 0 tests/test_fuzz_readers.py \
		$(wildcard integrations/*/tests/test_fuzz.py)

campaign: setup ## Give the bridge 10 000 runs with random faults in virtual time; resumable
	@.venv/bin/python tests/h1_2_bridge/fault_campaign.py runs/campaign.jsonl --runs 10000

mutants: setup ## Change the code in single places: which changes does no test notice? ARGS="limits ..."
	@.venv/bin/python scripts/mutants.py $(ARGS)

bench: setup ## Measure speed, latency and memory on this machine
	@.venv/bin/python -m rulesafe_studies bench

clean: ## Remove what was built, .venv and runs/ excepted
	rm -rf build dist log ros2_ws/build ros2_ws/install ros2_ws/log src/*/*.egg-info *.egg-info
	rm -rf $(foreach folder,examples/plugin studies $(wildcard integrations/*),$(folder)/build $(folder)/*.egg-info)
	find . -path ./.venv -prune -o -name __pycache__ -type d -exec rm -rf {} +
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
