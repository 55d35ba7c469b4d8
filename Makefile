# SPDX-License-Identifier: MIT
#
# posenc: one Makefile, three rooms (lib <- api <- server), one build folder for each sanitizer.
# `make help` lists the targets. `make V=1` shows the commands.

## Settings (make NAME=value)
SAN      ?=#                 sanitizers: empty, or address,undefined and the like
V        ?=#                 1 shows each command
PREFIX   ?= /usr/local#      where install puts things
DESTDIR  ?=#                 a root in front of PREFIX, for packagers
LISTEN   ?= 127.0.0.1:8080#  where run serves
BENCH    ?=#                 options of bench-serving, such as --quick

comma    := ,
FLAVOUR  := $(if $(strip $(SAN)),$(subst $(comma),-,$(strip $(SAN))),plain)
BUILD    ?= build/$(FLAVOUR)
CC       ?= cc
VERSION  := $(shell sed -n 's/^.define PE_VERSION "\(.*\)"/\1/p' lib/posenc.h)
SONAME   := libposenc.so.$(firstword $(subst ., ,$(VERSION)))
Q        := $(if $(strip $(V)),,@)
ARCH     := $(shell uname -m)

# -ffp-contract=off: the compiler fuses nothing by itself, so that every CPU gives the same bytes.
WARN     := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla
HARDEN   := -fstack-protector-strong -fstack-clash-protection -fPIE $(if $(strip $(SAN)),,-D_FORTIFY_SOURCE=2)
OPT      ?= -O2 -g
FLAGS    := -std=gnu11 -D_GNU_SOURCE $(OPT) -ffp-contract=off -fno-math-errno $(WARN) $(HARDEN) -MMD -MP \
            $(if $(strip $(SAN)),-fsanitize=$(strip $(SAN)) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
            $(if $(CI),-Werror) $(CFLAGS)
LINK     := -pie -Wl,-z,relro,-z,now,-z,noexecstack $(if $(strip $(SAN)),-fsanitize=$(strip $(SAN))) $(LDFLAGS)
LIBS_lib    := -lmpfr -lgmp -lm
LIBS_api    := -ljansson -lnettle -lz
LIBS_server := -lmicrohttpd -luv -lzstd -lz -lpthread

# Each room sees its own headers and the public ones of the rooms below it.
INC_lib    := -Ilib
INC_api    := -Iapi -I$(BUILD)/public/lib
INC_server := -Iserver -I$(BUILD)/public/lib -I$(BUILD)/public/api
INC_tests  := -Itests -Ilib -Iapi -Iserver

KERNEL   := lib/rotation/kernel.c
ISAS     := portable $(if $(filter x86_64,$(ARCH)),avx2 avx512)
ISA_portable :=
ISA_avx2     := -mavx2 -mfma -mf16c
ISA_avx512   := -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mf16c -mprefer-vector-width=512

SRC_lib    := $(filter-out $(KERNEL),$(sort $(wildcard lib/*.c lib/*/*.c)))
SRC_api    := $(sort $(wildcard api/*.c api/*/*.c))
SRC_server := $(sort $(wildcard server/*.c server/*/*.c))
OBJ_lib    := $(SRC_lib:%.c=$(BUILD)/%.o) $(ISAS:%=$(BUILD)/lib/rotation/kernel_%.o)
OBJ_api    := $(SRC_api:%.c=$(BUILD)/%.o)
OBJ_server := $(filter-out $(BUILD)/server/main.o,$(SRC_server:%.c=$(BUILD)/%.o))
PUBLIC     := $(BUILD)/public/lib $(BUILD)/public/api

UNITS   := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/unit/test_*.c)))
PROPS   := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/property/test_*.c)))
HTTPS   := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/http/test_*.c)))
FAULTS  := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/fault/test_*.c)))
BENCHES := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/bench/bench_*.c)))
LOADERS := $(BUILD)/tests/bench/bare $(BUILD)/tests/bench/load
KIT     := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/kit/*.c)))

DEPS_BUILD := gcc libc6-dev make pkg-config libmicrohttpd-dev libjansson-dev libuv1-dev libmpfr-dev libgmp-dev \
              nettle-dev zlib1g-dev libzstd-dev
DEPS_TEST  := libcmocka-dev python3-numpy python3-torch nodejs curl
DEPS_LINT  := clang-format cppcheck
DEPS_BENCH := wrk nginx-light python3-numpy

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

## Everyday targets
all: $(BUILD)/posenc $(BUILD)/libposenc.a $(BUILD)/$(SONAME) $(BUILD)/posenc.1 ## build the daemon, the library and the man page

run: deps-build ## install what is missing, build, and serve in the foreground (LISTEN=ADDR:PORT)
	$(Q)$(MAKE) --no-print-directory $(BUILD)/posenc
	$(Q)exec $(BUILD)/posenc serve --listen $(strip $(LISTEN))

test: deps ## install what is missing, then every test: plain, and under the sanitizers
	$(Q)$(MAKE) --no-print-directory check
	$(Q)$(MAKE) --no-print-directory layers
	$(Q)$(MAKE) --no-print-directory check-san
	@echo "all tests passed"

check: check-unit check-property check-http check-fault check-clients ## the tests of one build

check-unit: $(UNITS) ## one program for each source file
	$(Q)tests/run-tests.sh $(UNITS)

check-property: $(PROPS) ## what must hold for any input
	$(Q)tests/run-tests.sh $(PROPS)

check-http: $(HTTPS) $(BUILD)/posenc ## a real daemon over real sockets
	$(Q)POSENC_BIN=$(abspath $(BUILD)/posenc) tests/run-tests.sh $(HTTPS)

check-fault: $(FAULTS) $(BUILD)/posenc ## disks that fail, power that goes, kill -9
	$(Q)POSENC_BIN=$(abspath $(BUILD)/posenc) tests/run-tests.sh $(FAULTS)

check-clients: $(BUILD)/posenc ## client.py, and what the README shows, run as it stands there
	$(Q)POSENC_BIN=$(abspath $(BUILD)/posenc) /usr/bin/python3 -B tests/clients/test_client.py
	$(Q)POSENC_BIN=$(abspath $(BUILD)/posenc) /usr/bin/python3 -B tests/clients/snippets.py README.md

check-san: ## check, under AddressSanitizer and UndefinedBehaviorSanitizer
	$(Q)$(MAKE) --no-print-directory SAN=address,undefined BUILD=build/address-undefined check

check-asan: check-san

bench: deps-bench all $(BENCHES) ## speed: kernels, printing, serving; figures go to the terminal
	$(Q)for b in $(BENCHES); do echo "== $${b##*/}"; $$b || exit 1; done
	$(Q)$(MAKE) --no-print-directory bench-serving

