/* Small programs whose outcomes are known. litmus.c is compiled as the sources under check are. */
#ifndef SG_TESTS_WEAK_LITMUS_H
#define SG_TESTS_WEAK_LITMUS_H

#include "weak/weak.h"

/* Outcome of one execution: the values loaded (r), and memory in the end. */
struct litmus_outcome {
    int r[4], x, y, z;
};

/* expected: outcomes as text, in order, each in the format of `print`. */
struct litmus {
    struct weak_scenario scenario;
    const char *print; /* which of r0 to r3, x, y, z */
    const char *expected;
};

extern const struct litmus litmus_programs[];
extern const int litmus_count;

void litmus_outcome(struct litmus_outcome *out);
void litmus_finish(void); /* of each scenario: test_litmus.c's */

#endif
