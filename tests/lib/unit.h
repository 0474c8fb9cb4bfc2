/* Unit tests on CUnit: a file lists its tests once and gets a main that prints one line a test,
 * "ok - sentence" or "not ok - sentence (file:line: condition)", and exits 1 when one failed.
 */
#ifndef SG_TESTS_LIB_UNIT_H
#define SG_TESTS_LIB_UNIT_H

#include <CUnit/CUnit.h>

struct unit_test {
    const char *sentence;
    void (*run)(void);
};

/* What main does: the exit status. */
int unit_run(void);

/* Defined by each test file; ends with a NULL sentence. */
extern const struct unit_test unit_tests[];

/* A fresh directory below $TMPDIR or /tmp, removed with all it holds when the program ends. */
const char *unit_directory(void);

#endif
