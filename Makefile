# Pudu: `make` lists what it can do.

GOTOOLCHAIN ?= auto
export GOTOOLCHAIN
unexport TASK FILE

GO      := $(shell scripts/find-go)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
BUILD   := $(GO) build -trimpath -buildvcs=false
GOLANGCI_VERSION := 2.15.0
DEADCODE_VERSION := 0.51.0
PREFIX  ?= /usr/local
DESTDIR ?=
OUT     ?= bin/pudu

.PHONY: help run build install image test test-image test-model lint deadcode fmt bench bench-ui crash soak mutate
.PHONY: setup setup-tests need-go

help: ## show this list
	@echo "make TARGET, one of:"
	@sed -n 's/^\([a-z-]*\):.*## /  \1	/p' $(firstword $(MAKEFILE_LIST))
	@echo 'For example: make run TASK="Which region grows fastest?" FILE=examples/sales.csv'

run: export PUDU_MAKE_TASK = $(value TASK)
run: export PUDU_MAKE_FILE = $(value FILE)
run: setup build ## bring the server up at http://127.0.0.1:2026; with TASK="..." [FILE=...] do that task instead
	@if [ -n "$$PUDU_MAKE_TASK" ]; then \
		exec bin/pudu run $${PUDU_MAKE_FILE:+--file "$$PUDU_MAKE_FILE"} "$$PUDU_MAKE_TASK"; \
	fi; exec bin/pudu serve --open

build: need-go ## build bin/pudu, one static file
	@CGO_ENABLED=0 scripts/build $(BUILD) -ldflags "-s -w -X main.version=$(VERSION)" -o $(OUT) ./cmd/pudu

install: build ## install the program, its systemd unit and proxy samples below $(DESTDIR)$(PREFIX)
	@install -D -m 755 $(OUT) "$(DESTDIR)$(PREFIX)/bin/pudu"
	@install -d "$(DESTDIR)$(PREFIX)/lib/systemd/system" "$(DESTDIR)$(PREFIX)/share/doc/pudu"
	@sed 's|/usr/local/bin|$(PREFIX)/bin|' packaging/pudu.service \
		> "$(DESTDIR)$(PREFIX)/lib/systemd/system/pudu.service"
	@install -m 644 packaging/Caddyfile packaging/nginx.conf "$(DESTDIR)$(PREFIX)/share/doc/pudu"
	@echo "installed $(DESTDIR)$(PREFIX)/bin/pudu and $(DESTDIR)$(PREFIX)/lib/systemd/system/pudu.service;" \
		"docs/operations.md says how it goes on"

image: build ## build the image pudu for Docker, on a root of Debian's packages
	@packaging/image.sh $(OUT)

test: need-go ## everything that must hold before a commit
	@scripts/setup tests
	@GO="$(GO)" GOLANGCI_VERSION=$(GOLANGCI_VERSION) DEADCODE_VERSION=$(DEADCODE_VERSION) scripts/test

test-model: need-go ## drive a real language model, a small one; the first time llama.cpp is built (minutes)
	@model="$$(scripts/real-model)" && PUDU_REAL_MODEL="$$model" $(GO) test -count=1 -v -tags realmodel ./test/realmodel

test-image: need-go ## build the image and start it with Docker (a daemon of its own, as root)
	@scripts/setup docker
	@$(GO) test -count=1 -v -tags image ./test/packaging

lint: need-go ## golangci-lint in the pinned version; it checks the formatting too
	@GO="$(GO)" scripts/lint $(GOLANGCI_VERSION)

deadcode: need-go ## functions that nothing calls, or only tests
	@GO="$(GO)" scripts/deadcode $(DEADCODE_VERSION)

fmt: need-go ## format all Go and TypeScript files
	$(GO) fmt ./...
	@scripts/web fmt

bench: build ## measure the goals of docs/performance.md
	@$(BUILD) -o bin/pudu-bench ./cmd/pudu-bench
	@bin/pudu-bench goals
	@bin/pudu-bench prompt
	@bin/pudu-bench serve

bench-ui: need-go setup-tests ## how fast the pages are, beside the goals of docs/performance.md
	@GO="$(GO)" scripts/web figures pages

crash: need-go setup-tests ## kill a worker 1,700 times and once at every write, and look for what was lost; minutes
	@$(GO) test -count=1 -timeout 2h ./test/crash -run '^TestCampaign$$' -v -kills 1000 -store sqlite
	@$(GO) test -count=1 -timeout 2h ./test/crash -run '^TestCampaign$$' -v -kills 300 -store postgres
	@$(GO) test -count=1 -timeout 2h ./test/crash -run '^TestCampaign$$' -v -kills 200 -store sqlite -tree
	@$(GO) test -count=1 -timeout 2h ./test/crash -run '^TestCampaign$$' -v -kills 200 -store postgres -tree
	@$(GO) test -count=1 -timeout 2h ./internal/feature/filehistory -run '^TestKillInAnUndo$$' -v -kills 200
	@$(GO) test -count=1 -timeout 2h ./internal/feature/search -run '^TestKilled$$' -v -kills 100
	@$(GO) test -count=1 -timeout 2h ./internal/app -run '^Test(Bin|FolderFile)Killed$$' -v -kills 100

soak: need-go setup-tests ## try what has no end: random histories of a store, a page that looks on for 20 minutes
	@$(GO) test -count=1 -timeout 2h ./internal/stores/sqlstore \
		-run '^(TestConformance|TestCollectKeepsEveryCheckpoint)$$' -rapid.checks 2000
	@GO="$(GO)" scripts/web figures soak

MUTATE_SEED ?= 1
MUTATE_SAMPLE ?= 100
MUTATE ?= ./agent ./state ./internal/runs ./internal/stores/sqlstore ./sandbox \
	./internal/gateway ./internal/gateway/route@./internal/gateway/route,./internal/gateway \
	./internal/gateway/threads ./internal/gateway/runs ./internal/gateway/files
mutate: need-go setup-tests ## make careless changes; do the tests notice? hours, or MUTATE="./state" MUTATE_SAMPLE=20
	@nice $(GO) run ./test/mutate -seed $(MUTATE_SEED) -sample $(MUTATE_SAMPLE) $(MUTATE)

setup: ## install bubblewrap and python3 where they are missing
	@scripts/setup

setup-tests:
	@scripts/setup tests
	@scripts/clients

need-go:
	@test -n "$(GO)" || { scripts/find-go --explain; exit 1; }
