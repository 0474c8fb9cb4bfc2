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

# Cross compilation: CC=aarch64-linux-gnu-gcc SYSROOT=DIR, a Debian system of that architecture with
# the libraries and MPICH. MPICH's wrapper there gives the paths (=); it is read, not run.
SYSROOT ?=
OBJCOPY := objcopy
STRIP   := strip
ifneq ($(SYSROOT),)
binutils := $(patsubst %gcc,%,$(notdir $(CC)))
AR      := $(binutils)ar
OBJCOPY := $(binutils)objcopy
STRIP   := $(binutils)strip
override CC := $(CC) --sysroot=$(SYSROOT)
endif

# ---- MPICH, never another MPI --------------------------------------------------------------------
MPICC := $(if $(SYSROOT),$(SYSROOT)/usr/bin/mpicc.mpich,$(shell .ci/find-mpi cc))
mpi_flags := $(if $(MPICC),$(patsubst -I%,-I$(if $(SYSROOT),=)%,$(patsubst -L%,-L$(if $(SYSROOT),=)%,$(shell $(MPICC) -show 2>/dev/null))))
MPI_INCLUDES := $(patsubst -I%,-isystem %,$(filter -I%,$(mpi_flags)))
MPI_LIBS := $(filter -L% -l%,$(mpi_flags))
ifneq ($(SYSROOT),)
MPICC := $(CC) $(MPI_INCLUDES) -Wl,--no-as-needed $(MPI_LIBS)
endif
# For comparison only, where Open MPI is installed with its headers.
OPENMPI_CC = $(shell mpicc.openmpi -include mpi.h -E -x c /dev/null >/dev/null 2>&1 && echo mpicc.openmpi)

# ---- flags ---------------------------------------------------------------------------------------
WARN := -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror) -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes \
        -Wwrite-strings -Wno-unused-parameter
# With sanitizers clang optimises for four times as long as it compiles otherwise. Only the algorithms
# run for longer than that.
OPT  := $(if $(filter 1,$(DEBUG)),-O0 -g3,$(if $(SAN),-O0 -g1,-O2 -g))
VERSION := $(shell cat VERSION)
CPPFLAGS_ALL := -Ishim -Ianalysis -I$(B)/shim -D_GNU_SOURCE -DSG_VERSION='"$(VERSION)"' $(CPPFLAGS)
CFLAGS_ALL := -std=gnu11 $(OPT) $(WARN) -fPIC -fvisibility=hidden -fno-common -ffp-contract=off \
              -pthread $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all) \
              $(if $(filter 1,$(COVERAGE)),--coverage) $(CFLAGS)
LDFLAGS_ALL := $(if $(SAN),-fsanitize=$(SAN)) $(if $(filter 1,$(COVERAGE)),--coverage) $(LDFLAGS)
# The library is loaded at program start, and its handlers must not trigger lazy binding.
SHARED := -shared -Wl,-z,now -Wl,-z,relro $(if $(SAN),,-Wl,-z,defs)

