/* Unit tests on CUnit. A file lists its tests once and gets a main that prints one line per test,
 * "ok - sentence" or "not ok - sentence (file:line: condition)", and exits 1 if any failed.
 */
#ifndef SG_TESTS_LIB_UNIT_H
#define SG_TESTS_LIB_UNIT_H

#include <CUnit/CUnit.h>

struct unit_test {
    const char *sentence;
    void (*run)(void);
};

/* Runs the tests; returns the exit status of main. */
int unit_run(void);

/* Each test file defines this; the last entry has a NULL sentence. */
extern const struct unit_test unit_tests[];

/* A new directory below $TMPDIR or /tmp, removed with its content when the program ends. */
const char *unit_directory(void);

#endif
