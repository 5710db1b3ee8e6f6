# Elastane. `make help` lists the targets.

HADOOP_VERSION ?= 3.4.3
JOBS ?= 2
# QUICK=1: a smaller `make demo`
QUICK ?=
# Seconds for each target of `make fuzz`
FUZZ_SECONDS ?= 60
# Seconds of `make soak`
SOAK_SECONDS ?= 1800
# Runs of each application in `make record`
RUNS ?= 4
# Pairs of runs in `make bench-reprovisioning`
REPEATS ?= 4
# Of `make bench-scheduler`, with commas: WaitingCase names, numbers of applications and of queues; all if empty
CASES ?=
PENDING ?=
QUEUES ?=
# Of `make bench-sls`: numbers of nodes with commas, applications, containers in all, seconds for each scheduler, and
# CapacityScheduler's maximum-offswitch-assignments
NODES ?= 1000,5000,10000
APPLICATIONS ?= 1000
CONTAINERS ?= 100000
SLS_SECONDS ?= 600
OFF_SWITCH ?= 1
# Of `make bench-cluster`: the state of the cluster, runs of each, ALL=1 for all that is compared, a folder of series
STATE ?= memory-bound
SEEDS ?= 1
ALL ?=
SERIES ?=
# Spark's version of `make test-spark`; all other tests have the one of tests/requirements.txt
SPARK_VERSION ?= 3.5.5
# Of `make test-failover`: how often the active ResourceManager is lost
SWITCHES ?= 50
# Versions of Spark and Scala of `make test-spark-plugin`; the first is the pom's, against which the jar is compiled
SPARK_PLUGIN_VERSIONS ?= 4.1.1_2.13 3.5.5_2.12 3.5.5_2.13
# Of `make test-versions`: versions of Hadoop, and test classes, with commas
VERSIONS ?= 3.3.6 3.4.3 3.5.0
VERSIONS_TESTS ?= ElastaneServletTest,RestAnswersTest,VisibleAnswersTest,SizesJsonTest,AdviceTest,CoreStatusTest,WaitReasonsTest,*LimitWordsTest
# Of `make test-matrix`, with commas: HADOOP:JAVA:SPARK, and names of tests; those of tests/matrix if empty
CELLS ?=
MATRIX_TESTS ?=
# Test programs that `make test-v2` leaves out
V2_WITHOUT ?=
# Of `make dist` and `make test-portable`: for these architectures the archive has binaries, which need this glibc or newer
ARCHITECTURES ?= x86_64 aarch64
GLIBC := 2.28
# Of `make test-portable`: the crates whose unit tests run on the emulated architecture
EMULATED_CRATES ?= elastane-protocol
# Of `make test-hadoop`: Hadoop's version, and a part of the classes or modes, with commas (empty: all)
HADOOP_TESTS_VERSION ?= 3.5.0
CLASSES ?=
MODES ?= stock,off,observe,enforce

CARGO := cargo
MAVEN_ANY_VERSION := mvn --batch-mode --no-transfer-progress
MAVEN_LOUD := $(MAVEN_ANY_VERSION) -Dhadoop.version=$(HADOOP_VERSION)
MAVEN := $(MAVEN_LOUD) --quiet
PYTHON := $(CURDIR)/target/venv/bin/python
# Zig's C compiler and linker, which have the symbols of every glibc
ZIG := target/tools/zig/bin/python-zig
ZIGBUILD := CARGO_ZIGBUILD_ZIG_PATH=$(CURDIR)/$(ZIG) target/tools/bin/cargo-zigbuild
CARGO_FUZZ := PATH=$(CURDIR)/target/tools/bin:$$PATH cargo fuzz
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
DIST := elastane-$(VERSION)
# Python may be missing too; all else is checked by Python.
BOOTSTRAP := @command -v python3 >/dev/null \
	|| { echo 'missing: Python 3: install with `apt-get install python3-venv`' >&2; exit 1; }; \
	python3 tests/bootstrap.py --hadoop-version $(HADOOP_VERSION)
