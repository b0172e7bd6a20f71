# Two commands to know: `make start` and `make test`. `make help` lists the rest.

PYTHON ?= python3
BIN := $(CURDIR)/.venv/bin
export PATH := $(BIN):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help start test quick build solutions stale coverage release self-study demo grading-lab bench bench-grading rehearsal portable gpu lint doctor lock env system

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | awk -F'\t' '{ printf "make %-13s %s\n", $$1, $$2 }'

start: ## open the course in JupyterLab (PORT=8889, BROWSER=none, TORCH=cpu)
	@$(PYTHON) -m tools.start

test: env system ## run every test (ARGS="tests/setup -k lock" for some)
	@$(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder --durations 20 --junitxml artefacts/tests.xml $(ARGS)

quick: env ## prove what changed since the branch main, in two minutes
	@$(BIN)/python -m tools.quick

build: env ## build both editions of what changed (NB=chapter/notebook for one)
	@$(BIN)/python -m autograder build $(NB)

solutions: env ## write the solutions with their pictures (NB=chapter/notebook for one)
	@$(BIN)/python -m autograder solutions $(NB)

stale: env ## fail if a built file does not match its master
	@$(BIN)/python -m autograder stale

coverage: env ## print which sections of the lecture notes are covered, and where
	@$(BIN)/python -m autograder coverage

release: env ## pack the course as it is committed, to hand it out: artefacts/graded-descent.zip
	@$(BIN)/python -m autograder release

self-study: env ## write the worked answers of all chapters, for a person who learns alone
	@$(BIN)/python -m autograder self-study

demo: env system ## take a simulated class of twelve from release to report
	@$(BIN)/python -m autograder demo

grading-lab: env ## open the gradebook in nbgrader's formgrader (PORT=8890, BROWSER=none)
	@$(BIN)/python -m tools.grading_lab

bench: env system ## measure the numbers the design promises
	@$(BIN)/python -m tests.bench

bench-grading: env system ## compare our grading with nbgrader's: scores, time (SIZES="30 300" for less)
	@status=0; for part in grading classic attacks; do $(BIN)/python -m tests.bench_$$part || status=$$?; done; exit $$status

rehearsal: env system ## take a class of 300 from Moodle's zip to marks (SIZE=60)
	@$(BIN)/python -m tests.rehearsal

portable: env ## run the solutions as other processors round (ARGS="--way haswell")
	@$(BIN)/python -m tests.portable $(ARGS)

gpu: env ## run references and DDPM training on a CUDA device
	@$(BIN)/python -m tests.gpu

lint: env ## check the style of the code
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .

doctor: ## say what this machine has and lacks, with the mend
	@$(PYTHON) -m tools.doctor

lock: ## write requirements.lock from what is installed in .venv
	@$(BIN)/python -m tools.lock

env:
	@$(PYTHON) -m tools.environment

system:
	@$(PYTHON) -m tools.system
