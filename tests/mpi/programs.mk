# The MPI programs of the tests, the demo and the benchmark: target test-programs, into $(B)/mpi.
# MPICH's own wrappers choose the compilers. Flags are those of an ordinary optimised program, also
# in sanitizer builds (where the library is preloaded together with the sanitizer's runtime).

MPICXX  := $(if $(SYSROOT),,$(shell .ci/find-mpi cxx))
MPIF77  := $(if $(SYSROOT),,$(shell .ci/find-mpi f77))
MPIFORT := $(if $(SYSROOT),,$(shell .ci/find-mpi fort))

P := $(B)/mpi
PROGRAM_FLAGS := -O2 -g -fPIE -Wall -Wextra -Werror -Wno-unused-parameter

C_PROGRAMS := \
  advised ahead alternating arrival bcs_pattern behind between brief_threads broadcasts call_times calls \
  cg closing comms comms_made counts_c device disagree disagree_errors dying ending errors exchanges \
  failing fallbacks fork freed_early gaps gives_way hangs holes intercomm known_between known_calls \
  known_causes known_events known_members known_mmds known_neighbors known_requests known_skews \
  known_useful known_waits known_windows large late late_calls late_rounding late_sender late_storm \
  late_unheard late_waits on_processor \
  lifetimes many_comms many_sites many_waits memory mixed_causes newer orders overlap past_ends pcontrol \
  pending_free plain_messages posts refused_requests rendezvous repeat rounding samples served sessions sliced \
  small_stacks soak internode_finalize internode_runahead internode_scenarios spawn status_of_many \
  stopped switched_off switches thread_levels threads three_calls topologies trial two_orders unloaded \
  user_operations vain_tests virtual_nodes waits wrong_calls
BENCH_PROGRAMS := bench_added bench_auto bench_call bench_late bench_slices bench_start bench_wakes
TEST_PROGRAMS := $(addprefix $(P)/,$(C_PROGRAMS) $(BENCH_PROGRAMS) all_calls association kernels results internode_apps \
                 internode_results by_handle counts_cxx dlopen_main exception left_calls libexception.so \
                 libfailing.so libgpumpi.so libplugin.so libunloaded10.so libunloaded20.so libpmpi_finalize.so libpmpi_tool.so \
                 librefused_requests.so libuser_threads.so libsecond_ucx.so \
                 drivers/libcuda.so.1 drivers/libamdhip64.so.6 drivers/libze_loader.so.1 \
                 libmpich5.so libnewer.so libown_collectives.so libsites.so libstatus_of_many.so libyama.so libyields.so libpatient.so librepeatable.so libprocessors.so sites \
                 static_program stripped/sites stripped/libsites.so \
                 $(if $(MPIF77),counts_mpif) $(if $(MPIFORT),counts_usempi counts_f08 behind_f08 known_requests_f08 posts_f08 sliced_f08))

test-programs: $(TEST_PROGRAMS)

$(addprefix $(P)/,$(C_PROGRAMS)): $(P)/%: tests/mpi/%.c tests/mpi/mpi_test.h \
                                  tests/mpi/predefined.h tests/mpi/programs.mk
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) $< -o $@ -pie -pthread -lm -ldl

$(addprefix $(P)/,$(BENCH_PROGRAMS)): $(P)/%: bench/%.c tests/mpi/mpi_test.h tests/mpi/programs.mk
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) -Itests/mpi $< -o $@ -pie -pthread -lm -ldl