# What `make test` runs, in this order.
TEST_STEPS := lint test-rust test-java test-cluster test-v2 \
	'test-systemd SYSTEMD_TESTS=moves,watchdog,installed' \
	bench-heartbeat bench-questions bench-limits bench-agent bench-learning \
	'fuzz soak FUZZ_SECONDS=7 SOAK_SECONDS=120 --jobs=2 --output-sync=target'
# Each test file has its own cluster, which waits more than it computes: these files take about as long as all others.
CLUSTER_HALF := $(patsubst %,integration/test_%.py,administration kill_nine map_reduce plan_memory preemption resource_profiles secure)
PAGE_TESTS := $(patsubst %,integration/test_%.py,page page_learned rest)
SPARK_TESTS := $(patsubst %,integration/test_%.py,migration memory_preemption)
# `systemd-hybrid`: version 1 with controllers, and version 2 without.
BOOT ?= systemd
PAGE := java-shim/scheduler/src/main/resources/org/elastane/page
FUZZ_TARGETS := $(basename $(notdir $(wildcard nodemanager-hook/fuzz/fuzz_targets/*.rs)))

export HADOOP_VERSION
export MAVEN_OPTS ?= -Xmx768m

.PHONY: help check build build-rust lab fetch fetch-for-tests demo record page-pictures test test-rust test-java test-cluster test-spark \
	test-spark-plugin test-versions test-matrix test-failover test-page test-cluster-half test-cluster-rest test-v2 test-systemd test-hadoop fuzz soak lint lint-page audit bench-core bench-heartbeat \
	bench-scheduler bench-sls bench-questions bench-limits bench-raise bench-contention bench-agent bench-learning bench-memory bench-reprovisioning bench-crowded \
	bench-cluster \
	build-replay test-reprovisioning dist dist-sbom portable test-portable test-emulated clean

help: ## lists these targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1 \2/p' $(MAKEFILE_LIST) | awk '{printf "make %-20s %s\n", $$1, substr($$0, length($$1) + 2)}'

check: ## names what this machine lacks for `make test`, with the command that installs it
	$(BOOTSTRAP) --check --for-tests

build: build-rust ## builds the scheduler's library and jar, the Spark plugin, the agent and the elastane command
	$(MAVEN) package -DskipTests

build-rust:
	$(BOOTSTRAP) --check
	$(CARGO) build --release --locked --jobs $(JOBS) -p elastane-jni -p elastane-agent -p elastane-cli

lab: ## builds target/release/elastane-lab: papers' comparisons, baselines, evaluation
	$(CARGO) build --release --locked --jobs $(JOBS) -p elastane-lab

fetch: ## puts Hadoop and PySpark into target/; as root on Debian, installs a missing JDK or Maven
	$(BOOTSTRAP)

fetch-for-tests:
	$(BOOTSTRAP) --for-tests

demo: fetch build ## runs the demo, four rounds on a real cluster on this machine (QUICK=1: a smaller one)
	PYTHONPATH=tests $(PYTHON) -m demo $(if $(QUICK),--quick)

record: fetch build lab ## records ten applications, RUNS runs each, on a real cluster: series for `elastane-lab evaluate`
	cd tests && $(PYTHON) -m recording recurring --runs $(RUNS) --output $(CURDIR)/target/recorded

test: fetch-for-tests ## runs all tests, lints and cost bounds; as root on Debian, installs what is missing first
	@python3 tests/steps.py --make "$(MAKE)" $(TEST_STEPS)

test-rust: ## tests the Rust crates, and the agent on real cgroups
	$(CARGO) test --locked --jobs $(JOBS) --workspace
	$(CARGO) test --locked --jobs $(JOBS) --workspace --test full_disk --test trouble_with_files -- --ignored

test-java: build-rust ## tests the scheduler in a JVM with the real library, and the Spark plugin
	$(MAVEN) verify

test-spark-plugin: ## tests the Spark plugin's one jar with Spark 4.1.1 and, on Scala 2.12 and 2.13, with 3.5.5: 5 minutes
	$(MAVEN) package -DskipTests -pl java-shim/spark
	@for versions in $(SPARK_PLUGIN_VERSIONS); do \
		echo "Spark and Scala $$versions" && \
		$(MAVEN) test -pl java-shim/spark -Dmaven.main.skip \
			-Dspark.version=$${versions%_*} -Dscala.binary.version=$${versions#*_} || exit 1; \
	done

test-versions: build-rust ## tests the scheduler's one jar, its page and REST, with VERSIONS of Hadoop; not part of `make test`
	$(MAVEN) package -DskipTests -pl java-shim/scheduler
	@mkdir -p target/test-versions; failed=0; for version in $(VERSIONS); do \
		log=target/test-versions/$$version.log && \
		{ $(MAVEN_ANY_VERSION) -Dstyle.color=never test -pl java-shim/scheduler -Dmaven.main.skip -Dhadoop.version=$$version \
			-Delastane.tested=$(CURDIR)/java-shim/scheduler/target/elastane-scheduler-$(VERSION).jar \
			-Delastane.test.classes=$(CURDIR)/target/test-versions/$$version \
			-Dtest='$(VERSIONS_TESTS)' >$$log 2>&1 || failed=1; } && \
		outcome=$$(grep -o 'Tests run: [0-9]*, Failures: [0-9]*, Errors: [0-9]*, Skipped: [0-9]*$$' $$log | tail -1) && \
		echo "Hadoop $$version: $${outcome:-no test ran}; the log is $$log"; \
	done; exit $$failed

test-matrix: fetch build ## tests the one jar and library in clusters of several versions of Hadoop, Java and Spark (CELLS, MATRIX_TESTS): 40 minutes
	cd tests && $(PYTHON) -m matrix $(if $(CELLS),--cells $(CELLS)) $(if $(MATRIX_TESTS),--tests $(MATRIX_TESTS))

test-page: fetch build-rust ## tests the live page and REST on a cluster with HADOOP_VERSION=3.5.0, or 3.3.6: 5 minutes; not part of `make test`
	$(MAVEN_ANY_VERSION) --quiet package -DskipTests -pl java-shim/scheduler
	cd tests && $(PYTHON) -m pytest $(PAGE_TESTS)

test-cluster: fetch build build-replay target/page-lint/node_modules ## tests with a real ResourceManager, NodeManagers, agents and Spark
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-cluster-half test-cluster-rest

test-cluster-half:
	cd tests && $(PYTHON) -m pytest $(CLUSTER_HALF)

test-cluster-rest:
	cd tests && $(PYTHON) -m pytest $(addprefix --ignore=,$(CLUSTER_HALF))

test-spark: fetch build target/spark-$(SPARK_VERSION) ## tests what Elastane does to executors with SPARK_VERSION=3.5.5: 5 minutes
	cd tests && SPARK_VERSION=$(SPARK_VERSION) $(PYTHON) -m pytest $(SPARK_TESTS)

target/spark-%: | fetch
	rm -rf $@.part
	$(PYTHON) -m pip install --quiet --no-deps --target $@.part pyspark==$*
	mv $@.part $@

test-failover: fetch build ## loses the active of two ResourceManagers SWITCHES=50 times while applications run: 25 minutes; not part of `make test`
	cd tests && $(PYTHON) -m failover --switches $(SWITCHES) --output $(CURDIR)/target/failover

test-v2: fetch-for-tests ## runs the agent's tests in a virtual machine with cgroup version 2
	cd tests && $(PYTHON) -m guest --agent-tests $(addprefix --without ,$(V2_WITHOUT))

test-systemd: fetch-for-tests ## runs the agent's tests where systemd boots, with the agent as its unit: all, or SYSTEMD_TESTS=moves,restart
	cd tests && $(PYTHON) -m guest --seconds 1800 --boot $(BOOT) --agent-tests $(addprefix --only ,$(SYSTEMD_TESTS))

test-hadoop: fetch build ## runs Hadoop's own ResourceManager tests on Elastane; not part of `make test`: 25 minutes for each of MODES
	cd tests && $(PYTHON) -m hadoop_suite --hadoop-version $(HADOOP_TESTS_VERSION) --classes '$(CLASSES)' \
		--modes $(MODES) --jobs $(JOBS)

page-pictures: fetch-for-tests build ## takes the pictures of the page in docs/page, of a real cluster: 5 minutes
	cd tests && PAGE_PICTURES=$(CURDIR)/docs/page $(PYTHON) -m pytest -m "pictures or not pictures" \
		integration/test_page_pictures.py

fuzz: target/tools/bin/cargo-fuzz ## fuzzes input of the agent and of the ResourceManager (FUZZ_SECONDS=60 for each target)
	cd nodemanager-hook && $(CARGO_FUZZ) build --sanitizer none --target-dir $(CURDIR)/target/fuzz
	@for target in $(FUZZ_TARGETS); do \
		found=$(CURDIR)/target/fuzz/found/$$target; log=$$found.log; mkdir -p $$found; \
		if (cd nodemanager-hook && $(CARGO_FUZZ) run --sanitizer none --target-dir $(CURDIR)/target/fuzz $$target $$found \
			fuzz/corpus/$$target -- -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -verbosity=0 -print_final_stats=1) \
			> $$log 2>&1; \
		then sed -n "s/^stat::number_of_executed_units: */fuzz $$target: inputs tried: /p" $$log; \
		else grep -v '# Uses:' $$log; echo "fuzz $$target: failed; the whole output is in $$log" >&2; exit 1; \
		fi; \
	done

target/tools/bin/cargo-fuzz:
	$(CARGO) install --quiet --locked --version 0.13.2 --root target/tools cargo-fuzz

soak: ## starts and ends containers for SOAK_SECONDS=1800; fails when the agent grows
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-agent --example soak -- $(SOAK_SECONDS)

lint: fetch ## checks format and lints of Rust, Java, Python and the page; warnings are errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --jobs $(JOBS) --workspace --all-targets -- -D warnings
	$(MAVEN_LOUD) -Plint verify -DskipTests
	$(PYTHON) -m ruff format --check tests
	$(PYTHON) -m ruff check tests
	@$(MAKE) --no-print-directory lint-page

lint-page: target/page-lint/node_modules ## checks format and lints of the live page's scripts
	target/page-lint/node_modules/.bin/biome ci --error-on-warnings --config-path=tests/page_lint $(PAGE)

target/page-lint/node_modules: tests/page_lint/package.json tests/page_lint/package-lock.json
	mkdir -p $(@D) && cp $^ $(@D) && cd $(@D) && npm ci --silent --no-audit --no-fund && touch node_modules

audit: target/tools/bin/cargo-deny ## checks crates for advisories (RustSec's, from GitHub), licences, copies and sources
	PATH=$(CURDIR)/target/tools/bin:$$PATH $(CARGO) deny --workspace --locked check

target/tools/bin/cargo-deny:
	$(CARGO) install --quiet --locked --version 0.20.2 --root target/tools cargo-deny

bench-core: ## times a round, a commit and a finish in the core; fails above its bounds
	$(CARGO) bench --locked --jobs $(JOBS) -p elastane-core --bench heartbeat

bench-heartbeat: build-rust ## times an idle heartbeat against CapacityScheduler's; fails above its bounds
	$(MAVEN) test-compile exec:exec@bench-heartbeat -pl java-shim/scheduler

bench-scheduler: build-rust ## times heartbeats while applications wait, beside CapacityScheduler and FairScheduler (CASES, PENDING, QUEUES): 15 minutes
	$(MAVEN) test-compile exec:exec@bench-scheduler -pl java-shim/scheduler $(if $(CASES),-Dbench.cases=$(CASES)) \
		$(if $(PENDING),-Dbench.pending=$(PENDING)) $(if $(QUEUES),-Dbench.queues=$(QUEUES))

bench-sls: fetch build-rust ## runs Hadoop's load simulator on CapacityScheduler and Elastane (NODES, APPLICATIONS, CONTAINERS): 15 minutes
	$(MAVEN) test-compile -pl java-shim/scheduler
	cd tests && $(PYTHON) -m sls --nodes $(NODES) --applications $(APPLICATIONS) --containers $(CONTAINERS) \
		--seconds $(SLS_SECONDS) --off-switch $(OFF_SWITCH)

bench-questions: ## times how long people's questions hold the core's lock; fails above its bounds
	$(CARGO) test --release --locked --jobs $(JOBS) -p elastane-runtime --lib service_lock -- --ignored --nocapture

bench-limits: ## times what comparing the limits of 50 containers adds to the answer to a report; fails above its bound
	$(CARGO) test --release --locked --jobs $(JOBS) -p elastane-runtime --lib limit_changes -- --ignored --nocapture

bench-raise: build-rust ## times the scheduler's lock while 5,000 nodes are raised and lowered; not part of `make test`
	$(MAVEN) test-compile exec:exec@bench-raise -pl java-shim/scheduler

bench-contention: ## times rounds on four threads while the status is read; not part of `make test`
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-runtime --example contention

bench-memory: ## measures the core's native memory at 10,000 nodes, after an hour and a week; fails above its bounds; not part of `make test`
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-runtime --example bench_memory

bench-agent: ## measures the agent beside 50 and 200 containers; fails above its bounds
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-agent --example bench_agent

bench-learning: ## times learning and scores its predictions; fails above its bounds
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-runtime --example bench_learning
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-lab --example generated_settings -- 30
	$(CARGO) run --release --locked --jobs $(JOBS) -p elastane-runtime --example many_profiles -- 2000 1800 --at-most-mb 40
	$(CARGO) bench --locked --jobs $(JOBS) -p elastane-cli --bench import_speed
	$(CARGO) bench --locked --jobs $(JOBS) -p elastane-lab --bench recurring_targets

test-reprovisioning: fetch build ## tests reprovisioning on a real cluster; not part of `make test`: it needs an idle machine
	cd tests && $(PYTHON) -m pytest -m reprovisioning integration

bench-reprovisioning: fetch build ## measures reprovisioning on a real cluster: REPEATS pairs of runs, five minutes each
	cd tests && $(PYTHON) -m reprovisioning --repeats $(REPEATS) --output $(CURDIR)/target/reprovisioning

bench-crowded: fetch build ## compares what is learned on a crowded node with what is learned on a free one: 16 minutes
	cd tests && $(PYTHON) -m crowding --output $(CURDIR)/target/bench-crowded

build-replay:
	$(CARGO) build --release --locked --jobs $(JOBS) -p elastane-replay

bench-cluster: fetch build build-replay lab ## compares schedulers on a scale model of a cluster (STATE, SEEDS, ALL=1, SERIES=DIR)
	cd tests && $(PYTHON) -m scale_model --state $(STATE) --seeds $(SEEDS) $(if $(ALL),--all) \
		$(if $(SERIES),--series $(abspath $(SERIES))) --output $(CURDIR)/target/bench-cluster

dist: portable target/tools/bin/cargo-cyclonedx ## makes the archive to install from: target/elastane-VERSION.tar.gz
	$(MAVEN) package -DskipTests -Delastane.native.optional=true
	rm -rf target/dist && mkdir -p target/dist/$(DIST)/bin target/dist/$(DIST)/lib
	cp java-shim/scheduler/target/elastane-scheduler-$(VERSION).jar java-shim/spark/target/elastane-spark-$(VERSION).jar \
		target/dist/$(DIST)/lib/
	for architecture in $(ARCHITECTURES); do \
		built=target/$$architecture-unknown-linux-gnu/release && \
		install -D --target-directory=target/dist/$(DIST)/bin/$$architecture $$built/elastane $$built/elastane-agent && \
		install -D --target-directory=target/dist/$(DIST)/lib/$$architecture $$built/libelastane.so || exit 1; \
	done
	cd tests && python3 -m portable put $(CURDIR)/target/dist/$(DIST) $(ARCHITECTURES)
	cd tests && python3 -m portable check $(CURDIR)/target/dist/$(DIST) --glibc $(GLIBC) $(ARCHITECTURES)
	mkdir target/dist/$(DIST)/nodemanager-hook
	cp nodemanager-hook/elastane-agent.service nodemanager-hook/agent.toml target/dist/$(DIST)/nodemanager-hook/
	cp -r yarn-site-examples grafana docs README.md CHANGELOG.md LICENSE target/dist/$(DIST)/
	@$(MAKE) --no-print-directory dist-sbom
	cd target/dist/$(DIST) && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >SHA256SUMS
	tar -C target/dist --owner=0 --group=0 --sort=name -czf target/$(DIST).tar.gz $(DIST)
	cd target && sha256sum $(DIST).tar.gz >$(DIST).tar.gz.sha256
	@echo "target/$(DIST).tar.gz"

portable: target/tools/bin/cargo-zigbuild $(ZIG) ## builds library, agent and elastane for ARCHITECTURES and glibc 2.28: 15 minutes
	$(BOOTSTRAP) --check
	! command -v rustup >/dev/null || rustup target add $(ARCHITECTURES:%=%-unknown-linux-gnu)
	for architecture in $(ARCHITECTURES); do \
		$(ZIGBUILD) build --release --locked --jobs $(JOBS) --target $$architecture-unknown-linux-gnu.$(GLIBC) \
			-p elastane-jni -p elastane-agent -p elastane-cli || exit 1; \
	done

test-portable: dist ## runs the archive on Debian 11 for each of ARCHITECTURES, and crates' tests, emulated; not part of `make test`
	cd tests && python3 -m portable run $(CURDIR)/target/$(DIST).tar.gz $(ARCHITECTURES)
	$(if $(filter aarch64,$(ARCHITECTURES)),@$(MAKE) --no-print-directory test-emulated)

test-emulated: target/tools/bin/cargo-zigbuild $(ZIG) ## runs the unit tests of EMULATED_CRATES as aarch64, emulated, in the root of `make test-portable`
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER='qemu-aarch64-static -L $(CURDIR)/target/portable/roots/aarch64' \
		$(ZIGBUILD) test --locked --jobs $(JOBS) --target aarch64-unknown-linux-gnu.$(GLIBC) --lib $(EMULATED_CRATES:%=-p %)

target/tools/bin/cargo-zigbuild:
	$(CARGO) install --quiet --locked --version 0.24.1 --root target/tools cargo-zigbuild

$(ZIG):
	python3 -m venv target/tools/zig
	target/tools/zig/bin/pip install --quiet --disable-pip-version-check ziglang==0.15.2

# What is in the binaries and the jars, in CycloneDX's format. The tool writes beside each manifest.
dist-sbom:
	mkdir -p target/dist/$(DIST)/sbom
	PATH=$(CURDIR)/target/tools/bin:$$PATH cargo cyclonedx --quiet --format json --spec-version 1.5 --describe binaries
	mv rust/jni/elastane_cdylib.cdx.json target/dist/$(DIST)/sbom/libelastane.cdx.json
	mv rust/cli/elastane_bin.cdx.json target/dist/$(DIST)/sbom/elastane.cdx.json
	mv nodemanager-hook/elastane-agent_bin.cdx.json target/dist/$(DIST)/sbom/elastane-agent.cdx.json
	rm -f lab/*.cdx.json tests/replay/*.cdx.json
	sed -i 's|$(CURDIR)/||g' target/dist/$(DIST)/sbom/*.json
	for jar in scheduler spark; do \
		$(MAVEN) org.cyclonedx:cyclonedx-maven-plugin:2.9.1:makeBom -pl java-shim/$$jar -DincludeProvidedScope=false \
			-DoutputFormat=json -DoutputName=elastane-$$jar.cdx -DoutputDirectory=$(CURDIR)/target/dist/$(DIST)/sbom || exit 1; \
	done

target/tools/bin/cargo-cyclonedx:
	$(CARGO) install --quiet --locked --version 0.5.9 --root target/tools cargo-cyclonedx

clean: ## removes all that was built or fetched
	$(CARGO) clean
	$(MAVEN) clean
