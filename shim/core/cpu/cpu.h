/* Architecture-specific operations: pauses, cache-line hints, floating-point modes, counters, stack
 * switches, and sets of vector instructions. Only this folder contains architecture-specific code;
 * an architecture without a header here gets the standard C fallback.
 *
 * Each header defines:
 *   sg_cpu_pause()         for a loop that waits for memory
 *   sg_cpu_in_order()      orders two reads of another processor's data, without a pause: the
 *                          second begins when the first is complete
 *   sg_cpu_take(line)      requests a cache line for writing; a hint
 *   sg_cpu_float_modes()   the thread's floating-point modes, without flags, exceptions masked
 *   sg_cpu_set_float_modes()
 *   SG_CPU_UNFUSED         function attribute: fused multiply-add only on explicit request
 *   SG_CPU_IS_IMPORT(type) true for the relocations of a function's address (elf.h); false: unknown
 * and, if the architecture has them:
 *   SG_CPU_WIDE, SG_CPU_WIDEST  attributes for vector instructions that only some processors have;
 *                          SG_CPU_WIDE_UNFUSED; sg_cpu_has_wide(), sg_cpu_has_widest()
 *   SG_CPU_FUSES           compilers fuse multiply and add (fma) unless told not to
 *   SG_CPU_HAS_COUNTER     sg_cpu_counter(), sg_cpu_counter_in_order(), sg_cpu_counter_is_steady()
 *   SG_CPU_COUNTER_CLOCKS  names of the kernel clocks derived from the counter; defined if reading
 *                          the counter directly is faster
 *   SG_CPU_HAS_FLUSH       sg_cpu_flush(line): evicts it from all caches, complete after
 *                          sg_cpu_flush_all_done()
 *   SG_CPU_HAS_EVENTS      sg_cpu_event_register(): event counters that a program may read
 *   SG_CPU_HAS_FORK        SG_CPU_DEFINE_FORK(function, next, find_next, other), all names: exports
 *                          a function of two words that ends in a tail call, so that its caller
 *                          stays the caller: to *next if the first word is 0 or -1, else to other,
 *                          with the return address as the third word; find_next returns and sets
 *                          next
 *   SG_CPU_HAS_CALL_ON     SG_CPU_CALL_ON_CODE: assembler body of a function that takes the upper
 *                          end of a stack, aligned to 16, a function and its argument, and calls
 *                          that function on that stack
 * Any thread, any signal handler.
 */
#ifndef SG_CORE_CPU_CPU_H
#define SG_CORE_CPU_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* Plain words, because they are kept in shared memory. */
struct sg_cpu_float_modes {
    uint32_t words[2];
};

#if defined(__x86_64__)
#include "core/cpu/x86_64.h"
#elif defined(__aarch64__)
#include "core/cpu/aarch64.h"
#else
#include "core/cpu/other.h"
#endif

#endif
