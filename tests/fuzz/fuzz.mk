# Fuzzing with clang's libFuzzer: target fuzz-programs, into $(B)/fuzz, of a build with
#   CC=clang SAN=address,undefined

FUZZ_DIRS     := shim/core shim/rule shim/trace shim/trace/export shim/causes $(ALGO_DIRS) $(REPORT_DIRS) $(addprefix analysis/, \
                 advise bcs compare options output page perfetto sim watch)
FUZZ_PARTS    := $(call objects,$(FUZZ_DIRS)) $(B)/shim/transport/payload.o \
                 $(addprefix $(B)/analysis/,$(addprefix bench/,bench_merge.o pattern.o distribution.o) $(addprefix cli/, \
                   advise_command.o child.o compare_command.o elf.o info_command.o machine.o recover_command.o report_command.o))
# Omits targets that need libibverbs if it is not installed.
FUZZ_SOURCES  := $(filter-out $(if $(HAVE_RDMA),,tests/fuzz/fuzz_verbs.c),$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_PROGRAMS := $(patsubst tests/fuzz/fuzz_%.c,$(B)/fuzz/%,$(FUZZ_SOURCES))

fuzz-programs: $(FUZZ_PROGRAMS)

# Protocols read no input from outside.
$(filter-out $(call objects,$(filter-out shim/algos,$(ALGO_DIRS))),$(FUZZ_PARTS)) $(call objects,shim/transport/verbs) \
  $(B)/tests/fuzz/%.o: CFLAGS_ALL += $(if $(filter clang,$(CC)),-fsanitize=fuzzer-no-link)

$(B)/fuzz.a: $(FUZZ_PARTS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/fuzz/verbs: $(call objects,shim/transport/verbs)
$(B)/fuzz/verbs: FUZZ_LIBS := -libverbs -lrdmacm
$(FUZZ_PROGRAMS): $(B)/fuzz/%: $(B)/tests/fuzz/fuzz_%.o $(B)/fuzz.a
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) -fsanitize=fuzzer,address,undefined $(filter %.o,$^) $(B)/fuzz.a -o $@ $(FUZZ_LIBS) -lotf2 -ldw -lelf -pthread -ldl -lm -ljansson