# ---- sources and products ------------------------------------------------------------------------
sources = $(sort $(wildcard $(addsuffix /*.c,$(1))))
objects = $(patsubst %.c,$(B)/%.o,$(call sources,$(1)))

# Directories whose sources include mpi.h.
MPI_DIRS       := shim/mpi shim/wait shim/intranode/mpi shim/internode shim/runtime shim/profile shim/intercept shim/bcs/live
ALGO_DIRS      := shim/algos $(addprefix shim/algos/,baselines bypass adaptive handoff srm kernels) shim/bcs
TRANSPORT_DIRS := shim/transport shim/transport/shm
LIB_DIRS       := shim/core shim/core/altstack shim/rule shim/trace shim/causes $(ALGO_DIRS) shim/intranode $(TRANSPORT_DIRS) shim/progress $(MPI_DIRS)
# Written from the table of MPI's functions.
GENERATED      := $(addprefix $(B)/shim/,profile/functions.h profile/functions.c mpi/real_functions.h mpi/real_functions.c \
                  $(patsubst %,intercept/%.c,wrappers wrappers_own wrappers_f08))
GENERATED_HEADERS := $(filter %.h,$(GENERATED))
GENERATED_OBJECTS := $(patsubst %.c,%.o,$(filter %.c,$(GENERATED)))
COMPANION_DIRS := shim/core shim/trace shim/trace/export
# libibverbs and librdmacm may be missing: make HAVE_RDMA= builds as if they were.
HAVE_RDMA      := $(shell printf '\043include <infiniband/verbs.h>\n\043include <rdma/rdma_cma.h>\n' | \
                    $(CC) -E -o /dev/null - 2>/dev/null && echo 1)
VERBS_DIRS     := shim/core shim/transport/verbs$(if $(HAVE_RDMA),,_stub)
VERBS_LIBS     := $(if $(HAVE_RDMA),-libverbs -lrdmacm)
SIM_DIRS       := analysis/sim analysis/bcs analysis/papers tests/verify
REPORT_DIRS    := analysis/report analysis/processes
TOOL_DIRS      := shim/core shim/core/altstack shim/rule shim/trace shim/trace/export shim/causes $(ALGO_DIRS) $(REPORT_DIRS) \
                  analysis/compare analysis/advise analysis/page analysis/perfetto analysis/watch \
                  analysis/options analysis/output $(SIM_DIRS) \
                  analysis/cli
# Everything that unit tests may use: no MPI, no main.
PARTS_DIRS     := shim/core shim/core/altstack shim/rule shim/trace shim/trace/export shim/causes $(ALGO_DIRS) shim/intranode $(TRANSPORT_DIRS) \
                  analysis/options analysis/output $(REPORT_DIRS) analysis/compare analysis/advise analysis/page analysis/perfetto \
                  analysis/watch $(SIM_DIRS) analysis/bench
# Sanitizers and coverage have their own runtimes, which conflict with the counting of the checker
# in tests/weak.
UNIT_TESTS     := $(patsubst %.c,$(B)/%,$(sort $(filter-out $(if $(SAN)$(filter 1,$(COVERAGE)),tests/weak/%) \
                    $(if $(HAVE_RDMA),,tests/internode/test_scale.c), \
                    $(wildcard tests/*/test_*.c tests/*/*/test_*.c))))

PRODUCTS := $(B)/libstagger.so $(B)/libstagger-account.so $(B)/libstagger-otf2.so $(B)/libstagger-verbs.so \
            $(B)/stagger $(B)/stagger-bench

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: help deps all check check-build check-full check-mpich check-arm64 fresh soak fuzz lab bench papers demo install uninstall dist deb manual picture format lint clean test-programs unit

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | sort | \
	  while IFS='|' read -r name what; do printf '  make %-12s %s\n' "$$name" "$$what"; done
	@echo '  options: PREFIX=DIR DESTDIR=DIR CC=clang SYSROOT=DIR WERROR=0 DEBUG=1 SAN=address,undefined SAN=thread COVERAGE=1 V=1'

all: $(PRODUCTS) ## the library and the command, in build/

deps: ## installs the packages that are missing (root or sudo), or names them
	$(Q).ci/deps build test

# Targets for a fresh machine install their packages first. The rest of the build is then read
# again, because mpicc and headers may have appeared. They build what they run, on all processors
# unless the caller gave -j.
parallel = --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

check: check-build ## everything that fits 20 minutes on 2 processors
	$(Q)tests/run $(B) check

check-build: # what check installs and builds
	$(Q).ci/deps build test
	$(Q).ci/deps lab || echo 'the tests of the lab are skipped'
	$(Q)$(MAKE) $(parallel) all test-programs unit

