# What can be run; the names are a contract (docs/reference). `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help up demo test bench chaos lint build proto images clean setup require-node

# A recipe is one line with exec, so that Ctrl-C reaches the program itself and once.
SHELL := /bin/sh
INSTALLED := node_modules/.lapse-installed

help:
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1\t/p' Makefile | expand -t 10

up: build ## the embedded stack in the foreground; DEMO=1 with sample data; Ctrl-C stops it
	@exec node deploy/local/dist/main.js $(if $(filter 1,$(DEMO)),--sample-data)

demo: build ## takes files, tables and rows through expiry in a private stack and checks each step
	@exec node deploy/local/dist/demo/main.js

test: build ## every test; TEST_FILTER= narrows
	@exec npm test -- $(TEST_FILTER)

bench: build ## speed against baselines, to bench-results.json; BENCH_FULL=1 with 10,000,000 tables, BENCH_RECORD=1 to docs
	@TEST_POSTGRES_DURABLE=1 exec node --conditions=source --import ./scripts/typescript.mjs test/bench/main.ts

chaos:
	@echo "lapse: the fault run is not there yet." >&2; exit 1

images:
	@echo "lapse: container images are not there yet." >&2; exit 1

lint: setup ## format, lint rules, unattended promises, dead code
	@exec npm run --silent lint

build: setup ## all TypeScript, what has changed only
	@exec npm run --silent build

proto: setup ## generated code from proto/
	@exec npm run --silent proto

setup: require-node $(INSTALLED) ## dependencies, where package-lock.json is newer than what is installed

# No package needs its install script: what they would do is done here, or not used.
$(INSTALLED): package-lock.json | require-node
	npm ci --ignore-scripts
	@touch $@

clean: ## what was built; dependencies and the data in .lapse stay
	find packages services deploy test -name node_modules -prune -o -type d -name dist -prune -exec rm -rf {} +
	rm -rf coverage .cache bench-results.json

require-node:
	@scripts/require-node.sh
