# Fuzzing with clang's libFuzzer: target fuzz-programs, into $(B)/fuzz, of a build with
#   CC=clang SAN=fuzzer-no-link,address,undefined

FUZZ_DIRS     := shim/core shim/rule shim/trace shim/trace/export $(ALGO_DIRS) $(REPORT_DIRS) $(addprefix analysis/, \
                 advise compare options output page perfetto watch $(addprefix sim/,host model program timed))
FUZZ_PARTS    := $(call objects,$(FUZZ_DIRS)) $(B)/shim/transport/payload.o \
                 $(addprefix $(B)/analysis/,sim/lists.o $(addprefix bench/,merge.o pattern.o statistics.o) $(addprefix cli/, \
                   advise.o arrivals.o compare.o configuration.o elf.o export.o locate.o report.o runs.o usage.o))
# What needs libibverbs to be compiled is left out where that is not installed.
FUZZ_SOURCES  := $(filter-out $(if $(HAVE_RDMA),,tests/fuzz/fuzz_verbs.c),$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_PROGRAMS := $(patsubst tests/fuzz/fuzz_%.c,$(B)/fuzz/%,$(FUZZ_SOURCES))

fuzz-programs: $(FUZZ_PROGRAMS)

$(B)/fuzz.a: $(FUZZ_PARTS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/fuzz/verbs: $(addprefix $(B)/shim/transport/verbs/,channel.o queue.o tree.o multicast.o layout.o access.o)
$(B)/fuzz/verbs: FUZZ_LIBS := -libverbs
$(FUZZ_PROGRAMS): $(B)/fuzz/%: $(B)/tests/fuzz/fuzz_%.o $(B)/fuzz.a
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) -fsanitize=fuzzer,address,undefined $(filter %.o,$^) $(B)/fuzz.a -o $@ $(FUZZ_LIBS) -lotf2 -ldw -lelf -pthread -ldl -lm -ljansson
