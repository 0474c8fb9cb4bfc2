/* The processor's floating-point modes by name: up, down, zero (fesetround) or flush (FTZ and DAZ).
 * Header only.
 */
#ifndef FLOAT_MODES_H
#define FLOAT_MODES_H

#include "mpi_test.h"

#include <fenv.h>
#include <string.h>
#include <xmmintrin.h>

#define FTZ_DAZ 0x8040u

static inline void float_mode_set(const char *mode)
{
    if (strcmp(mode, "up") == 0)
        REQUIRE(fesetround(FE_UPWARD) == 0);
    else if (strcmp(mode, "down") == 0)
        REQUIRE(fesetround(FE_DOWNWARD) == 0);
    else if (strcmp(mode, "zero") == 0)
        REQUIRE(fesetround(FE_TOWARDZERO) == 0);
    else
        _mm_setcsr(_mm_getcsr() | FTZ_DAZ);
}

static inline void float_mode_set_default(void)
{
    REQUIRE(fesetround(FE_TONEAREST) == 0);
    _mm_setcsr(_mm_getcsr() & ~FTZ_DAZ);
}

#endif