check-full: check-build ## check and the long tests, the Debian package and empty systems among them
	$(Q).ci/deps deb fresh || echo 'the tests of the Debian package and of empty systems are skipped'
	$(Q).ci/deps checked || echo 'the tests under an MPICH with all its checks are skipped'
	$(Q).ci/deps libfabric || echo 'the tests under an MPICH for libfabric are skipped'
	$(Q).ci/deps programs || echo 'the tests of some real programs are skipped'
	$(Q).ci/deps suites || echo 'some suites of tests by others are skipped'
	$(Q).ci/deps tools || echo 'the tests of some tools are skipped'
	$(Q)tests/run $(B) check fresh full

MPICH ?=
check-mpich: check-build ## short tests under other MPICHs, into docs/mpich.md; MPICH="NAME...": under these
	$(Q).ci/deps checked libfabric fresh || echo 'some MPICHs cannot be had'
	$(Q)BUILD=$(B) tests/mpich/matrix $(MPICH)

check-arm64: ## builds for 64-bit Arm and tests in a Debian of its own under qemu-user, as root
	$(Q).ci/deps arm64 || echo 'the tests of 64-bit Arm are skipped'
	$(Q)mkdir -p $(B)
	$(Q)BUILD=$(B) tests/arch/emulated arm64

fresh: all ## make demo and what check builds in an empty Debian 12, as root
	$(Q).ci/deps fresh || echo 'the tests of empty systems are skipped'
	$(Q)tests/run $(B) fresh

soak: ## mixed traffic between nodes, for ten minutes
	$(Q).ci/deps build test
	$(Q)$(MAKE) $(parallel) all $(B)/mpi/soak
	$(Q)tests/run $(B) check full only=internode/soak_full

lab: ## all that is tested on virtual hosts with an RDMA device
	$(Q).ci/deps build test
	$(Q).ci/deps lab || echo 'the tests of the lab are skipped'
	$(Q)$(MAKE) $(parallel) all test-programs
	$(Q)tests/run $(B) check full only=lab/

SECONDS ?= 1800
fuzz: ## what reads input from outside, fuzzed for SECONDS (1800) a target
	$(Q).ci/deps build test
	@mkdir -p $(B)
	$(Q)tests/fuzz/run $(B) $(SECONDS)

demo: ## two programs with skew, observed, and their reports
	$(Q).ci/deps build demo
	$(Q)$(MAKE) $(parallel) all $(B)/mpi/cg
	$(Q)tests/demo.sh $(B)

bench: ## cost, speed against MPICH, clocks: printed, and in build/bench; FULL=1: with 16 and 32 ranks
	$(Q).ci/deps build
	$(Q)$(MAKE) $(parallel) all $(addprefix $(B)/mpi/,bcs_pattern bench_added bench_call bench_auto bench_late bench_slices bench_start bench_wakes call_times cg) \
	  $(if $(OPENMPI_CC),$(addprefix $(B)/openmpi/,stagger-bench call_times))
	$(Q)bench/bench.sh $(B) $(if $(filter 1,$(FULL)),--full)
	$(Q)bench/bench_calls.sh $(B) | tee $(B)/bench/calls.txt
	$(Q)bench/bench_many.sh $(B) | tee $(B)/bench/many.txt
	$(Q)bench/bench_added.sh $(B) | tee $(B)/bench/added.txt
	$(Q)bench/bench_causes.sh $(B) 2 | tee $(B)/bench/causes.txt
	$(Q)bench/bench_watch.sh $(B) 3 | tee $(B)/bench/watch.txt
	$(Q)bench/bench_wakes.sh $(B) | tee $(B)/bench/wakes.txt
	$(Q)bench/bench_start.sh $(B) | tee $(B)/bench/start.txt
	$(Q)bench/bench_emds.sh $(B) | tee $(B)/bench/emds.txt
	$(Q)bench/bench_auto.sh $(B) 3 | tee $(B)/bench/auto.txt
	$(Q)bench/bench_p2p.sh $(B) | tee $(B)/bench/p2p.txt

papers: ## the papers' results against the simulator's, printed
	$(Q).ci/deps build
	$(Q)$(MAKE) $(parallel) $(B)/stagger
	$(Q)$(B)/stagger sim papers

