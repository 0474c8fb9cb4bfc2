/* core/cpu/cpu.h for 64-bit Arm. Every processor has vectors (NEON), and the plain kernels' loops
 * are compiled for them. The kernel's clock already reads the processor's counter without a system
 * call, so SG_CPU_COUNTER_CLOCKS is not defined. */
#ifndef SG_CORE_CPU_AARCH64_H
#define SG_CORE_CPU_AARCH64_H

#include <elf.h>

/* `yield` does nothing on most processors; isb empties the pipeline, which takes about as long as
 * x86's pause. */
static inline void sg_cpu_pause(void)
{
    __asm__ volatile("isb" : : : "memory");
}

static inline void sg_cpu_in_order(void)
{
    __asm__ volatile("" : : : "memory");
}

static inline void sg_cpu_take(const void *line)
{
    __builtin_prefetch(line, 1, 3);
}

/* Trap bits of FPCR: invalid, by zero, overflow, underflow, inexact, denormal. */
#define SG_CPU_FPCR_TRAPS 0x9f00u

static inline struct sg_cpu_float_modes sg_cpu_float_modes(void)
{
    uint64_t fpcr;

    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return (struct sg_cpu_float_modes){{(uint32_t)fpcr & ~SG_CPU_FPCR_TRAPS, 0}};
}

static inline void sg_cpu_set_float_modes(struct sg_cpu_float_modes modes)
{
    uint64_t fpcr = modes.words[0];

    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, xzr" : : "r"(fpcr) : "memory");
}

/* ---- counters ---- */

#define SG_CPU_HAS_COUNTER 1

static inline uint64_t sg_cpu_counter(void)
{
    uint64_t value;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}

static inline uint64_t sg_cpu_counter_in_order(void)
{
    uint64_t value;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
    return value;
}

static inline bool sg_cpu_counter_is_steady(void)
{
    return true;
}

/* ---- stacks ---- */

#define SG_CPU_HAS_CALL_ON 1

/* x29 holds the previous stack pointer, so unwinders find it there. The first instruction is bti
 * c. */
#define SG_CPU_CALL_ON_CODE                                                                        \
    "hint 34\n"                                                                                    \
    "stp x29, x30, [sp, -16]!\n"                                                                   \
    ".cfi_def_cfa_offset 16\n"                                                                     \
    ".cfi_offset 29, -16\n"                                                                        \
    ".cfi_offset 30, -8\n"                                                                         \
    "mov x29, sp\n"                                                                                \
    ".cfi_def_cfa_register 29\n"                                                                   \
    "mov sp, x0\n"                                                                                 \
    "mov x0, x2\n"                                                                                 \
    "blr x1\n"                                                                                     \
    "mov sp, x29\n"                                                                                \
    ".cfi_def_cfa_register 31\n"                                                                   \
    "ldp x29, x30, [sp], 16\n"                                                                     \
    ".cfi_def_cfa_offset 0\n"                                                                      \
    ".cfi_restore 29\n"                                                                            \
    ".cfi_restore 30\n"                                                                            \
    "ret\n"

/* -ffp-contract=off has this effect. */
#define SG_CPU_UNFUSED
#define SG_CPU_FUSES 1

/* Relocations of a function's address (elf.h). */
#define SG_CPU_IS_IMPORT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)

#endif
