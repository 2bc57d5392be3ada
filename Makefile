# The contributor's menu. Every target works on a machine with nothing but the Swift toolchain, gcc and Debian's packages.

SWIFT ?= swift
BUILD ?= .build
DEBUG := $(BUILD)/debug/fleetctl
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# What the build needs, what the tests drive, and what the far end is checked against.
PACKAGES := pkg-config libusbmuxd-dev libimobiledevice-dev libplist-dev libssl-dev libyaml-dev libhttp-parser-dev zlib1g-dev \
  libnghttp2-dev liblwip-dev libsqlite3-dev libpng-dev libtiff-dev libmicrohttpd-dev
TEST_PACKAGES := libimobiledevice-utils ideviceinstaller libusbmuxd-tools curl python3 python3-venv

.PHONY: help deps test-deps build demo test unit lint format crosscheck crosscheck-debian browser release bench soak simulate sanitize fuzz clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 20

deps: ## install Debian's libraries (with sudo when not root)
	@$(call install,$(PACKAGES))

test-deps: deps
	@$(call install,$(TEST_PACKAGES))

build: deps ## debug build: .build/debug/fleetctl
	$(SWIFT) build --scratch-path $(BUILD) --product fleetctl

demo: build ## four virtual phones: listed, launched, called, two scenarios judged on each, and one of them supervised
	@./scripts/demo $(DEBUG)

test: lint unit crosscheck-debian ## lint, all tests, and Debian's own clients against the virtual phones

unit: test-deps
	$(SWIFT) build --scratch-path $(BUILD) --build-tests
	./scripts/test $(BUILD)

lint: ## the formatter's strict rules over all Swift files
	$(SWIFT) format lint --strict --recursive --parallel Sources Tests Package.swift

format: ## rewrite all Swift files by those rules
	$(SWIFT) format --in-place --recursive --parallel Sources Tests Package.swift

crosscheck: crosscheck-debian ## Debian's clients, then pymobiledevice3 from PyPI in a throw-away environment
	python3 Tests/crosscheck/pymobiledevice3.py $(DEBUG)

crosscheck-debian: test-deps build
	python3 Tests/crosscheck/debian.py $(DEBUG)

browser: build ## HTML report and supervisor's page in Debian's headless Chromium, installed for it (SCREENSHOTS=FOLDER keeps pictures)
	@$(call install,python3 chromium fonts-dejavu-core)
	$(SWIFT) build --scratch-path $(BUILD) --product pagestage
	python3 scripts/browser/report.py $(DEBUG) $(SCREENSHOTS)
	python3 scripts/browser/page.py $(BUILD)/debug/pagestage $(SCREENSHOTS)

release: deps ## release build: .build/release/fleetctl
	$(SWIFT) build --scratch-path $(BUILD) --product fleetctl --configuration release

bench: release test-deps ## measure against iproxy, the idevice tools and pymobiledevice3; writes docs/performance.md
	$(SWIFT) build --scratch-path $(BUILD) --product tunnelbench --configuration release
	./scripts/bench/run $(BUILD)

soak: release ## HOURS=1 of a supervisor among faults, which ends with what it held in its fifth minute
	python3 scripts/soak.py $(BUILD)/release/fleetctl $(or $(HOURS),1)

simulate: deps ## simulated years of supervision, then the watch without each of its rules (SEEDS=20, FIRST=a seed)
	$(SWIFT) build --scratch-path $(BUILD) --product simulate --configuration release
	$(BUILD)/release/simulate $(or $(SEEDS),20) $(FIRST)
	$(BUILD)/release/simulate mutants

sanitize: test-deps ## all tests under the thread sanitizer, then under the address sanitizer
	./scripts/sanitize $(BUILD)

fuzz: deps ## libFuzzer over the decoders: five million executions each (EXECUTIONS=…)
	./scripts/fuzz $(BUILD) $(EXECUTIONS)

clean: ## remove what was built
	rm -rf $(BUILD)

# Asks apt only for what is missing, so that an equipped machine needs no network.
define install
missing=""; for package in $(1); do \
  dpkg-query -W -f '$${Status}' "$$package" 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
done; \
if [ -n "$$missing" ]; then \
  echo "installing$$missing"; \
  $(SUDO) apt-get update -qq && \
  $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing > /dev/null; \
fi
endef