# ---- compiling -----------------------------------------------------------------------------------
$(MPI_DIRS:%=$(B)/%/%.o) $(B)/analysis/bench/mpi/%.o $(B)/analysis/processes/%.o: CPPFLAGS_ALL += $(MPI_INCLUDES)
$(MPI_DIRS:%=$(B)/%/%.o) $(B)/shim/progress/%.o $(B)/shim/causes/%.o: CFLAGS_ALL += -ftls-model=initial-exec
$(B)/shim/core/altstack/%.o: CFLAGS_ALL += -ftls-model=initial-exec
# An application thread may have a stack of 16 KiB. The sources below run only in MPI_Init, in
# MPI_Finalize, or on a stack of the library's own (core/altstack.h).
FRAMES_OURS := $(patsubst %,$(B)/shim/%.o,intranode/calibrate wait/processors wait/scheduling_group)
$(filter-out $(FRAMES_OURS),$(call objects,shim/trace shim/causes shim/intranode shim/transport/shm shim/progress \
  $(ALGO_DIRS) $(filter-out shim/runtime,$(MPI_DIRS)))) $(GENERATED_OBJECTS): \
  CFLAGS_ALL += $(if $(SAN)$(filter 1,$(DEBUG) $(COVERAGE)),,-Wframe-larger-than=1024)
# The test of the signal handler reads the machine code, where a jump through a table looks like an
# indirect call.
$(B)/shim/algos/%.o $(B)/shim/bcs/%.o: CFLAGS_ALL += -fno-jump-tables
$(B)/shim/algos/kernels/%.o: CFLAGS_ALL += $(if $(filter 1,$(DEBUG))$(SAN),,-O3)
$(addprefix $(B)/,shim/algos/%.o shim/bcs/%.o tests/algos/%.o): CFLAGS_ALL += $(if $(SAN),-O1)

