# stagger: builds the preload library, its companions (OTF2 and symbols; RDMA), the command and the
# tests. `make help` lists the targets.

# ---- options -----------------------------------------------------------------------------------
PREFIX  ?= /usr/local
DESTDIR ?=
V       ?= 0
DEBUG   ?= 0
SAN     ?=
WERROR  ?= 1
COVERAGE ?= 0
comma := ,

variant := $(if $(filter-out gcc cc,$(CC)),-$(notdir $(CC)))$(if $(filter 1,$(DEBUG)),-debug)$(if $(SAN),-san-$(subst $(comma),-,$(SAN)))$(if $(filter 1,$(COVERAGE)),-coverage)
B := build$(if $(variant),/variant$(variant))
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@:,@printf '  %-7s %s\n')

ifeq ($(origin CC),default)
CC := gcc
endif

# ---- MPICH, never another MPI --------------------------------------------------------------------
MPICC := $(shell .ci/find-mpi cc)
MPI_INCLUDES := $(if $(MPICC),$(patsubst -I%,-isystem %,$(filter -I%,$(shell $(MPICC) -show 2>/dev/null))))
MPI_LIBS := $(if $(MPICC),$(filter -L% -l%,$(shell $(MPICC) -show 2>/dev/null)))
# For comparison only, where it is installed with its headers.
OPENMPI_CC = $(shell mpicc.openmpi -include mpi.h -E -x c /dev/null >/dev/null 2>&1 && echo mpicc.openmpi)

# ---- flags ---------------------------------------------------------------------------------------
WARN := -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror) -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes \
        -Wwrite-strings -Wno-unused-parameter
# Sanitizers look at what is executed, and compile in half the time without what -O2 adds.
OPT  := $(if $(filter 1,$(DEBUG)),-O0 -g3,$(if $(SAN),-O1,-O2) -g)
VERSION := $(shell cat VERSION)
CPPFLAGS_ALL := -Ishim -Ianalysis -D_GNU_SOURCE -DSG_VERSION='"$(VERSION)"' $(CPPFLAGS)
CFLAGS_ALL := -std=gnu11 $(OPT) $(WARN) -fPIC -fvisibility=hidden -fno-common -ffp-contract=off \
              -pthread $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all) \
              $(if $(filter 1,$(COVERAGE)),--coverage) $(CFLAGS)
LDFLAGS_ALL := $(if $(SAN),-fsanitize=$(SAN)) $(if $(filter 1,$(COVERAGE)),--coverage) $(LDFLAGS)
# The library is loaded at program start and its handlers must find no lazy symbol.
SHARED := -shared -Wl,-z,now -Wl,-z,relro $(if $(SAN),,-Wl,-z,defs)

# ---- what is built of what -----------------------------------------------------------------------
sources = $(sort $(wildcard $(addsuffix /*.c,$(1))))
objects = $(patsubst %.c,$(B)/%.o,$(call sources,$(1)))

LIB_DIRS       := shim/core shim/rule shim/trace shim/algos shim/node shim/transport shim/engine shim/intercept
COMPANION_DIRS := shim/core shim/trace shim/trace/export
# libibverbs and librdmacm may be missing: make HAVE_RDMA= builds as if they were.
HAVE_RDMA      := $(shell printf '\043include <infiniband/verbs.h>\n\043include <rdma/rdma_cma.h>\n' | \
                    $(CC) -E -o /dev/null - 2>/dev/null && echo 1)
VERBS_DIRS     := shim/core shim/transport/verbs$(if $(HAVE_RDMA),,_stub)
VERBS_LIBS     := $(if $(HAVE_RDMA),-libverbs -lrdmacm)
TOOL_DIRS      := shim/core shim/rule shim/trace shim/trace/export shim/algos analysis/report \
                  analysis/compare analysis/advise analysis/page analysis/perfetto analysis/plot analysis/sim \
                  analysis/cli
# Everything a unit test may use: no MPI, no main.
PARTS_DIRS     := shim/core shim/rule shim/trace shim/trace/export shim/algos shim/node shim/transport \
                  analysis/report analysis/compare analysis/advise analysis/page analysis/perfetto analysis/plot analysis/sim
BENCH_PARTS    := $(addprefix $(B)/analysis/bench/,algorithms.o distribution.o given.o limits.o merge.o option_values.o \
                  option_values_more.o options.o output.o output_csv.o output_records.o output_rows.o \
                  overlapping.o pattern.o plan.o plot.o record.o samples.o sampling.o sampling_plan.o settings.o summary.o)
UNIT_TESTS     := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/*/test_*.c tests/*/*/test_*.c)))

PRODUCTS := $(B)/libstagger.so $(B)/libstagger-otf2.so $(B)/libstagger-verbs.so $(B)/stagger \
            $(B)/stagger-bench

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: help deps all check check-full soak lab bench papers demo install uninstall deb format lint clean test-programs unit

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | sort | \
	  while IFS='|' read -r name what; do printf '  make %-12s %s\n' "$$name" "$$what"; done
	@echo '  options: PREFIX=DIR DESTDIR=DIR CC=clang WERROR=0 DEBUG=1 SAN=address,undefined SAN=thread COVERAGE=1 V=1'

