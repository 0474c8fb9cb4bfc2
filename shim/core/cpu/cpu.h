/* What each architecture has in its own form: how to wait, to ask for a cache line, to keep the
 * modes of floating-point arithmetic, to count, and which sets of vector instructions there are.
 * Code that names an architecture is in this folder alone; one without a header here gets what C
 * has.
 *
 * Each header defines:
 *   sg_cpu_pause()         in a loop that waits for memory
 *   sg_cpu_in_order()      between two looks at what another processor writes, without a pause: the
 *                          second begins when the first is over
 *   sg_cpu_take(line)      asks for a cache line to write to it; a hint
 *   sg_cpu_float_modes()   the thread's modes of arithmetic, without flags, exceptions masked
 *   sg_cpu_set_float_modes()
 *   SG_CPU_UNFUSED         attribute of functions that multiply and add in one step only if told to
 * and where there are such things:
 *   SG_CPU_WIDE, SG_CPU_WIDEST  attributes for vector instructions that only some processors have;
 *                          SG_CPU_WIDE_UNFUSED; sg_cpu_has_wide(), sg_cpu_has_widest()
 *   SG_CPU_FUSES           compilers multiply and add in one step (fma) unless they are told not to
 *   SG_CPU_HAS_COUNTER     sg_cpu_counter(), sg_cpu_counter_in_order(), sg_cpu_counter_is_steady()
 *   SG_CPU_COUNTER_CLOCKS  the kernel's clocks that are made of the counter; a program gains by
 *                          reading the counter itself
 *   SG_CPU_HAS_FLUSH       sg_cpu_flush(line): out of all caches, when sg_cpu_flush_all_done()
 *   SG_CPU_HAS_EVENTS      sg_cpu_event_register(): counters of events that a program may read
 *   SG_CPU_HAS_FORK        SG_CPU_DEFINE_FORK(function, next, find_next, other), all names: exports
 *                          a function of two words that is left by a jump, so that its caller stays
 *                          the caller: to *next if the first word is 0 or -1, else to other, with
 *                          the return address as the third word; find_next returns and sets next
 *   SG_CPU_HAS_CALL_ON     SG_CPU_CALL_ON_CODE: the body, in assembler, of a function of a stack's
 *                          upper end, aligned to 16, a function, and its argument: calls it there
 * Any thread, any signal handler.
 */
#ifndef SG_CORE_CPU_CPU_H
#define SG_CORE_CPU_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* As words, because they are kept in shared memory. */
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