# The assembler includes the pages' styles and scripts.
$(B)/analysis/page/html.o: $(wildcard analysis/page/assets/*)

# Outputs name the commit; the file is rewritten only when the commit changes.
COMMIT := $(shell git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || echo unknown)
$(B)/analysis/output/commit.o lint: CPPFLAGS_ALL += -DSG_COMMIT='"$(COMMIT)"'
$(B)/analysis/output/commit.o: $(B)/commit
$(B)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@
FORCE:

$(GENERATED): shim/profile/functions.table $(addprefix shim/intercept/wrappers.,awk template) Makefile
	$(say) AWK $@
	@mkdir -p $(@D)
	$(Q)awk -f shim/intercept/wrappers.awk -v output=$(@F) shim/intercept/wrappers.template $< >$@

$(B)/%.o: %.c Makefile VERSION | $(GENERATED_HEADERS)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(B)/%.o: $(B)/%.c Makefile VERSION | $(GENERATED_HEADERS)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(B)/libstagger.so: $(call objects,$(LIB_DIRS)) $(GENERATED_OBJECTS)
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(SHARED) -Wl,-soname,libstagger.so $^ -o $@ -pthread -ldl

# The library for `stagger-bench account`: recompiles the sources that have marks, with the marks
# enabled.
MARKED := $(basename $(shell grep -rl --include=*.c '"core/account.h"' shim))
$(B)/account/%.o: %.c Makefile VERSION | $(GENERATED_HEADERS)
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(MPI_INCLUDES) -DSG_ACCOUNT $(CFLAGS_ALL) -ftls-model=initial-exec -MMD -MP -c $< -o $@

$(B)/libstagger-account.so: $(MARKED:%=$(B)/account/%.o) $(filter-out $(MARKED:%=$(B)/%.o),$(call objects,$(LIB_DIRS)) $(GENERATED_OBJECTS))
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(SHARED) -Wl,-soname,libstagger-account.so $^ -o $@ -pthread -ldl

$(B)/libstagger-otf2.so: $(call objects,$(COMPANION_DIRS))
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(SHARED) -Wl,-soname,libstagger-otf2.so $^ -o $@ -lotf2 -ldw -lelf -pthread -lm

$(B)/libstagger-verbs.so: $(call objects,$(VERBS_DIRS)) $(B)/shim/transport/payload.o
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(SHARED) -Wl,-soname,libstagger-verbs.so $^ -o $@ $(VERBS_LIBS) -pthread

$(B)/stagger: $(call objects,$(TOOL_DIRS)) $(addprefix $(B)/analysis/bench/,bench_merge.o distribution.o)
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -o $@ -lotf2 -ldw -lelf -pthread -ldl -lm -ljansson

BENCH_SHIM := $(addprefix shim/core/,clocksync config file slice status text waiting) \
              $(basename $(call sources,shim/rule)) shim/algos/parameters shim/algos/tree \
              analysis/sim/network

BENCH_DIRS := analysis/options analysis/output analysis/bench analysis/bench/mpi

$(B)/stagger-bench: $(call objects,$(BENCH_DIRS)) $(BENCH_SHIM:%=$(B)/%.o)
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -o $@ $(MPI_LIBS) -ljansson -pthread -ldl -lm

# The same program built for Open MPI; `make bench` shows it alongside.
OPENMPI_SOURCES := $(call sources,$(BENCH_DIRS)) $(BENCH_SHIM:%=%.c)
$(B)/openmpi/stagger-bench: $(OPENMPI_SOURCES) $(wildcard $(addsuffix /*.h,$(BENCH_DIRS)) shim/core/*.h) Makefile
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(OPENMPI_CC) $(CPPFLAGS_ALL) -DSG_COMMIT='"$(COMMIT)"' $(CFLAGS_ALL) $(LDFLAGS_ALL) $(OPENMPI_SOURCES) -o $@ \
	  -ljansson -pthread -ldl -lm

$(B)/openmpi/call_times: tests/mpi/call_times.c
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(OPENMPI_CC) -std=gnu11 -O2 -g $(WARN) $< -o $@

$(B)/parts.a: $(call objects,$(PARTS_DIRS))
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# ---- tests ---------------------------------------------------------------------------------------
unit: $(UNIT_TESTS)

$(B)/tests/%.o: CPPFLAGS_ALL += -Itests
$(filter $(B)/tests/algos/%,$(UNIT_TESTS)): $(addprefix $(B)/tests/algos/mini_,host.o drive.o actions.o posts.o)
$(filter $(B)/tests/transport/%,$(UNIT_TESTS)): $(addprefix $(B)/tests/transport/,world.o loop.o faulty.o cases.o)
$(B)/tests/core/test_clocksync $(B)/tests/trace/test_export_clock $(addprefix $(B)/tests/bench/test_,sampling overlapping): $(B)/tests/lib/virtual.o
$(B)/tests/transport/test_protocols: $(addprefix $(B)/tests/,transport/host.o $(addprefix algos/mini_,host.o drive.o actions.o posts.o))
$(B)/tests/transport/test_reach: $(B)/shim/transport/verbs/verbs_layout.o
$(B)/tests/internode/%.o $(B)/tests/wait/%.o: CPPFLAGS_ALL += $(MPI_INCLUDES)
# All of shim/progress except what builds its table, and adapters.
PROGRESS := background doorbell mode signal thread
$(B)/tests/wait/test_scheduling_group: $(B)/shim/wait/scheduling_group.o
$(B)/tests/wait/test_turn: $(B)/shim/wait/turn.o
$(B)/tests/wait/test_wakes: $(B)/shim/wait/wakes.o
$(B)/tests/wait/test_catch_up: $(B)/shim/wait/catch_up.o
$(B)/tests/wait/test_wait: $(addprefix $(B)/shim/wait/,wait.o turn.o)
$(B)/tests/wait/test_processors: $(B)/shim/wait/processors.o
$(B)/tests/internode/test_agree: $(addprefix $(B)/shim/internode/,agree.o coordinator.o)
$(B)/tests/profile/test_handles: $(B)/shim/profile/handles.o
$(filter $(B)/tests/progress/%,$(UNIT_TESTS)): $(patsubst %,$(B)/shim/progress/%.o,$(PROGRESS) adapter)
# Libraries look up the hooks' symbols in the program before their own.
$(B)/tests/wait/test_hook_libfabric: LDFLAGS_ALL += -rdynamic
$(B)/tests/wait/test_hook_libfabric: $(addprefix $(B)/shim/wait/,hook_libfabric.o caller.o) \
  | $(patsubst %,$(B)/tests/wait/standin/%.so,mpich other future_mpich alone)
$(B)/tests/wait/test_hook: $(addprefix $(B)/shim/wait/,hook.o chosen.o)
$(B)/tests/wait/test_hook_mpich: $(B)/shim/wait/hook_mpich.o
STANDIN = $(CC) $(CPPFLAGS_ALL) -Itests -std=gnu11 -O1 -g $(WARN) -fPIC -shared
STANDIN_FABRICS = $(addprefix $(B)/tests/wait/standin/,fabric.so future_fabric.so)
$(STANDIN_FABRICS): tests/wait/standin/fabric.c $(addprefix tests/wait/standin/fabric,.h .map)
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(STANDIN) $(if $(findstring future,$@),-DVERSION_MAJOR=3u) $< -o $@ \
	  -Wl,--version-script=tests/wait/standin/fabric.map -Wl,-soname,$(@F)
$(B)/tests/wait/standin/%.so: tests/wait/standin/user.c tests/wait/standin/fabric.h $(STANDIN_FABRICS)
	$(say) CC $@
	$(Q)$(STANDIN) $(if $(findstring alone,$@),-DWITHOUT_FABRIC) $< -o $@ -Wl,-rpath,'$$ORIGIN' \
	  $(if $(findstring alone,$@),,$(B)/tests/wait/standin/$(if $(findstring future,$@),future_)fabric.so)
$(UNIT_TESTS): $(B)/tests/%: $(B)/tests/%.o $(addprefix $(B)/tests/lib/,unit.o unit_main.o) $(B)/parts.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $(filter %.o,$^) $(filter %.a,$^) -o $@ -lcunit -lotf2 -ldw -lelf -pthread -ldl -lm -ljansson

# The checker of lock-free code, tests/weak/weak.h: compiles the checked sources separately, at low
# optimisation, with each atomic operation as a call; their variables go to a section that every
# execution resets.
WEAK_PARTS := $(patsubst %,$(B)/tests/weak/%.o,explore fault graph instrument order race stand_in)
WEAK_SIZES := -DSG_POOL_CHUNK_BYTES=64u -DSG_PULL_BLOCK_BYTES=8u -DSG_SHM_MULTICASTS=2 -DSG_WAIT_POKES=0 -DSG_INTERNODE_CHOICES=4
weak = $(patsubst %,$(B)/weak/%.o,$(1))
$(B)/tests/weak/%.o: CPPFLAGS_ALL += $(WEAK_SIZES) $(MPI_INCLUDES)
$(B)/weak/%.o: %.c tests/weak/stand_in.h Makefile | $(GENERATED_HEADERS)
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) -Itests $(MPI_INCLUDES) $(WEAK_SIZES) -include tests/weak/stand_in.h -std=gnu11 -O1 -g $(WARN) \
	  -fno-inline -fno-optimize-sibling-calls -fno-pie -fno-common -ffunction-sections -fsanitize=thread -MMD -MP -c $< -o $@
	$(Q)$(OBJCOPY) --set-section-flags .bss=contents,alloc,load,data --rename-section .bss=weak_state \
	  --rename-section .data=weak_state $@
$(B)/tests/weak/test_%: LDFLAGS_ALL += -no-pie -Wl,--gc-sections
$(filter $(B)/tests/weak/%,$(UNIT_TESTS)): $(WEAK_PARTS)
WEAK_SHM := $(basename $(wildcard shim/transport/shm/*.c)) $(addprefix shim/transport/,local_memory payload)
$(B)/tests/weak/test_litmus: $(call weak,tests/weak/litmus)
$(B)/tests/weak/test_channels: $(call weak,$(WEAK_SHM))
# Unreachable functions of these objects are discarded.
WEAK_INTERNODE := $(addprefix shim/internode/,chunk communicator endpoint host nonblocking) \
                    shim/bcs/live/shared_posts $(addprefix shim/progress/,$(filter-out signal,$(PROGRESS))) shim/wait/wait
$(B)/tests/weak/test_doorbell: $(call weak,tests/weak/doorbell $(WEAK_INTERNODE) $(WEAK_SHM))
$(B)/tests/weak/test_rings: $(call weak,tests/weak/rings $(addprefix shim/progress/,$(PROGRESS)))
$(B)/tests/weak/test_choices: $(call weak,shim/internode/agree)
$(B)/tests/weak/test_ring: $(call weak,tests/weak/sleepers shim/wait/wait $(basename $(wildcard shim/intranode/*.c)))

# One rank's part of a large communicator: its executed blocks and its memory are counted.
COUNTED := $(basename $(call sources,shim/internode shim/transport/verbs $(filter-out %/kernels,$(ALGO_DIRS)))) \
           $(addprefix shim/core/,exchange grouping learn) shim/mpi/learning
COUNTED_NAMES := malloc calloc realloc aligned_alloc free sched_yield sg_memory_create sg_memory_free
$(B)/counted/%.o: %.c Makefile | $(GENERATED_HEADERS)
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(MPI_INCLUDES) $(CFLAGS_ALL) -O1 -fsanitize-coverage=trace-pc \
	  $(foreach x,$(COUNTED_NAMES),-D$x=counted_$x) -MMD -MP -c $< -o $@
$(B)/tests/internode/test_scale: $(COUNTED:%=$(B)/counted/%.o) \
  $(filter-out $(COUNTED:%=$(B)/%.o),$(call objects,shim/mpi shim/wait shim/progress)) $(B)/shim/mpi/real_functions.o \
  $(addprefix $(B)/shim/bcs/live/,shared_posts.o messages.o) $(addprefix $(B)/tests/standin/,device.o engine.o verbs.o wire.o)

# Compares live runs with the simulator; used by tests/internode/replay_full.sh.
$(B)/tests/internode/replay: $(B)/tests/internode/replay.o $(B)/parts.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -o $@ -lotf2 -ldw -lelf -pthread -ldl -lm -ljansson
# Printers of logs and of the settings' manual, used by tests/{profile,causes,cli}/*.sh.
PRINTERS := $(addprefix $(B)/tests/,profile/print_log causes/print_causes cli/settings_page)
$(PRINTERS): %: %.o $(B)/parts.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -o $@ -lotf2 -ldw -lelf -pthread -ldl -lm -ljansson
# A simulated processor with counters, used by tests/causes/intervals.sh and
# tests/report/counters.sh.
$(B)/tests/causes/standin_counters.so: tests/causes/standin_counters.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(STANDIN) $< -o $@ -ldl
test-programs: $(B)/tests/internode/replay $(PRINTERS) $(B)/tests/causes/standin_counters.so

include tests/mpi/programs.mk
include tests/fuzz/fuzz.mk

# ---- the rest ------------------------------------------------------------------------------------
# Installed files below PREFIX: mode, source, destination. Installed programs find the other files
# relative to their own location.
ZSH_DIR ?= share/zsh/site-functions
INSTALLED = \
  $(foreach x,stagger stagger-bench,755:$(B)/$x:bin/$x) \
  $(foreach x,libstagger libstagger-account libstagger-otf2 libstagger-verbs,755:$(B)/$x.so:lib/stagger/$x.so) \
  $(foreach x,$(wildcard docs/*.[1-8]),644:$x:share/man/man$(subst .,,$(suffix $x))/$(notdir $x)) \
  $(foreach x,$(filter-out docs/status.md docs/style.md,$(wildcard docs/*.md)),644:$x:share/doc/stagger/$(notdir $x)) \
  $(foreach x,$(wildcard docs/schema/*.json),644:$x:share/stagger/schema/$(notdir $x)) \
  $(foreach x,$(wildcard analysis/sim/networks/*.conf),644:$x:share/stagger/networks/$(notdir $x)) \
  644:dist/complete:share/stagger/complete \
  644:dist/grafana.json:share/stagger/grafana.json \
  $(foreach x,stagger stagger-bench,644:dist/completion.bash:share/bash-completion/completions/$x) \
  644:dist/completion.zsh:$(ZSH_DIR)/_stagger \
  644:$(B)/stagger.pc:share/pkgconfig/stagger.pc \
  644:dist/stagger-config.cmake:lib/cmake/stagger/stagger-config.cmake \
  644:$(B)/stagger-config-version.cmake:lib/cmake/stagger/stagger-config-version.cmake \
  644:dist/modulefile:share/modulefiles/stagger/$(VERSION)

VERSIONED := $(addprefix $(B)/,stagger.pc stagger-config-version.cmake)
$(VERSIONED): $(B)/%: dist/%.in VERSION
	$(Q)sed 's/@VERSION@/$(VERSION)/' $< >$@

install: all $(VERSIONED) ## into PREFIX (/usr/local)
	$(Q)for each in $(INSTALLED); do \
	  mode=$${each%%:*} place=$${each##*:} file=$${each#*:}; \
	  install -D -m $$mode "$${file%:*}" "$(DESTDIR)$(PREFIX)/$$place" || exit 1; done
	@place="$(DESTDIR)$(PREFIX)"; \
	  echo "stagger $(VERSION) is in $$place: bin/stagger, bin/stagger-bench, lib/stagger;" \
	    "manual pages and completion in share"; \
	  case $$place in *\ *) echo "try '$$place/bin/stagger' info" ;; *) echo "try $$place/bin/stagger info" ;; esac

uninstall: ## removes what install put there
	$(Q)for each in $(INSTALLED); do \
	  place="$(DESTDIR)$(PREFIX)/$${each##*:}"; rm -f "$$place" || exit 1; \
	  while place=$${place%/*}; case "$${place#"$(DESTDIR)$(PREFIX)"}" in */stagger*) ;; *) false ;; esac; \
	    do rmdir "$$place" 2>/dev/null || break; done; done

