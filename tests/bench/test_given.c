/* Tests that rules given to --vs get the name of their communicator where the grammar has it. */
#include "bench/limits.h"
#include "core/capture.h"
#include "lib/unit.h"

static void check_bound(const char *text, const char *expected)
{
    char *bound = sg_bench_given_bind(text, "c/d");

    EXPECT((bound != NULL) == (expected != NULL));
    if (bound != NULL && expected != NULL)
        EXPECT(text_is(bound, expected));
    free(bound);
}

TEST("rules are bound to the communicator")
{
    check_bound("*=mpich", "*~c/d=mpich;");
    check_bound("barrier=tree(degree=2)", "barrier~c/d=tree(degree=2);");
    check_bound(" reduce [0-1k] = bypass", "reduce ~c/d[0-1k] = bypass;");
    check_bound("allreduce@solver[0-9].c:88[8]=srm", "allreduce@solver[0-9].c:88~c/d[8]=srm;");
    check_bound("reduce@operator\\=\\==mpich", "reduce@operator\\=\\=~c/d=mpich;");
    check_bound("reduce@a\\~b=mpich", "reduce@a\\~b~c/d=mpich;");
    check_bound("barrier=srm; *=mpich\n", "barrier~c/d=srm;*~c/d=mpich;");
}

TEST("invalid rules and rules for another communicator are not bound")
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

    capture_begin(&capture);
    bool good = sg_bench_given_check("--vs", text);
    char *said = capture_end(&capture);
    EXPECT(good == (expected == NULL), text_is(said, expected != NULL ? expected : ""));
    free(said);
}

TEST("one line describes the fault")
{
    check_said("*=mpich", NULL);
    check_said("*~a=mpich",
               "stagger: --vs: a rule cannot name a communicator here: the benchmark uses "
               "its own\n");
    check_said("barrier=bypass",
               "stagger: --vs, column 9: bypass does not support barrier, only reduce, bcast\n");
}

static void check_found(const char *line, const char *expected)
{
    char text[200], *argv[8] = {text};
    int argc = 1;

    snprintf(text, sizeof text, "stagger-bench %s", line);
    strtok(text, " ");
    while ((argv[argc] = strtok(NULL, " ")) != NULL)
        argc++;
    const char *found = sg_bench_given_find(argc, argv);
    EXPECT((found != NULL) == (expected != NULL));
    if (found != NULL && expected != NULL)
        EXPECT(text_is(found, expected));
}

TEST("rules are found on the command line")
{
    check_found("latency --vs", NULL);
    check_found("latency --vs rules", NULL);
    check_found("latency --vs *=srm", "*=srm");
    check_found("--vs=*=srm latency", "*=srm");
    check_found("--vs *=srm --vs=rules", NULL);
    check_found("-- --vs *=srm", NULL);
}