bench-serving: deps-bench all $(LOADERS) ## serving alone, beside nginx and a bare responder (BENCH=--quick)
	$(Q)/usr/bin/python3 -B tests/bench/check_load.py $(BUILD)/tests/bench/load
	$(Q)/usr/bin/python3 -B tests/bench/serving.py $(BENCH) $(BUILD)

verify: $(BUILD)/tests/bench/verify ## compare random values of every kind with MPFR until Ctrl-C, or for SECONDS=n
	$(Q)$< $(SECONDS)

lint: deps-lint all layers ## clang-format, cppcheck, banned functions, layers
	$(Q)tests/lint.sh

layers: all ## no upward include, no circle of calls between files, a pure lib
	$(Q)tests/layers.sh $(BUILD)

## Setting up
deps: deps-build deps-test ## install missing Debian packages (sudo only where needed)
deps-build:
	$(Q)tests/install-deps.sh $(DEPS_BUILD)
deps-test: deps-build
	$(Q)tests/install-deps.sh $(DEPS_TEST)
deps-lint: deps-build
	$(Q)tests/install-deps.sh $(DEPS_LINT)
deps-bench: deps-build
	$(Q)tests/install-deps.sh $(DEPS_BENCH)

install: all ## put daemon, library, header, pkg-config file and man page under DESTDIR/PREFIX
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/posenc \
	    $(DESTDIR)$(PREFIX)/share/man/man1
	install $(BUILD)/posenc $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(BUILD)/libposenc.a $(DESTDIR)$(PREFIX)/lib/
	install $(BUILD)/$(SONAME) $(DESTDIR)$(PREFIX)/lib/libposenc.so.$(VERSION)
	ln -sf libposenc.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/lib/libposenc.so
	install -m 644 lib/posenc*.h lib/*.def $(DESTDIR)$(PREFIX)/include/posenc/
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' lib/posenc.pc.in \
	    > $(DESTDIR)$(PREFIX)/lib/pkgconfig/posenc.pc
	install -m 644 $(BUILD)/posenc.1 $(DESTDIR)$(PREFIX)/share/man/man1/

clean: ## remove this build folder
	rm -rf $(BUILD)

dist-clean: ## remove every build folder
	rm -rf build

help: ## this text
	@awk -F ':.*## ' '/^## /{print "\n" substr($$0, 4)} /^[a-z-]+:.*## /{printf "  %-16s %s\n", $$1, $$2} \
	    /^[A-Z]+ +\?=.*# +/{n=$$0; sub(/ .*/, "", n); sub(/^[^#]*# +/, ""); printf "  %-16s %s\n", n, $$0}' Makefile

# ---------------------------------------------------------------- rules

$(BUILD)/public/lib: $(wildcard lib/posenc*.h lib/*.def)
	$(Q)mkdir -p $@ && cp $^ $@/ && touch $@
$(BUILD)/public/api: api/api.h
	$(Q)mkdir -p $@ && cp $^ $@/ && touch $@

define room
$$(OBJ_$(1)): | $$(PUBLIC)
$$(BUILD)/$(1)/%.o: $(1)/%.c
	@mkdir -p $$(@D)
	$$(if $$(Q),@echo "  CC    $$<")
	$$(Q)$$(CC) $$(FLAGS) $$(if $$(filter lib,$(1)),-fPIC) $$(INC_$(1)) -c $$< -o $$@
endef
$(foreach r,lib api server,$(eval $(call room,$(r))))
$(BUILD)/server/main.o: | $(PUBLIC)

$(BUILD)/lib/rotation/kernel_%.o: $(KERNEL) | $(PUBLIC)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC    $< ($*)")
	$(Q)$(CC) $(FLAGS) -O3 -fno-trapping-math -fPIC $(ISA_$*) -DPE_ISA=$* $(INC_lib) -c $< -o $@

# What is embedded by .incbin is not in the compiler's own list of dependencies.
$(BUILD)/api/pages/assets.o: $(wildcard api/*.json api/pages/*.html) api/client.py

$(BUILD)/libposenc.a: $(OBJ_lib)
$(BUILD)/libapi.a: $(OBJ_api)
$(BUILD)/libserver.a: $(OBJ_server)
$(BUILD)/%.a:
	$(if $(Q),@echo "  AR    $@")
	$(Q)rm -f $@ && ar qcs $@ $^

$(BUILD)/$(SONAME): $(OBJ_lib) lib/posenc.map
	$(if $(Q),@echo "  LD    $@")
	$(Q)$(CC) -shared $(FLAGS) -Wl,-soname,$(SONAME),--version-script=lib/posenc.map,-z,relro,-z,now \
	    -o $@ $(OBJ_lib) $(LIBS_lib)

ARCHIVES := $(BUILD)/libserver.a $(BUILD)/libapi.a $(BUILD)/libposenc.a
$(BUILD)/posenc: $(BUILD)/server/main.o $(ARCHIVES)
	$(if $(Q),@echo "  LD    $@")
	$(Q)$(CC) $(LINK) -o $@ $^ $(LIBS_server) $(LIBS_api) $(LIBS_lib)

$(BUILD)/posenc.1: $(BUILD)/posenc
	$(Q)$(BUILD)/posenc man > $@

$(BUILD)/tests/%.o: tests/%.c | $(PUBLIC)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC    $<")
	$(Q)$(CC) $(FLAGS) $(INC_tests) -DTESTS_DIR='"$(abspath tests)"' -c $< -o $@

$(BUILD)/tests/bench/load: $(BUILD)/tests/bench/answer.o
$(UNITS) $(PROPS) $(HTTPS) $(FAULTS) $(BENCHES) $(LOADERS) $(BUILD)/tests/bench/verify: $(BUILD)/tests/%: $(BUILD)/tests/%.o $(KIT) $(ARCHIVES)
	$(if $(Q),@echo "  LD    $@")
	$(Q)$(CC) $(LINK) -o $@ $^ -lcmocka $(LIBS_server) $(LIBS_api) $(LIBS_lib)

.SECONDARY:
.PHONY: all run test verify check check-unit check-property check-http check-fault check-clients check-san check-asan bench \
        bench-serving lint layers deps deps-build deps-test deps-lint deps-bench install clean dist-clean help

# What the compiler writes, make does not try to make.
%.d: ;
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
