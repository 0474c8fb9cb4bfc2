/* Tests that rules given to --vs get the name of their communicator where the grammar has it. */
#include "bench/limits.h"
#include "core/capture.h"
#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_bound(const char *text, const char *expected)
{
    char *bound = sg_bench_given_bind(text, "c/d");

    CU_ASSERT_EQUAL(bound != NULL, expected != NULL);
    if (bound != NULL && expected != NULL)
        CU_ASSERT_STRING_EQUAL(bound, expected);
    free(bound);
}

static void test_binding(void)
{
    check_bound("*=mpich", "*~c/d=mpich;");
    check_bound("barrier=tree(degree=2)", "barrier~c/d=tree(degree=2);");
    check_bound(" reduce [0-1k] = bypass", "reduce ~c/d[0-1k] = bypass;");
    check_bound("allreduce@solver[0-9].c:88[8]=srm", "allreduce@solver[0-9].c:88~c/d[8]=srm;");
    check_bound("reduce@operator\\=\\==mpich", "reduce@operator\\=\\=~c/d=mpich;");
    check_bound("reduce@a\\~b=mpich", "reduce@a\\~b~c/d=mpich;");
    check_bound("barrier=srm; *=mpich\n", "barrier~c/d=srm;*~c/d=mpich;");
}

static void test_what_cannot_be_bound(void)
{
    check_bound("", NULL);
    check_bound(" ; ", NULL);
    check_bound("barrier", NULL);
    check_bound("barrier=pmpi", NULL);
    check_bound("barrier=srm; reduce=nonsense", NULL);
    check_bound("barrier~mine=srm", NULL);
    check_bound("barrier~2-4=srm", NULL);
}

static void check_said(const char *text, const char *expected)
{
    struct capture capture;
    char *said;
    bool good;

    capture_begin(&capture);
    good = sg_bench_given_check("--vs", text);
    said = capture_end(&capture);
    CU_ASSERT_EQUAL(good, expected == NULL);
    CU_ASSERT_STRING_EQUAL(said, expected != NULL ? expected : "");
    free(said);
}

static void test_complaints(void)
{
    check_said("*=mpich", NULL);
    check_said("*~a=mpich", "stagger: --vs: a rule here names no communicator: it has one of its "
                            "own\n");
    check_said("barrier=bypass",
               "stagger: --vs, column 9: bypass does not support barrier, only reduce, bcast\n");
}

static void check_found(const char *line, const char *expected)
{
    char text[200], *argv[8] = {text};
    const char *found;
    int argc = 1;

    snprintf(text, sizeof text, "stagger-bench %s", line);
    strtok(text, " ");
    while ((argv[argc] = strtok(NULL, " ")) != NULL)
        argc++;
    found = sg_bench_given_find(argc, argv);
    CU_ASSERT_EQUAL(found != NULL, expected != NULL);
    if (found != NULL && expected != NULL)
        CU_ASSERT_STRING_EQUAL(found, expected);
}

static void test_command_line(void)
{
    check_found("latency --vs", NULL);
    check_found("latency --vs rules", NULL);
    check_found("latency --vs *=srm", "*=srm");
    check_found("--vs=*=srm latency", "*=srm");
    check_found("--vs *=srm --vs=rules", NULL);
    check_found("-- --vs *=srm", NULL);
}

const struct unit_test unit_tests[] = {
    {"rules are bound to the communicator", test_binding},
    {"what is no rule or names another communicator is not", test_what_cannot_be_bound},
    {"one line says what is wrong", test_complaints},
    {"they are found on the command line", test_command_line},
    {NULL, NULL},
};
