# Elastane. `make help` lists what there is.

HADOOP_VERSION ?= 3.4.3
JOBS ?= 2
QUICK ?=
# of each target of `make fuzz`, and of `make soak`
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 1800
# of each application of `make record`
RUNS ?= 4
# pairs of `make bench-reprovisioning`
REPEATS ?= 4
# Test programs that `make test-v2` leaves out.
V2_WITHOUT ?=

CARGO := cargo
MAVEN_LOUD := mvn --batch-mode --no-transfer-progress -Dhadoop.version=$(HADOOP_VERSION)
MAVEN := $(MAVEN_LOUD) --quiet
PYTHON := $(CURDIR)/target/venv/bin/python
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
DIST := elastane-$(VERSION)
FUZZ_TARGETS := $(basename $(notdir $(wildcard nodemanager-hook/fuzz/fuzz_targets/*.rs)))

export HADOOP_VERSION
export MAVEN_OPTS ?= -Xmx768m

.PHONY: help check build lab fetch demo record test test-rust test-java test-cluster test-v2 fuzz soak lint bench-core bench-heartbeat \
	bench-agent bench-learning bench-reprovisioning test-reprovisioning dist clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1 \2/p' $(MAKEFILE_LIST) | awk '{printf "make %-16s %s\n", $$1, substr($$0, length($$1) + 2)}'

build: check ## library, agent, elastane command and jar
	$(CARGO) build --release --locked --jobs $(JOBS) -p elastane-jni -p elastane-agent -p elastane-cli
	$(MAVEN) package -DskipTests

lab: ## target/release/elastane-lab: papers' comparisons, baselines, evaluation
	$(CARGO) build --release --locked --jobs $(JOBS) -p elastane-lab

check: ## that Java, Maven, Rust and Python are there
	@python3 tests/bootstrap.py --check

fetch: ## Hadoop and PySpark into target/, for the demo and the tests on a real cluster
	@python3 tests/bootstrap.py --hadoop-version $(HADOOP_VERSION)

demo: fetch build ## four rounds on a real cluster on this machine (QUICK=1: a smaller one)
	PYTHONPATH=tests $(PYTHON) -m demo $(if $(QUICK),--quick)

record: fetch build ## runs ten applications RUNS times each on a real cluster: series for `elastane-lab evaluate`
	cd tests && $(PYTHON) -m recording recurring --runs $(RUNS) --output $(CURDIR)/target/recorded

test: lint test-rust test-java test-cluster test-v2 bench-heartbeat bench-agent bench-learning ## everything, and that heartbeat, agent and learning stay cheap
	$(MAKE) fuzz FUZZ_SECONDS=10
	$(MAKE) soak SOAK_SECONDS=120

test-rust: ## unit and integration tests of the Rust crates and of the agent on real cgroups
	$(CARGO) test --locked --jobs $(JOBS) --workspace
	$(CARGO) test --locked --jobs $(JOBS) -p elastane-runtime --test full_disk -- --ignored

test-java: build ## the scheduler in a real JVM on the real library
	$(MAVEN) verify

test-cluster: fetch build ## a real ResourceManager, two NodeManagers, agents and Spark
	cd tests && $(PYTHON) -m pytest

test-v2: fetch ## the agent's tests in a virtual machine with cgroup version 2
	cd tests && $(PYTHON) -m guest --agent-tests $(addprefix --without ,$(V2_WITHOUT))

fuzz: target/tools/bin/cargo-fuzz ## bytes that nobody meant for all that the agent reads (FUZZ_SECONDS=60 each)
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p target/fuzz/found/$$target && echo "fuzz $$target" && \
		(cd nodemanager-hook && PATH=$(CURDIR)/target/tools/bin:$$PATH \
			cargo fuzz run --sanitizer none --target-dir $(CURDIR)/target/fuzz $$target \
			$(CURDIR)/target/fuzz/found/$$target fuzz/corpus/$$target -- \
			-max_total_time=$(FUZZ_SECONDS) -max_len=8192 -verbosity=0 -print_final_stats=1) || exit 1; \
	done

target/tools/bin/cargo-fuzz:
	$(CARGO) install --quiet --locked --version 0.13.2 --root target/tools cargo-fuzz

soak: ## 50 containers that come and go (SOAK_SECONDS=1800); fails when the agent grows
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-agent --example soak -- $(SOAK_SECONDS)

lint: fetch ## formats and lints of Rust, Java and Python, warnings as errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --jobs $(JOBS) --workspace --all-targets -- -D warnings
	$(MAVEN_LOUD) -Plint verify -DskipTests
	$(PYTHON) -m ruff format --check tests
	$(PYTHON) -m ruff check tests

bench-core: ## what a round, a commit and a finish cost in the core
	$(CARGO) bench --locked --jobs $(JOBS) -p elastane-core --bench heartbeat

bench-heartbeat: build ## an idle heartbeat beside CapacityScheduler's; fails above 10 us more
	$(MAVEN) test-compile exec:exec@bench-heartbeat -pl java-shim/scheduler

bench-agent: ## what the agent costs with 50 containers; fails above its bounds
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-agent --example bench_agent

bench-learning: ## what learning costs and how well it predicts; fails above its bounds
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-runtime --example bench_learning
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-predict --example generated_settings -- 30
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-runtime --example many_profiles -- 2000 1800 --at-most-mb 40
	$(CARGO) bench --locked --jobs $(JOBS) -p elastane-cli --bench import_speed
	$(CARGO) bench --locked --jobs $(JOBS) -p elastane-lab --bench recurring_targets

test-reprovisioning: fetch build ## a window on a real cluster; not in `make test`: on a busy machine none may last
	cd tests && $(PYTHON) -m pytest -m reprovisioning integration

bench-reprovisioning: fetch build ## what reprovisioning gains and costs on a real cluster: REPEATS pairs of runs, five minutes each
	cd tests && $(PYTHON) -m reprovisioning --repeats $(REPEATS) --output $(CURDIR)/target/reprovisioning

dist: build ## one archive to install from: target/elastane-VERSION.tar.gz
	rm -rf target/dist && mkdir -p target/dist/$(DIST)/bin target/dist/$(DIST)/lib
	cp java-shim/scheduler/target/elastane-scheduler-$(VERSION).jar target/release/libelastane.so target/dist/$(DIST)/lib/
	cp target/release/elastane target/release/elastane-agent target/dist/$(DIST)/bin/
	mkdir target/dist/$(DIST)/nodemanager-hook
	cp nodemanager-hook/elastane-agent.service nodemanager-hook/agent.toml target/dist/$(DIST)/nodemanager-hook/
	cp -r yarn-site-examples docs README.md CHANGELOG.md LICENSE target/dist/$(DIST)/
	tar -C target/dist --owner=0 --group=0 --sort=name -czf target/$(DIST).tar.gz $(DIST)
	@echo "target/$(DIST).tar.gz"

clean: ## removes all that was built or fetched
	$(CARGO) clean
	$(MAVEN) clean
