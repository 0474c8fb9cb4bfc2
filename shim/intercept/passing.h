/* Arguments of the wrappers of functions that pass by (passing.c), and whether another tool is
 * behind them.
 *
 * Any thread; takes the loader's lock. Not from a signal handler.
 */
#ifndef SG_INTERCEPT_PASSING_H
#define SG_INTERCEPT_PASSING_H

#include "mpi/real.h"

#include <stdbool.h>

/* True if no other tool stands between the wrappers and MPICH for any function that a test loop may
 * replace. */
bool sg_passing_is_direct(void);

/* Arguments pass unchanged, in words as wide as a register. By their number: P, a wrapper's
 * parameters a, b, c ...; G, their names; W, the words that it passes on from its array `words`.
 */

#define P1 sg_word a
#define P2 P1, sg_word b
#define P3 P2, sg_word c
#define P4 P3, sg_word d
#define P5 P4, sg_word e
#define P6 P5, sg_word f
#define P7 P6, sg_word g
#define P8 P7, sg_word h
#define P9 P8, sg_word i
#define P10 P9, sg_word j
#define P11 P10, sg_word k
#define P12 P11, sg_word l
#define P13 P12, sg_word m
#define G1 a
#define G2 G1, b
#define G3 G2, c
#define G4 G3, d
#define G5 G4, e
#define G6 G5, f
#define G7 G6, g
#define G8 G7, h
#define G9 G8, i
#define G10 G9, j
#define G11 G10, k
#define G12 G11, l
#define G13 G12, m
#define W1 words[0]
#define W2 W1, words[1]
#define W3 W2, words[2]
#define W4 W3, words[3]
#define W5 W4, words[4]
#define W6 W5, words[5]
#define W7 W6, words[6]
#define W8 W7, words[7]
#define W9 W8, words[8]
#define W10 W9, words[9]
#define W11 W10, words[10]
#define W12 W11, words[11]
#define W13 W12, words[12]
#define JOINED(one, other) one##other
#define PARAMETERS(count) JOINED(P, count)
#define GIVEN(count) JOINED(G, count)
#define PASSED(count) JOINED(W, count)

/* Returns the error that a Fortran 2008 routine stored in ierror; the caller may omit ierror. */
static inline int sg_word_error(sg_word ierror)
{
    return ierror != 0 ? *(const int *)ierror : MPI_SUCCESS;
}

#endif