all: $(PRODUCTS) ## the library and the command, in build/

deps: ## installs the packages that are missing (root or sudo), or names them
	$(Q).ci/deps build test

# Targets that run from a fresh machine see to their packages first; the rest of the build is then
# read anew, because what is found (mpicc, headers) has changed.
check: ## everything that fits 20 minutes on 2 processors
	$(Q).ci/deps build test
	$(Q).ci/deps lab || echo 'the tests of the lab are skipped'
	$(Q)$(MAKE) --no-print-directory all test-programs unit
	$(Q)tests/run $(B) check

check-full: ## check and the long tests
	$(Q).ci/deps build test
	$(Q).ci/deps lab || echo 'the tests of the lab are skipped'
	$(Q).ci/deps deb || echo 'the test of the Debian package is skipped'
	$(Q)$(MAKE) --no-print-directory all test-programs unit
	$(Q)tests/run $(B) check full

soak: ## mixed traffic between nodes, for ten minutes
	$(Q).ci/deps build test
	$(Q)$(MAKE) --no-print-directory all test-programs
	$(Q)tests/run $(B) check full only=span/soak_full

lab: ## all that is tested on virtual hosts with an RDMA device
	$(Q).ci/deps build test
	$(Q).ci/deps lab || echo 'the tests of the lab are skipped'
	$(Q)$(MAKE) --no-print-directory all test-programs
	$(Q)tests/run $(B) check full only=lab/

demo: ## two programs with skew, observed, and their reports
	$(Q).ci/deps build demo
	$(Q)$(MAKE) --no-print-directory all test-programs
	$(Q)tests/demo.sh $(B)

bench: ## cost, speed against MPICH, clocks: printed, and in build/bench; FULL=1: with 16 and 32 ranks
	$(Q).ci/deps build
	$(Q)$(MAKE) --no-print-directory all test-programs $(if $(OPENMPI_CC),$(B)/openmpi/stagger-bench)
	$(Q)tests/bench.sh $(B) $(if $(filter 1,$(FULL)),--full)

papers: ## the papers' results against the simulator's, printed
	$(Q).ci/deps build
	$(Q)$(MAKE) --no-print-directory $(B)/stagger
	$(Q)$(B)/stagger sim papers

# ---- compiling -----------------------------------------------------------------------------------
$(B)/shim/engine/%.o $(B)/shim/intercept/%.o $(B)/analysis/bench/%.o: CPPFLAGS_ALL += $(MPI_INCLUDES)
$(B)/shim/engine/%.o $(B)/shim/intercept/%.o: CFLAGS_ALL += -ftls-model=initial-exec
$(B)/shim/algos/kernel_%.o: CFLAGS_ALL += $(if $(filter 1,$(DEBUG))$(SAN),,-O3)

