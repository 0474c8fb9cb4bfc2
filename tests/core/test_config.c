/* Tests the configuration read from environment variables: defaults, values, and one line for
 * each fault. */
#include "core/config_support.h"
#include "trace/record.h"

#include <stdint.h>

static void reads_defaults(void)
{
    struct sg_config config;
    char *log = read_with(&config, (const char *const[]){NULL, NULL});

    CU_ASSERT_STRING_EQUAL(log, "");
    CU_ASSERT_EQUAL(config.trace, SG_TRACE_OTF2);
    CU_ASSERT_STRING_EQUAL(config.directory, "");
    CU_ASSERT_EQUAL(config.trace_bytes, UINT64_C(64) << 20);
    CU_ASSERT_EQUAL(config.depth, 1);
    CU_ASSERT_FALSE(config.quiet);
    CU_ASSERT_STRING_EQUAL(config.config_file, "");
    CU_ASSERT_EQUAL(config.rule_count, 0);
    CU_ASSERT_EQUAL(config.from_environment, 0);
    CU_ASSERT_EQUAL(config.from_file, 0);
    free(log);
    sg_config_clear(&config);
}

static void reads_values(void)
{
    struct sg_config config;
    char *log = READ(&config, "STAGGER_TRACE", "stats", "STAGGER_DIR", "out dir",
                     "STAGGER_TRACE_BYTES", "3g", "STAGGER_DEPTH", "16", "STAGGER_QUIET", "1");

    CU_ASSERT_STRING_EQUAL(log, "");
    CU_ASSERT_EQUAL(config.trace, SG_TRACE_STATS);
    CU_ASSERT_STRING_EQUAL(config.directory, "out dir");
    CU_ASSERT_EQUAL(config.trace_bytes, UINT64_C(3) << 30);
    CU_ASSERT_EQUAL(config.depth, 16);
    CU_ASSERT_TRUE(config.quiet);
    CU_ASSERT_EQUAL(__builtin_popcountll(config.from_environment), 5);
    free(log);
    sg_config_clear(&config);
}

static bool trace_is(const char *value, int mode)
{
    struct sg_config config;
    char *log = READ(&config, "STAGGER_TRACE", value);
    bool same = config.trace == mode && *log == '\0';

    free(log);
    sg_config_clear(&config);
    return same;
}

static void reads_trace_modes(void)
{
    CU_ASSERT(trace_is("off", SG_TRACE_OFF));
    CU_ASSERT(trace_is("stats", SG_TRACE_STATS));
    CU_ASSERT(trace_is("otf2", SG_TRACE_OTF2));
    CU_ASSERT(trace_is("", SG_TRACE_OTF2));
}

static bool bytes_are(const char *value, uint64_t bytes)
{
    struct sg_config config;
    char *log = READ(&config, "STAGGER_TRACE_BYTES", value);
    bool same = config.trace_bytes == bytes && *log == '\0';

    free(log);
    sg_config_clear(&config);
    return same;
}

static void reads_sizes(void)
{
    CU_ASSERT(bytes_are("1m", UINT64_C(1) << 20));
    CU_ASSERT(bytes_are("1024K", UINT64_C(1) << 20));
    CU_ASSERT(bytes_are("1048577", (UINT64_C(1) << 20) + 1));
    CU_ASSERT(bytes_are("64g", UINT64_C(64) << 30));
    CU_ASSERT(bytes_are("65536m", UINT64_C(64) << 30));
}

static void refuses_values(void)
{
    static const char *const sizes[] = {
        "1023k",       "65g", "0", "-1m", "1e9", "64mb", "64 m", "m64", "18446744073709551616",
        "99999999999g"};
    char line[200];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        snprintf(line, sizeof line,
                 "stagger: STAGGER_TRACE_BYTES=%s is ignored: expected a size from 1m to 64g\n",
                 sizes[i]);
        CU_ASSERT(says("STAGGER_TRACE_BYTES", sizes[i], line));
    }
    CU_ASSERT(says("STAGGER_TRACE", "otf",
                   "stagger: STAGGER_TRACE=otf is ignored: expected otf2, stats or off\n"));
    CU_ASSERT(says("STAGGER_TRACE", "OTF2",
                   "stagger: STAGGER_TRACE=OTF2 is ignored: expected otf2, stats or off\n"));
    CU_ASSERT(says("STAGGER_DEPTH", "0",
                   "stagger: STAGGER_DEPTH=0 is ignored: expected a number from 1 to 16\n"));
    CU_ASSERT(says("STAGGER_DEPTH", "17",
                   "stagger: STAGGER_DEPTH=17 is ignored: expected a number from 1 to 16\n"));
    CU_ASSERT(says("STAGGER_DEPTH", "1k",
                   "stagger: STAGGER_DEPTH=1k is ignored: expected a number from 1 to 16\n"));
    CU_ASSERT(
        says("STAGGER_QUIET", "yes", "stagger: STAGGER_QUIET=yes is ignored: expected 0 or 1\n"));
    CU_ASSERT(says("STAGGER_QUIET", "\xff\033[2J",
                   "stagger: STAGGER_QUIET=??[2J is ignored: expected 0 or 1\n"));
}