dist: ## the tarball of the commit, the same bytes each time, in build/
	$(Q)dist/tarball $(B)/stagger-$(VERSION).tar.gz

deb: ## a Debian package, in build/deb
	$(Q).ci/deps build deb
	$(Q)dist/deb build/deb

picture: all test-programs ## docs/report.png and docs/terminal.png, of a run: RUN=DIR, or cg
	dist/picture $(B) $(RUN)

# Replaces the lines between the marks of the page.
manual: $(B)/tests/cli/settings_page ## the variables in docs/libstagger.7, from the configuration table
	$(Q)$< >$(B)/settings.7
	$(Q)sed -i -e '/^\.\\" BEGIN settings/,/^\.\\" END settings/{//!d}' -e '/^\.\\" BEGIN settings/r $(B)/settings.7' \
	  docs/libstagger.7

C_FILES = $(shell git ls-files '*.c' '*.h')

format: ## clang-format over all C files
	clang-format -i $(C_FILES)

lint: $(GENERATED_HEADERS) ## formatting, clang-tidy, cppcheck
	@clang-format --dry-run --Werror $(C_FILES)
	cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --enable=warning,portability \
	  --suppress=missingIncludeSystem -Ishim -Ianalysis shim analysis
	@clang-tidy --quiet \
	  $(filter-out shim/algos/kernels/%,$(filter shim/% analysis/%,$(filter %.c,$(C_FILES)))) -- \
	  $(CPPFLAGS_ALL) $(MPI_INCLUDES) -std=gnu11

clean: ## removes build/
	rm -rf build

-include $(shell find $(addprefix $(B)/,account counted shim analysis tests weak) -name '*.d' 2>/dev/null)