# The assembler reads the pages' styles and scripts into it.
$(B)/analysis/page/assets.o: $(wildcard analysis/page/assets/*)

# Outputs of the simulator name the commit; the file changes only when that does.
COMMIT := $(shell git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || echo unknown)
$(B)/analysis/sim/commit.o $(B)/analysis/bench/commit.o lint: CPPFLAGS_ALL += -DSG_COMMIT='"$(COMMIT)"'
$(B)/analysis/sim/commit.o $(B)/analysis/bench/commit.o: $(B)/commit
$(B)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@
FORCE:

$(B)/%.o: %.c Makefile VERSION
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(B)/libstagger.so: $(call objects,$(LIB_DIRS))
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(SHARED) -Wl,-soname,libstagger.so $^ -o $@ -pthread -ldl

$(B)/libstagger-otf2.so: $(call objects,$(COMPANION_DIRS))
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(SHARED) -Wl,-soname,libstagger-otf2.so $^ -o $@ -lotf2 -ldw -lelf -pthread -lm

$(B)/libstagger-verbs.so: $(call objects,$(VERBS_DIRS)) $(B)/shim/transport/parts.o
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(SHARED) -Wl,-soname,libstagger-verbs.so $^ -o $@ $(VERBS_LIBS) -pthread

$(B)/stagger: $(call objects,$(TOOL_DIRS)) $(addprefix $(B)/analysis/bench/,distribution.o merge.o summary.o)
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -o $@ -lotf2 -ldw -lelf -pthread -ldl -lm -ljansson

BENCH_SHIM := $(addprefix shim/core/,clockmodel clockpair clocksync config config_rules \
                config_table config_text operation status text) \
              $(basename $(call sources,shim/rule)) analysis/plot/gnuplot

$(B)/stagger-bench: $(call objects,analysis/bench) $(BENCH_SHIM:%=$(B)/%.o)
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -o $@ $(MPI_LIBS) -ljansson -pthread -ldl -lm

# The same program for Open MPI, which `make bench` shows beside it.
OPENMPI_SOURCES := $(call sources,analysis/bench) $(BENCH_SHIM:%=%.c)
$(B)/openmpi/stagger-bench: $(OPENMPI_SOURCES) $(wildcard analysis/bench/*.h shim/core/*.h) Makefile
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(OPENMPI_CC) $(CPPFLAGS_ALL) -DSG_COMMIT='"$(COMMIT)"' $(CFLAGS_ALL) $(LDFLAGS_ALL) $(OPENMPI_SOURCES) -o $@ \
	  -ljansson -pthread -ldl -lm

$(B)/parts.a: $(call objects,$(PARTS_DIRS)) $(BENCH_PARTS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# ---- tests ---------------------------------------------------------------------------------------
unit: $(UNIT_TESTS)

$(B)/tests/%.o: CPPFLAGS_ALL += -Itests
$(filter $(B)/tests/algos/%,$(UNIT_TESTS)): $(addprefix $(B)/tests/algos/mini_,host.o drive.o actions.o)
$(filter $(B)/tests/transport/%,$(UNIT_TESTS)): $(addprefix $(B)/tests/transport/,world.o faulty.o cases.o)
$(B)/tests/core/test_clocksync $(B)/tests/trace/test_export_clock $(addprefix $(B)/tests/bench/test_,sampling overlapping): $(B)/tests/lib/virtual.o
$(B)/tests/transport/test_protocols: $(addprefix $(B)/tests/,transport/host.o $(addprefix algos/mini_,host.o drive.o actions.o))
$(UNIT_TESTS): $(B)/tests/%: $(B)/tests/%.o $(addprefix $(B)/tests/lib/,unit.o unit_main.o) $(B)/parts.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(filter %.o,$^) $(filter %.a,$^) -o $@ -lcunit -lotf2 -ldw -lelf -pthread -ldl -lm -ljansson

# Compares live runs with the simulator: tests/span/replay_full.sh.
$(B)/tests/span/replay: $(B)/tests/span/replay.o $(B)/parts.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -o $@ -lotf2 -ldw -lelf -pthread -ldl -lm -ljansson
test-programs: $(B)/tests/span/replay

include tests/mpi/programs.mk

# ---- the rest ------------------------------------------------------------------------------------
# What goes where below PREFIX: mode, file, place. All of it finds the rest from its own place.
ZSH_DIR ?= share/zsh/site-functions
INSTALLED = \
  $(foreach x,stagger stagger-bench,755:$(B)/$x:bin/$x) \
  $(foreach x,libstagger libstagger-otf2 libstagger-verbs,755:$(B)/$x.so:lib/stagger/$x.so) \
  $(foreach x,$(wildcard docs/*.[1-8]),644:$x:share/man/man$(subst .,,$(suffix $x))/$(notdir $x)) \
  $(foreach x,$(filter-out docs/status.md docs/style.md,$(wildcard docs/*.md)),644:$x:share/doc/stagger/$(notdir $x)) \
  $(foreach x,$(wildcard analysis/sim/networks/*.conf),644:$x:share/stagger/networks/$(notdir $x)) \
  644:dist/complete:share/stagger/complete \
  $(foreach x,stagger stagger-bench,644:dist/completion.bash:share/bash-completion/completions/$x) \
  644:dist/completion.zsh:$(ZSH_DIR)/_stagger \
  644:$(B)/stagger.pc:share/pkgconfig/stagger.pc \
  644:dist/modulefile:share/modulefiles/stagger/$(VERSION)

$(B)/stagger.pc: dist/stagger.pc.in VERSION
	$(Q)sed 's/@VERSION@/$(VERSION)/' $< >$@

install: all $(B)/stagger.pc ## into PREFIX (/usr/local)
	$(Q)for each in $(INSTALLED); do \
	  mode=$${each%%:*} place=$${each##*:} file=$${each#*:}; \
	  install -D -m $$mode "$${file%:*}" "$(DESTDIR)$(PREFIX)/$$place" || exit 1; done

uninstall: ## removes what install put there
	$(Q)for each in $(INSTALLED); do \
	  place="$(DESTDIR)$(PREFIX)/$${each##*:}"; rm -f "$$place" || exit 1; \
	  while place=$${place%/*}; case "$${place#"$(DESTDIR)$(PREFIX)"}" in */stagger*) ;; *) false ;; esac; \
	    do rmdir "$$place" 2>/dev/null || break; done; done

deb: ## a Debian package, in build/deb
	$(Q).ci/deps build deb
	$(Q)dist/deb build/deb

C_FILES = $(shell git ls-files '*.c' '*.h')

format: ## clang-format over all C files
	clang-format -i $(C_FILES)

lint: ## formatting, clang-tidy, cppcheck
	@clang-format --dry-run --Werror $(C_FILES)
	cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --enable=warning,portability \
	  --suppress=missingIncludeSystem -Ishim -Ianalysis shim analysis
	@clang-tidy --quiet \
	  $(filter-out shim/algos/kernel_%,$(filter shim/% analysis/%,$(filter %.c,$(C_FILES)))) -- \
	  $(CPPFLAGS_ALL) $(MPI_INCLUDES) -std=gnu11

clean: ## removes build/
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)
