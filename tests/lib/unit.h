/* Unit tests on CUnit. A test is a function behind a sentence:
 *
 *     TEST("a ring keeps the order of its messages")
 *     {
 *         EXPECT(ring.count == 2, text_is(ring.name, "a"));
 *     }
 *
 * EXPECT checks up to 16 conditions one after another and goes on if one is false, ASSERT ends the
 * test. A program of such a file prints one line for each test, in the order of the file, "ok -
 * sentence" or "not ok - sentence (file:line: condition)", and exits 1 if any failed.
 */
#ifndef SG_TESTS_LIB_UNIT_H
#define SG_TESTS_LIB_UNIT_H

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit_test {
    const char *sentence;
    void (*run)(void);
    int number; /* within the file */
};

/* The section unit_tests contains pointers to the tests, in any order. */
#define TEST(sentence) UNIT_TEST(sentence, __COUNTER__)
#define UNIT_TEST(sentence, number) UNIT_NUMBERED_TEST(sentence, number)
#define UNIT_NUMBERED_TEST(sentence, number)                                                       \
    static void unit_run_##number(void);                                                           \
    static const struct unit_test unit_test_##number = {sentence, unit_run_##number, number};      \
    static const struct unit_test *const unit_pointer_##number                                     \
        __attribute__((used, section("unit_tests"))) = &unit_test_##number;                        \
    static void unit_run_##number(void)

#define EXPECT(...) UNIT_EACH(CU_FALSE, __VA_ARGS__)
#define ASSERT(...) UNIT_EACH(CU_TRUE, __VA_ARGS__)

#define UNIT_CHECK(fatal, condition)                                                               \
    CU_assertImplementation((condition) ? CU_TRUE : CU_FALSE, __LINE__, #condition, __FILE__, "",  \
                            fatal)
#define UNIT_EACH(fatal, ...)                                                                      \
    UNIT_PICK(__VA_ARGS__, UNIT_16, UNIT_15, UNIT_14, UNIT_13, UNIT_12, UNIT_11, UNIT_10, UNIT_9,  \
              UNIT_8, UNIT_7, UNIT_6, UNIT_5, UNIT_4, UNIT_3, UNIT_2, UNIT_1, )                    \
    (fatal, __VA_ARGS__)
#define UNIT_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, macro, ...) macro
#define UNIT_1(fatal, condition) UNIT_CHECK(fatal, condition)
#define UNIT_2(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_1(fatal, __VA_ARGS__))
#define UNIT_3(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_2(fatal, __VA_ARGS__))
#define UNIT_4(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_3(fatal, __VA_ARGS__))
#define UNIT_5(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_4(fatal, __VA_ARGS__))
#define UNIT_6(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_5(fatal, __VA_ARGS__))
#define UNIT_7(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_6(fatal, __VA_ARGS__))
#define UNIT_8(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_7(fatal, __VA_ARGS__))
#define UNIT_9(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_8(fatal, __VA_ARGS__))
#define UNIT_10(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_9(fatal, __VA_ARGS__))
#define UNIT_11(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_10(fatal, __VA_ARGS__))
#define UNIT_12(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_11(fatal, __VA_ARGS__))
#define UNIT_13(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_12(fatal, __VA_ARGS__))
#define UNIT_14(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_13(fatal, __VA_ARGS__))
#define UNIT_15(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_14(fatal, __VA_ARGS__))
#define UNIT_16(fatal, condition, ...) (UNIT_CHECK(fatal, condition), UNIT_15(fatal, __VA_ARGS__))

/* True in the full check, and if a test runs by itself; as in_full of lib/sh.sh. */
static inline bool unit_in_full(void)
{
    const char *all = getenv("SG_TEST_ALL");

    return all == NULL || strcmp(all, "1") == 0;
}

/* The step of loops over seeds and sizes, or their divisor: 1 unless SG_TEST_STEP is set.
 * sanitizers.sh sets it, because the ordinary build runs all.
 */
static inline int unit_step(void)
{
    const char *step = getenv("SG_TEST_STEP");

    return step == NULL ? 1 : atoi(step);
}

/* True if both are NULL, too. */
static inline bool text_is(const char *text, const char *expected)
{
    return text == NULL || expected == NULL ? text == expected : strcmp(text, expected) == 0;
}

static inline bool contains(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static inline bool is_near(double value, double expected, double tolerance)
{
    return __builtin_fabs(value - expected) <= __builtin_fabs(tolerance);
}

/* Runs the tests; returns the exit status of main. */
int unit_run(void);

/* A new directory below $TMPDIR or /tmp, removed with its content when the program ends. */
const char *unit_directory(void);

/* A new directory below that one. The path is valid until the next call. */
const char *unit_fresh_directory(void);

/* Writes a file, and makes the directories above it. Returns its path, valid until the next call.
 */
const char *unit_write(const char *text, const char *path_format, ...)
    __attribute__((format(printf, 2, 3)));

/* The text that an expression prints to `stream`; the caller frees it:
 *
 *     char *text = PRINTED(EXPECT(sg_report_print(report, stream) == SG_OK));
 */
#define PRINTED(print)                                                                             \
    ({                                                                                             \
        struct unit_printer *unit_printer = unit_printer_open();                                   \
        FILE *stream = unit_printer->stream;                                                       \
                                                                                                   \
        print;                                                                                     \
        unit_printer_close(unit_printer);                                                          \
    })

struct unit_printer {
    FILE *stream;
    char *text;
    size_t size_bytes;
};

struct unit_printer *unit_printer_open(void);
char *unit_printer_close(struct unit_printer *printer);

#endif