static void refused_values_keep_the_default(void)
{
    struct sg_config config;
    char *log = READ(&config, "STAGGER_DEPTH", "17", "STAGGER_TRACE", "?");

    CU_ASSERT_EQUAL(config.depth, 1);
    CU_ASSERT_EQUAL(config.trace, SG_TRACE_OTF2);
    CU_ASSERT_EQUAL(config.from_environment, 0);
    free(log);
    sg_config_clear(&config);
}

static void long_values(void)
{
    struct sg_config config;
    char *value = malloc(100001);
    char *log;

    memset(value, 'x', 100000);
    value[100000] = '\0';
    log = READ(&config, "STAGGER_DIR", value, "STAGGER_RULES", value);
    CU_ASSERT_STRING_EQUAL(config.directory, "");
    CU_ASSERT(strstr(log, "xxx... is ignored: expected a path of at most 3500 bytes\n") != NULL);
    CU_ASSERT(strchr(log, '\n') == log + strlen(log) - 1);
    CU_ASSERT_EQUAL(strlen(config.rules[0].text), 100000);
    free(log);
    sg_config_clear(&config);
    value[3500] = '\0';
    log = READ(&config, "STAGGER_DIR", value);
    CU_ASSERT_STRING_EQUAL(config.directory, value);
    CU_ASSERT_STRING_EQUAL(log, "");
    free(log);
    sg_config_clear(&config);
    free(value);
}

static void unknown_variables(void)
{
    char name[300];

    CU_ASSERT(says("STAGGER_TRCE", "x",
                   "stagger: unknown variable STAGGER_TRCE is ignored; the nearest known name is "
                   "STAGGER_TRACE\n"));
    CU_ASSERT(says("STAGGER_ALL_REDUCE", "x",
                   "stagger: unknown variable STAGGER_ALL_REDUCE is ignored; the nearest known "
                   "name is STAGGER_ALLREDUCE\n"));
    CU_ASSERT(says("STAGGER_SIT_3f2a9c1b", "x",
                   "stagger: unknown variable STAGGER_SIT_3f2a9c1b is ignored; the nearest known "
                   "name is STAGGER_SITE_<id>\n"));
    CU_ASSERT(says("STAGGER_", "x",
                   "stagger: unknown variable STAGGER_ is ignored; the nearest known name is "
                   "STAGGER_DIR\n"));
    CU_ASSERT(says("STAGGER_SITE_3f2a9c1", "mpich",
                   "stagger: STAGGER_SITE_3f2a9c1 is ignored: expected 8 hex digits after "
                   "STAGGER_SITE_\n"));
    CU_ASSERT(says("STAGGERED", "x", ""));
    snprintf(name, sizeof name, "STAGGER_%0250d", 7);
    CU_ASSERT(says(name, "x",
                   "stagger: unknown variable STAGGER_00000000000000000000000000000000000000000000"
                   "000000000000000000000000... is ignored; the nearest known name is "
                   "STAGGER_TRACE\n"));
}

static void silent_reading(void)
{
    struct capture capture;
    struct sg_config config;
    char *log;

    clear_environment();
    setenv("STAGGER_NONSENSE", "1", 1);
    setenv("STAGGER_DEPTH", "x", 1);
    setenv("STAGGER_CONFIG", "/nonexistent", 1);
    capture_begin(&capture);
    CU_ASSERT_EQUAL(sg_config_read(&config, false), SG_OK);
    log = capture_end(&capture);
    CU_ASSERT_STRING_EQUAL(log, "");
    free(log);
    sg_config_clear(&config);
    clear_environment();
}

static void checks_values(void)
{
    struct capture capture;
    char *log;

    capture_begin(&capture);
    CU_ASSERT_EQUAL(sg_config_check("--trace", "STAGGER_TRACE", "stats"), SG_OK);
    CU_ASSERT_EQUAL(sg_config_check("--trace", "STAGGER_TRACE", "all"), SG_ERR_SYNTAX);
    CU_ASSERT_EQUAL(sg_config_check("--output", "STAGGER_DIR", ""), SG_ERR_SYNTAX);
    CU_ASSERT_EQUAL(sg_config_check("x", "STAGGER_RULES", "x"), SG_ERR_ARGUMENT);
    log = capture_end(&capture);
    CU_ASSERT_STRING_EQUAL(log, "stagger: --trace 'all': expected otf2, stats or off\n"
                                "stagger: --output '': expected a path of at most 3500 bytes\n");
    free(log);
}

const struct unit_test unit_tests[] = {
    {"without variables the defaults hold", reads_defaults},
    {"variables set their values", reads_values},
    {"every trace mode is read, and an empty value is as if not set", reads_trace_modes},
    {"sizes take k, m and g within their range", reads_sizes},
    {"a value that does not parse gets one line that says what is expected", refuses_values},
    {"a value that does not parse leaves the default", refused_values_keep_the_default},
    {"very long values are safe, and a path too long is refused", long_values},
    {"an unknown variable gets one line with the nearest name", unknown_variables},
    {"nothing is said when asked not to speak", silent_reading},
    {"a value is checked on its own for the command line", checks_values},
    {NULL, NULL},
};
