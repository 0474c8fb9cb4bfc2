/* core/cpu/cpu.h for architectures without a header of their own. */
#ifndef SG_CORE_CPU_OTHER_H
#define SG_CORE_CPU_OTHER_H

#include <fenv.h>

static inline void sg_cpu_pause(void)
{
    __asm__ volatile("" : : : "memory");
}

static inline void sg_cpu_in_order(void)
{
    __asm__ volatile("" : : : "memory");
}

static inline void sg_cpu_take(const void *line)
{
    __builtin_prefetch(line, 1, 3);
}

/* The rounding direction is all that C names. */
static inline struct sg_cpu_float_modes sg_cpu_float_modes(void)
{
    return (struct sg_cpu_float_modes){{(uint32_t)fegetround(), 0}};
}

static inline void sg_cpu_set_float_modes(struct sg_cpu_float_modes modes)
{
    fesetround((int)modes.words[0]);
}

#define SG_CPU_UNFUSED
#ifdef __FP_FAST_FMA
#define SG_CPU_FUSES 1
#endif

/* No counter: marks of an account still compile, and sg_tick_is_trusted returns false. */
static inline uint64_t sg_cpu_counter(void)
{
    return 0;
}

/* Unknown: no import is replaced. */
#define SG_CPU_IS_IMPORT(type) ((void)(type), false)

#endif
