/* Tests the configuration read from environment variables: defaults, values, and one line for
 * each fault. */
#include "core/config_support.h"
#include "trace/record.h"

TEST("without variables the defaults apply")
{
    struct sg_config config;
    char *log = read_with(&config, (const char *const[]){NULL, NULL});

    EXPECT(text_is(log, ""), config.trace == SG_TRACE_OTF2, text_is(config.directory, ""),
           config.trace_bytes == UINT64_C(64) << 20, config.depth == 1, !config.quiet,
           text_is(config.config_file, ""), config.rule_count == 0, config.from_environment == 0,
           config.from_file == 0);
    free(log);
    sg_config_clear(&config);
}

TEST("variables set their values")
{
    struct sg_config config;
    char *log = READ(&config, "STAGGER_TRACE", "stats", "STAGGER_DIR", "out dir",
                     "STAGGER_TRACE_BYTES", "3g", "STAGGER_DEPTH", "16", "STAGGER_QUIET", "1");

    EXPECT(text_is(log, ""), config.trace == SG_TRACE_STATS, text_is(config.directory, "out dir"),
           config.trace_bytes == UINT64_C(3) << 30, config.depth == 16, config.quiet,
           __builtin_popcountll(config.from_environment) == 5);
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

TEST("every trace mode is read, and an empty value counts as unset")
{
    EXPECT(trace_is("off", SG_TRACE_OFF), trace_is("stats", SG_TRACE_STATS),
           trace_is("otf2", SG_TRACE_OTF2), trace_is("", SG_TRACE_OTF2));
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

TEST("sizes accept k, m and g within their range")
{
    EXPECT(bytes_are("1m", UINT64_C(1) << 20), bytes_are("1024K", UINT64_C(1) << 20),
           bytes_are("1048577", (UINT64_C(1) << 20) + 1), bytes_are("64g", UINT64_C(64) << 30),
           bytes_are("65536m", UINT64_C(64) << 30));
}

TEST("a malformed value gets one line with the expected form")
{
    static const char *const sizes[] = {
        "1023k",       "65g", "0", "-1m", "1e9", "64mb", "64 m", "m64", "18446744073709551616",
        "99999999999g"};
    char line[200];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        snprintf(line, sizeof line,
                 "stagger: STAGGER_TRACE_BYTES=%s is ignored: expected a size from 1m to 64g\n",
                 sizes[i]);
        EXPECT(says("STAGGER_TRACE_BYTES", sizes[i], line));
    }
    EXPECT(says("STAGGER_TRACE", "otf",
                "stagger: STAGGER_TRACE=otf is ignored: expected otf2, stats or off\n"),
           says("STAGGER_TRACE", "OTF2",
                "stagger: STAGGER_TRACE=OTF2 is ignored: expected otf2, stats or off\n"),
           says("STAGGER_DEPTH", "0",
                "stagger: STAGGER_DEPTH=0 is ignored: expected a number from 1 to 16\n"),
           says("STAGGER_DEPTH", "17",
                "stagger: STAGGER_DEPTH=17 is ignored: expected a number from 1 to 16\n"),
           says("STAGGER_DEPTH", "1k",
                "stagger: STAGGER_DEPTH=1k is ignored: expected a number from 1 to 16\n"),
           says("STAGGER_QUIET", "yes", "stagger: STAGGER_QUIET=yes is ignored: expected 0 or 1\n"),
           says("STAGGER_QUIET", "\xff\033[2J",
                "stagger: STAGGER_QUIET=??[2J is ignored: expected 0 or 1\n"));
}

TEST("a variable with a misspelt prefix is named, and others are left alone")
{
    EXPECT(says("STAGER_RULES", "*=mpich",
                "stagger: unknown variable STAGER_RULES has no effect; the nearest known name is "
                "STAGGER_RULES\n"),
           unsetenv("STAGER_RULES") == 0, says("STAGING", "x", ""), says("STAGE_DIR", "x", ""));
}

TEST("a malformed value leaves the default")
{
    struct sg_config config;
    char *log = READ(&config, "STAGGER_DEPTH", "17", "STAGGER_TRACE", "?");

    EXPECT(config.depth == 1, config.trace == SG_TRACE_OTF2, config.from_environment == 0);
    free(log);
    sg_config_clear(&config);
}

TEST("very long values are handled safely, and a path too long is refused")
{
    struct sg_config config;
    char *value = malloc(100001);

    memset(value, 'x', 100000);
    value[100000] = '\0';
    char *log = READ(&config, "STAGGER_DIR", value, "STAGGER_RULES", value);
    EXPECT(text_is(config.directory, ""),
           strstr(log, "xxx... is ignored: expected a path of at most 3500 bytes\n") != NULL,
           strchr(log, '\n') == log + strlen(log) - 1, strlen(config.rules[0].text) == 100000);
    free(log);
    sg_config_clear(&config);
    value[3500] = '\0';
    log = READ(&config, "STAGGER_DIR", value);
    EXPECT(text_is(config.directory, value), text_is(log, ""));
    free(log);
    sg_config_clear(&config);
    free(value);
}

TEST("an unknown variable gets one line with the nearest name")
{
    char name[300];

    EXPECT(says("STAGGER_TRCE", "x",
                "stagger: unknown variable STAGGER_TRCE is ignored; the nearest known name is "
                "STAGGER_TRACE\n"),
           says("STAGGER_ALL_REDUCE", "x",
                "stagger: unknown variable STAGGER_ALL_REDUCE is ignored; the nearest known "
                "name is STAGGER_ALLREDUCE\n"),
           says("STAGGER_SIT_3f2a9c1b", "x",
                "stagger: unknown variable STAGGER_SIT_3f2a9c1b is ignored; the nearest known "
                "name is STAGGER_SITE_<id>\n"),
           says("STAGGER_", "x",
                "stagger: unknown variable STAGGER_ is ignored; the nearest known name is "
                "STAGGER_DIR\n"),
           says("STAGGER_SITE_3f2a9c1", "mpich",
                "stagger: STAGGER_SITE_3f2a9c1 is ignored: expected 8 hex digits after "
                "STAGGER_SITE_\n"),
           says("STAGGERED", "x", ""));
    snprintf(name, sizeof name, "STAGGER_%0250d", 7);
    EXPECT(says(name, "x",
                "stagger: unknown variable STAGGER_00000000000000000000000000000000000000000000"
                "000000000000000000000000... is ignored; the nearest known name is "
                "STAGGER_TRACE\n"));
}

TEST("quiet parsing prints nothing")
{
    struct capture capture;
    struct sg_config config;

    clear_environment();
    setenv("STAGGER_NONSENSE", "1", 1);
    setenv("STAGGER_DEPTH", "x", 1);
    setenv("STAGGER_CONFIG", "/nonexistent", 1);
    capture_begin(&capture);
    EXPECT(sg_config_read(&config, false) == SG_OK);
    char *log = capture_end(&capture);
    EXPECT(text_is(log, ""));
    free(log);
    sg_config_clear(&config);
    clear_environment();
}

TEST("the command line can check a single value")
{
    struct capture capture;

    capture_begin(&capture);
    EXPECT(sg_config_check("--trace", "STAGGER_TRACE", "stats") == SG_OK,
           sg_config_check("--trace", "STAGGER_TRACE", "all") == SG_ERR_SYNTAX,
           sg_config_check("--output", "STAGGER_DIR", "") == SG_ERR_SYNTAX,
           sg_config_check("x", "STAGGER_RULES", "x") == SG_ERR_ARGUMENT);
    char *log = capture_end(&capture);
    EXPECT(text_is(log, "stagger: --trace 'all': expected otf2, stats or off\n"
                        "stagger: --output '': expected a path of at most 3500 bytes\n"));
    free(log);
}
