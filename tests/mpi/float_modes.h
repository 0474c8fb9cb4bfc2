/* The processor's floating-point modes by name: up, down, zero (fesetround) or flush (FTZ and DAZ).
 * Header only.
 */
#ifndef FLOAT_MODES_H
#define FLOAT_MODES_H

#include "mpi_test.h"

#include <fenv.h>

/* Treats denormal numbers as zeros. */
#ifdef __aarch64__
#define FLUSHES (UINT64_C(1) << 24)

static inline void float_mode_flush(bool flush)
{
    uint64_t fpcr;

    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    fpcr = flush ? fpcr | FLUSHES : fpcr & ~FLUSHES;
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
}
#else
#include <xmmintrin.h>

#define FTZ_DAZ 0x8040u

static inline void float_mode_flush(bool flush)
{
    _mm_setcsr(flush ? _mm_getcsr() | FTZ_DAZ : _mm_getcsr() & ~FTZ_DAZ);
}
#endif

static inline void float_mode_set(const char *mode)
{
    if (strcmp(mode, "up") == 0)
        REQUIRE(fesetround(FE_UPWARD) == 0);
    else if (strcmp(mode, "down") == 0)
        REQUIRE(fesetround(FE_DOWNWARD) == 0);
    else if (strcmp(mode, "zero") == 0)
        REQUIRE(fesetround(FE_TOWARDZERO) == 0);
    else
        float_mode_flush(true);
}

static inline void float_mode_set_default(void)
{
    REQUIRE(fesetround(FE_TONEAREST) == 0);
    float_mode_flush(false);
}

#endif
