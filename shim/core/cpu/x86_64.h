/* core/cpu/cpu.h for x86-64. */
#ifndef SG_CORE_CPU_X86_64_H
#define SG_CORE_CPU_X86_64_H

#include <cpuid.h>
#include <elf.h>
#include <xmmintrin.h>

static inline void sg_cpu_pause(void)
{
    __builtin_ia32_pause();
}

/* Speculative loads must appear in order: when a new line arrives, the processor undoes a load that
 * has read the old one and everything after it. */
static inline void sg_cpu_in_order(void)
{
    __builtin_ia32_lfence();
}

static inline void sg_cpu_take(const void *line)
{
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
}

/* ---- arithmetic: MXCSR, and x87's control word ---- */

/* Flags of MXCSR, and its masks of the corresponding exceptions; likewise the masks of x87. */
#define SG_CPU_MXCSR_FLAGS 0x003fu
#define SG_CPU_MXCSR_MASKS 0x1f80u
#define SG_CPU_X87_MASKS 0x003fu

static inline struct sg_cpu_float_modes sg_cpu_float_modes(void)
{
    uint16_t x87;

    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (struct sg_cpu_float_modes){
        {(_mm_getcsr() & ~SG_CPU_MXCSR_FLAGS) | SG_CPU_MXCSR_MASKS, x87 | SG_CPU_X87_MASKS}};
}

static inline void sg_cpu_set_float_modes(struct sg_cpu_float_modes modes)
{
    uint16_t x87 = (uint16_t)modes.words[1];

    _mm_setcsr(modes.words[0]);
    __asm__ volatile("fldcw %0" : : "m"(x87) : "memory");
}

/* ---- vectors ---- */

#define SG_CPU_UNFUSED __attribute__((target("no-fma,no-avx512f")))
#define SG_CPU_WIDE __attribute__((target("avx2")))
#define SG_CPU_WIDE_UNFUSED __attribute__((target("avx2,no-fma,no-avx512f")))
#define SG_CPU_WIDEST __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

static inline bool sg_cpu_has_wide(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2");
}

static inline bool sg_cpu_has_widest(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* ---- counters ---- */

#define SG_CPU_HAS_COUNTER 1
/* Kernel clocks that are derived from the counter: the kernel checks that processors' counters
 * agree. */
#define SG_CPU_COUNTER_CLOCKS "tsc", "kvm-clock", "hyperv_clocksource_tsc_page"

static inline uint64_t sg_cpu_counter(void)
{
    return __builtin_ia32_rdtsc();
}

/* Waits for earlier instructions. */
static inline uint64_t sg_cpu_counter_in_order(void)
{
    unsigned processor;

    return __builtin_ia32_rdtscp(&processor);
}

/* True if the processor reports a constant rate (invariant TSC). */
static inline bool sg_cpu_counter_is_steady(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
}

#define SG_CPU_HAS_FLUSH 1

static inline void sg_cpu_flush(const void *line)
{
    __builtin_ia32_clflush(line);
}

static inline void sg_cpu_flush_all_done(void)
{
    __builtin_ia32_mfence();
}

/* ---- stacks ---- */

#define SG_CPU_HAS_CALL_ON 1

/* rbp holds the previous stack pointer, so unwinders find it there. */
#define SG_CPU_CALL_ON_CODE                                                                        \
    "endbr64\n"                                                                                    \
    "push %rbp\n"                                                                                  \
    ".cfi_def_cfa_offset 16\n"                                                                     \
    ".cfi_offset %rbp, -16\n"                                                                      \
    "mov %rsp, %rbp\n"                                                                             \
    ".cfi_def_cfa_register %rbp\n"                                                                 \
    "mov %rdi, %rsp\n"                                                                             \
    "mov %rdx, %rdi\n"                                                                             \
    "call *%rsi\n"                                                                                 \
    "leave\n"                                                                                      \
    ".cfi_def_cfa %rsp, 8\n"                                                                       \
    "ret\n"

#define SG_CPU_HAS_EVENTS 1

static inline uint64_t sg_cpu_event_register(uint32_t index)
{
    return __builtin_ia32_rdpmc((int)index);
}

/* ---- calls ---- */

/* See SG_CPU_HAS_FORK in cpu.h. */
#define SG_CPU_HAS_FORK 1
#define SG_CPU_DEFINE_FORK(function, next, find_next, other)                                       \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " function "\n"                                                                \
            ".type " function ", @function\n" function ":\n"                                       \
            ".cfi_startproc\n"                                                                     \
            "endbr64\n"                                                                            \
            "mov " next "(%rip), %rax\n"                                                           \
            "test %rax, %rax\n"                                                                    \
            "jne 1f\n"                                                                             \
            "push %rdi\n"                                                                          \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "push %rsi\n"                                                                          \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "sub $8, %rsp\n"                                                                       \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "call " find_next "\n"                                                                 \
            "add $8, %rsp\n"                                                                       \
            ".cfi_adjust_cfa_offset -8\n"                                                          \
            "pop %rsi\n"                                                                           \
            ".cfi_adjust_cfa_offset -8\n"                                                          \
            "pop %rdi\n"                                                                           \
            ".cfi_adjust_cfa_offset -8\n"                                                          \
            "1: lea 1(%rdi), %rdx\n"                                                               \
            "cmp $1, %rdx\n"                                                                       \
            "ja 2f\n"                                                                              \
            "jmp *%rax\n"                                                                          \
            "2: mov (%rsp), %rdx\n"                                                                \
            "jmp " other "\n"                                                                      \
            ".cfi_endproc\n"                                                                       \
            ".size " function ", . - " function "\n"                                               \
            ".popsection\n")

/* Relocations of a function's address (elf.h). */
#define SG_CPU_IS_IMPORT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)

#endif