$(P)/all_calls: $(wildcard tests/mpi/all_calls/*.[ch]) tests/mpi/mpi_test.h tests/mpi/programs.mk
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) $(filter tests/mpi/all_calls/%.c,$^) -o $@ -pie

$(P)/counts_cxx: tests/mpi/counts_cxx.cc tests/mpi/mpi_test.h tests/mpi/programs.mk
	$(say) MPICXX $@
	@mkdir -p $(@D)
	$(Q)$(MPICXX) $(PROGRAM_FLAGS) $< -o $@ -pie

$(P)/libexception.so: tests/mpi/exception_library.cc tests/mpi/programs.mk
	$(say) MPICXX $@
	@mkdir -p $(@D)
	$(Q)$(MPICXX) $(PROGRAM_FLAGS) -fPIC -shared $< -o $@

$(P)/exception: tests/mpi/exception.cc $(P)/libexception.so tests/mpi/mpi_test.h
	$(say) MPICXX $@
	$(Q)$(MPICXX) $(PROGRAM_FLAGS) $< -o $@ -pie -L$(P) -lexception -Wl,-rpath,'$$ORIGIN' -ldl

$(P)/left_calls: tests/mpi/left_calls.cc tests/mpi/mpi_test.h tests/mpi/programs.mk
	$(say) MPICXX $@
	@mkdir -p $(@D)
	$(Q)$(MPICXX) $(PROGRAM_FLAGS) $< -o $@ -pie -pthread

$(addprefix $(P)/lib,newer.so second_ucx.so refused_requests.so status_of_many.so user_threads.so): \
  $(P)/lib%.so: tests/mpi/%_library.c tests/mpi/programs.mk
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) -fPIC -shared $< -o $@

$(P)/libpmpi_tool.so $(P)/libpmpi_finalize.so: tests/mpi/pmpi_tool.c tests/mpi/programs.mk
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) $(if $(findstring finalize,$@),-DONLY_FINALIZE) \
	  -fPIC -shared $< -o $@ -ldl

# gfortran's warnings about choice buffers (-fallow-argument-mismatch) are not of interest here.
$(P)/counts_mpif: tests/mpi/counts_mpif.f tests/mpi/programs.mk
	$(say) MPIF77 $@
	@mkdir -p $(@D)
	$(Q)$(MPIF77) -w -O2 -g -fPIE $< -o $@ -pie

$(P)/counts_usempi $(P)/counts_f08 $(P)/behind_f08 $(P)/known_requests_f08 $(P)/posts_f08 $(P)/sliced_f08: $(P)/%: tests/mpi/%.f90 tests/mpi/programs.mk
	$(say) MPIFORT $@
	@mkdir -p $(@D)
	$(Q)$(MPIFORT) -w -O2 -g -fPIE $< -o $@ -pie

$(P)/libfailing.so: tests/mpi/failing_library.c tests/mpi/programs.mk
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) -fPIC -shared $< -o $@ -ldl

# Stand-ins for GPU drivers.
$(P)/drivers/libcuda.so.1: DRIVER := CUDA
$(P)/drivers/libamdhip64.so.6: DRIVER := HIP
$(P)/drivers/libze_loader.so.1: DRIVER := ZE
$(P)/drivers/%: tests/mpi/driver.c tests/mpi/programs.mk
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -D$(DRIVER) $(PROGRAM_FLAGS) -fPIC -shared $< -o $@ -Wl,-Bsymbolic,-soname,$(@F)

$(P)/libgpumpi.so: tests/mpi/gpu_library.c tests/mpi/programs.mk
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) -fPIC -shared $< -o $@ -ldl

$(P)/libplugin.so: tests/mpi/plugin.c tests/mpi/mpi_test.h tests/mpi/programs.mk
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) -fPIC -shared $< -o $@

$(P)/libunloaded%.so: tests/mpi/unloaded.c tests/mpi/mpi_test.h tests/mpi/programs.mk
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 -DTIMES=$* $(PROGRAM_FLAGS) -fPIC -shared $< -o $@

# Not linked with MPICH, because it interposes MPICH's functions.
$(P)/libmpich5.so $(P)/libown_collectives.so: $(P)/lib%.so: tests/mpi/%_library.c tests/mpi/programs.mk
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(MPI_INCLUDES) $(PROGRAM_FLAGS) -fPIC -shared $< -o $@ -ldl

$(P)/libyields.so $(P)/libpatient.so $(P)/librepeatable.so $(P)/libprocessors.so: $(P)/lib%.so: tests/mpi/%_library.c tests/mpi/programs.mk
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) -fPIC -shared $< -o $@

$(P)/libyama.so: tests/mpi/yama.c tests/mpi/programs.mk
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) -fPIC -shared $< -o $@

$(P)/dlopen_main: tests/mpi/dlopen_main.c tests/mpi/programs.mk
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) $< -o $@ -pie -ldl

$(P)/by_handle: tests/mpi/by_handle.c tests/mpi/programs.mk
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(MPI_INCLUDES) $(PROGRAM_FLAGS) $< -o $@ -pie -ldl

$(P)/static_program: tests/mpi/static_program.c tests/mpi/programs.mk
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -static $< -o $@

$(P)/libsites.so: tests/mpi/sites_library.c tests/mpi/sites_library.h tests/mpi/mpi_test.h
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) -fPIC -shared $< -o $@

$(P)/sites: tests/mpi/sites.c $(P)/libsites.so tests/mpi/mpi_test.h
	$(say) MPICC $@
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) $< -o $@ -pie -L$(P) -lsites -Wl,-rpath,'$$ORIGIN'

$(P)/stripped/%: $(P)/%
	$(say) STRIP $@
	@mkdir -p $(@D)
	$(Q)$(STRIP) -o $@ $<

$(addprefix $(P)/,bench_added bench_call): bench/blocks.h
$(addprefix $(P)/,advised bench_late bench_slices bench_wakes brief_threads exchanges known_useful on_processor switched_off): tests/mpi/clock.h
$(addprefix $(P)/,gives_way late_sender late_waits): tests/mpi/given.h
$(addprefix $(P)/,late late_calls late_rounding late_storm late_unheard): tests/mpi/late.h
$(addprefix $(P)/,late_rounding rounding): tests/mpi/float_modes.h
$(addprefix $(P)/,known_between known_members known_neighbors known_skews known_waits known_windows orders): \
    tests/mpi/known.h
$(P)/known_waits: tests/mpi/known_stamps.h tests/mpi/clock.h

# Programs that test parts of the library against MPI's own.
KERNEL_OBJECTS := $(call objects,shim/algos/kernels) \
                  $(B)/shim/mpi/operands.o

$(P)/kernels: tests/mpi/kernels.c $(KERNEL_OBJECTS) tests/lib/operands.h tests/mpi/mpi_test.h \
              tests/mpi/predefined.h
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) -Ishim -I$(B)/shim -Itests $(LDFLAGS_ALL) $< $(KERNEL_OBJECTS) \
	  -o $@ -pie

$(P)/association: tests/mpi/association.c tests/lib/operands.h tests/lib/reference.h tests/mpi/mpi_test.h \
                  tests/mpi/predefined.h
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) -Ishim -Itests $< -o $@ -pie

$(P)/results: tests/mpi/results.c $(KERNEL_OBJECTS) tests/lib/operands.h tests/lib/reference.h \
              tests/mpi/cover.h tests/mpi/legal_pairs.h tests/mpi/mpi_test.h tests/mpi/predefined.h
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) -Ishim -I$(B)/shim -Itests $(LDFLAGS_ALL) $< $(KERNEL_OBJECTS) \
	  -o $@ -pie

$(P)/internode_results: tests/mpi/internode_results.c $(KERNEL_OBJECTS) tests/lib/operands.h \
                   tests/lib/reference.h tests/mpi/internode_reference.h tests/mpi/cover.h \
                   tests/mpi/legal_pairs.h tests/mpi/mpi_test.h tests/mpi/predefined.h
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) -Ishim -I$(B)/shim -Itests $(LDFLAGS_ALL) $< $(KERNEL_OBJECTS) \
	  -o $@ -pie

$(P)/internode_apps: tests/mpi/internode_apps.c tests/mpi/mpi_test.h tests/mpi/programs.mk
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 $(PROGRAM_FLAGS) -fopenmp $< -o $@ -pie

# Tests of the lab's RDMA devices (tests/lab), if libibverbs and librdmacm are available.
LAB_PROGRAMS := $(addprefix $(B)/lab/,one_sided signals multicast)

test-programs: $(if $(HAVE_RDMA),$(LAB_PROGRAMS))

$(LAB_PROGRAMS): $(B)/lab/%: tests/lab/%.c tests/lab/pair.c tests/lab/pair.h tests/mpi/mpi_test.h
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) -Wshadow -Itests $< tests/lab/pair.c \
	  -o $@ -pie -libverbs -lrdmacm

# Programs on the transport `verbs`, which they load as the library does, so they build without
# libibverbs. Each test of the contract is also linked to a program for the lab.
WIRE_PROGRAMS := $(addprefix $(B)/lab/,traffic events faults agreement)
WIRE_TESTS    := $(addprefix $(B)/lab/,test_contract test_crowd)
WIRE_SOURCES  := tests/lab/wire.c
WIRE_OBJECTS  := $(addprefix $(B)/tests/transport/,world.o loop.o faulty.o) $(B)/parts.a
WIRE_LINK      = $(MPICC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) -Wshadow -Ishim -Itests \
                 $(LDFLAGS_ALL) $(filter %.c %.o,$^) $(filter %.a,$^) -o $@ -pie -lcunit -pthread -ldl

test-programs: $(WIRE_PROGRAMS) $(WIRE_TESTS)

$(WIRE_PROGRAMS): $(B)/lab/%: tests/lab/%.c $(WIRE_SOURCES) $(WIRE_OBJECTS)
$(WIRE_TESTS): $(B)/lab/%: tests/lab/contract.c tests/lab/crowd.c tests/lab/crowd_exchange.c $(WIRE_SOURCES) \
                           $(B)/tests/transport/%.o $(B)/tests/lib/unit.o $(WIRE_OBJECTS)
$(WIRE_PROGRAMS) $(WIRE_TESTS): tests/lab/wire.h tests/lab/crowd.h tests/lab/crowd_exchange.h tests/transport/world.h \
                                tests/mpi/mpi_test.h $(B)/libstagger-verbs.so
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(Q)$(WIRE_LINK)

# The library with simulated adapters (tests/standin), and programs that load it.
STANDIN_RDMA := $(addprefix $(B)/standin/,libstagger-verbs.so machine.so) $(addprefix $(B)/standin/libstagger,.so -otf2.so) \
           $(B)/standin/lab/test_contract

test-programs: $(if $(HAVE_RDMA),$(STANDIN_RDMA))

$(B)/standin/libstagger-verbs.so: $(call objects,$(VERBS_DIRS)) $(B)/shim/transport/payload.o $(addprefix $(B)/tests/standin/,device.o engine.o verbs.o wire.o)
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) $(SHARED) $^ -o $@ -pthread

$(B)/standin/machine.so: $(B)/tests/standin/machine.o
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_ALL) $(SHARED) $^ -o $@

$(filter-out %-verbs.so %/machine.so,$(STANDIN_RDMA)): $(B)/standin/%: $(B)/%
	@mkdir -p $(@D)
	$(Q)ln -f $< $@

test-programs: $(B)/lab/finalize.so $(B)/lab/patches

$(B)/lab/finalize.so: tests/lab/finalize.c tests/mpi/programs.mk
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) -Wshadow -fPIC -shared $< -o $@ -ldl

$(B)/lab/patches: tests/lab/patches.c tests/mpi/programs.mk
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(PROGRAM_FLAGS) -Wshadow $< -o $@
