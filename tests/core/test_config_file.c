/* Tests configuration files and the text form of a configuration: precedence, faults, and any
 * bytes. */
#include "core/config_support.h"
#include "trace/record.h"

#include <sys/stat.h>

/* The log of reading one file; the path is in no line but by its base name. */
static bool file_says(const char *content, const char *expected)
{
    struct sg_config config;

    return is_said(&config, read_file_with(&config, content), expected);
}

static const char *write_text(const char *content)
{
    return write_file(content, strlen(content));
}

static bool rule_is(const struct sg_config *config, int index, enum sg_config_rule_kind kind,
                    const char *name, const char *source, const char *text)
{
    const struct sg_config_rule *rule = &config->rules[index];

    return index < config->rule_count && rule->kind == kind && strcmp(rule->name, name) == 0 &&
           strcmp(rule->source, source) == 0 && strcmp(rule->text, text) == 0;
}

/* ---- rules and files -------------------------------------------------------------------------*/

TEST("rules are ordered by source: sites, RULES, the file, short variables")
{
    struct sg_config config;
    const char *path = write_text("reduce=file1\n"
                                  "STAGGER_REDUCE=filereduce\n"
                                  "STAGGER_BARRIER=filebarrier\n"
                                  "STAGGER_RULES=filerules\n"
                                  "STAGGER_SITE_00000002=filesite2\n"
                                  "STAGGER_SITE_00000001=filesite1\n"
                                  "reduce=file2\n");
    char *log = READ(&config, "STAGGER_REDUCE", "envreduce", "STAGGER_RULES", "envrules",
                     "STAGGER_SITE_0000000F", "envsitef", "STAGGER_SITE_00000001", "envsite1",
                     "STAGGER_CONFIG", path);

    EXPECT(
        text_is(log, ""), config.rule_count == 9,
        rule_is(&config, 0, SG_CONFIG_RULE_SITE, "STAGGER_SITE_00000001", "STAGGER_SITE_00000001",
                "envsite1"),
        rule_is(&config, 1, SG_CONFIG_RULE_SITE, "STAGGER_SITE_00000002",
                "stagger.conf:5 STAGGER_SITE_00000002", "filesite2"),
        rule_is(&config, 2, SG_CONFIG_RULE_SITE, "STAGGER_SITE_0000000f", "STAGGER_SITE_0000000f",
                "envsitef"),
        rule_is(&config, 3, SG_CONFIG_RULE_RULES, "STAGGER_RULES", "STAGGER_RULES", "envrules"),
        rule_is(&config, 4, SG_CONFIG_RULE_RULES, "STAGGER_RULES", "stagger.conf:4 STAGGER_RULES",
                "filerules"),
        rule_is(&config, 5, SG_CONFIG_RULE_FILE, "", "stagger.conf:1", "reduce=file1"),
        rule_is(&config, 6, SG_CONFIG_RULE_FILE, "", "stagger.conf:7", "reduce=file2"),
        rule_is(&config, 7, SG_CONFIG_RULE_SHORT, "STAGGER_REDUCE", "STAGGER_REDUCE", "envreduce"),
        rule_is(&config, 8, SG_CONFIG_RULE_SHORT, "STAGGER_BARRIER",
                "stagger.conf:3 STAGGER_BARRIER", "filebarrier"));
    free(log);
    sg_config_clear(&config);
}

TEST("the environment overrides the file, but not with a malformed value")
{
    struct sg_config config;
    const char *path = write_text("STAGGER_DEPTH=3\nSTAGGER_TRACE=off\n");
    char *log = READ(&config, "STAGGER_DEPTH", "5", "STAGGER_CONFIG", path);

    EXPECT(text_is(log, ""), config.depth == 5, config.trace == SG_TRACE_OFF,
           text_is(config.config_file, path), __builtin_popcountll(config.from_environment) == 2,
           __builtin_popcountll(config.from_file) == 1);
    free(log);
    sg_config_clear(&config);
    path = write_text("STAGGER_DEPTH=3\n");
    log = READ(&config, "STAGGER_DEPTH", "none", "STAGGER_CONFIG", path);
    EXPECT(config.depth == 3);
    free(log);
    sg_config_clear(&config);
}

TEST("a file holds rules, values, quoted values and comments")
{
    struct sg_config config;
    char *log = read_file_with(&config, "\xef\xbb\xbf# a comment\r\n"
                                        "\r\n"
                                        "  reduce=mpich   # behind a rule\r\n"
                                        "a#b=mpich\n"
                                        "  STAGGER_DEPTH = 7 # behind a value\r\n"
                                        "STAGGER_DIR=\"a # \\\"b\\\" \\\\ \\x41\\t\" # comment\n"
                                        "\t# indented\n"
                                        "STAGGER_TRACE=\n"
                                        "STAGGER_QUIET=1");

    EXPECT(text_is(log, ""), config.rule_count == 2,
           rule_is(&config, 0, SG_CONFIG_RULE_FILE, "", "stagger.conf:3", "  reduce=mpich"),
           rule_is(&config, 1, SG_CONFIG_RULE_FILE, "", "stagger.conf:4", "a#b=mpich"),
           config.depth == 7, text_is(config.directory, "a # \"b\" \\ A\t"),
           config.trace == SG_TRACE_OTF2, config.quiet);
    free(log);
    sg_config_clear(&config);
}

TEST("a faulty line of the file is reported in one line with its number")
{
    EXPECT(file_says("\nSTAGGER_TRACE otf2\n",
                     "stagger: stagger.conf:2: expected '=' after STAGGER_TRACE; ignoring "
                     "the line\n"),
           file_says("STAGGER_TRACE=none",
                     "stagger: stagger.conf:1: STAGGER_TRACE=none is ignored: expected otf2, "
                     "stats or off\n"),
           file_says("STAGGER_DIR=\"abc",
                     "stagger: stagger.conf:1: the closing '\"' of STAGGER_DIR is missing; "
                     "ignoring the line\n"),
           file_says("STAGGER_DIR=\"abc\\",
                     "stagger: stagger.conf:1: expected \\\\, \\\", \\n, \\r, \\t or \\xHH in "
                     "the value of STAGGER_DIR; ignoring the line\n"),
           file_says("STAGGER_DIR=\"\\x4\"",
                     "stagger: stagger.conf:1: expected \\\\, \\\", \\n, \\r, \\t or \\xHH in "
                     "the value of STAGGER_DIR; ignoring the line\n"),
           file_says("STAGGER_DIR=\"\\x00\"",
                     "stagger: stagger.conf:1: expected \\\\, \\\", \\n, \\r, \\t or \\xHH in "
                     "the value of STAGGER_DIR; ignoring the line\n"),
           file_says("STAGGER_DIR=\"a\" b",
                     "stagger: stagger.conf:1: expected the end of the line after the closing "
                     "'\"' of STAGGER_DIR; ignoring the line\n"),
           file_says("STAGGER_DEPTH=2\nSTAGGER_DEPTH=3",
                     "stagger: stagger.conf:2: STAGGER_DEPTH is set twice; the first value "
                     "applies\n"),
           file_says("STAGGER_SITE_0000000a=x\nSTAGGER_SITE_0000000A=y",
                     "stagger: stagger.conf:2: STAGGER_SITE_0000000a is set twice; the first "
                     "value applies\n"),
           file_says("STAGGER_CONFIG=other.conf",
                     "stagger: stagger.conf:1: STAGGER_CONFIG is ignored: a configuration file "
                     "cannot name another\n"),
           file_says("STAGGER_DEPHT=1",
                     "stagger: stagger.conf:1: unknown variable STAGGER_DEPHT is ignored; the "
                     "nearest known name is STAGGER_DEPTH\n"));
}

TEST("an unreadable file is reported in one line")
{
    struct sg_config config;
    char path[200];

    EXPECT(
        says("STAGGER_CONFIG", "/nonexistent/stagger.conf",
             "stagger: STAGGER_CONFIG=/nonexistent/stagger.conf is ignored: No such file or "
             "directory\n"),
        says("STAGGER_CONFIG", "/", "stagger: STAGGER_CONFIG=/ is ignored: not a regular file\n"));
    snprintf(path, sizeof path, "%s/fifo", unit_directory());
    EXPECT(mkfifo(path, 0600) == 0);
    char *log = READ(&config, "STAGGER_CONFIG", path);
    EXPECT(strstr(log, "/fifo is ignored: not a regular file\n") != NULL);
    free(log);
    sg_config_clear(&config);
    log = READ(&config, "STAGGER_CONFIG", write_file("reduce=mpich\n\0\n", 15));
    EXPECT(strstr(log, "/stagger.conf is ignored: not a text file\n") != NULL,
           config.rule_count == 0);
    free(log);
    sg_config_clear(&config);
}

TEST("huge files and files of very many lines are handled safely")
{
    struct sg_config config;
    size_t size_bytes = (1 << 20) + 1;
    char *content = malloc(size_bytes);

    memset(content, 'x', size_bytes);
    char *log = READ(&config, "STAGGER_CONFIG", write_file(content, size_bytes));
    EXPECT(strstr(log, "/stagger.conf is ignored: larger than 1 MiB\n") != NULL);
    free(log);
    sg_config_clear(&config);

    log = READ(&config, "STAGGER_CONFIG", write_file(content, size_bytes - 1));
    EXPECT(text_is(log, ""), config.rule_count == 1);
    free(log);
    sg_config_clear(&config);

    for (size_t i = 0; i < size_bytes; i++)
        content[i] = i % 2 ? '\n' : 'x';
    log = READ(&config, "STAGGER_CONFIG", write_file(content, size_bytes - 1));
    EXPECT(config.rule_count == 4096,
           strstr(log, "stagger: stagger.conf:4097: more than 4096 rules; ignoring "
                       "this one\n") == log,
           strstr(log, "more errors in the configuration\n") != NULL);
    free(log);
    sg_config_clear(&config);
    free(content);
}

/* ---- text ------------------------------------------------------------------------------------*/

static bool same_rules(const struct sg_config *a, const struct sg_config *b)
{
    if (a->rule_count != b->rule_count)
        return false;
    for (int i = 0; i < a->rule_count; i++) {
        if (a->rules[i].kind != b->rules[i].kind ||
            strcmp(a->rules[i].name, b->rules[i].name) != 0 ||
            strcmp(a->rules[i].text, b->rules[i].text) != 0)
            return false;
    }
    return true;
}

static bool same_values(const struct sg_config *a, const struct sg_config *b)
{
    return a->trace == b->trace && strcmp(a->directory, b->directory) == 0 &&
           a->trace_bytes == b->trace_bytes && a->depth == b->depth && a->quiet == b->quiet &&
           same_rules(a, b);
}

/* Through sg_config_parse and through STAGGER_CONFIG, and the text of both is the same. */
static bool survives(const struct sg_config *config)
{
    char *text = sg_config_text(config);
    struct sg_config parsed, from_file;

    if (sg_config_parse(text, &parsed) != SG_OK)
        return false;
    char *log = read_file_with(&from_file, text);
    char *text2 = sg_config_text(&parsed);
    bool same = same_values(config, &parsed) && same_values(config, &from_file) && *log == '\0' &&
                strcmp(text, text2) == 0;
    if (!same)
        printf("# %s# %s", log, text);
    sg_config_clear(&parsed);
    sg_config_clear(&from_file);
    free(text);
    free(text2);
    free(log);
    return same;
}

TEST("the text of a configuration has every setting")
{
    struct sg_config config;
    char *log = read_with(&config, (const char *const[]){NULL, NULL});
    char *text = sg_config_text(&config);

    EXPECT(text_is(text, "# The configuration in force; STAGGER_CONFIG accepts this "
                         "file.\n"
                         "STAGGER_TRACE=otf2\n"
                         "STAGGER_DIR=\n"
                         "STAGGER_TRACE_BYTES=64m\n"
                         "STAGGER_CALLS=\n"
                         "STAGGER_EVENTS=\n"
                         "STAGGER_CAUSES=sample\n"
                         "STAGGER_DEPTH=1\n"
                         "STAGGER_QUIET=0\n"
                         "STAGGER_CALIBRATE=1\n"
                         "STAGGER_RANKS_PER_NODE=0\n"
                         "STAGGER_SETUP_AFTER=16\n"
                         "STAGGER_SLOTS=8\n"
                         "STAGGER_COUNT_FROM=0\n"
                         "STAGGER_MEMORY=256m\n"
                         "STAGGER_SINGLE_COPY=auto\n"
                         "STAGGER_WAIT=auto\n"
                         "STAGGER_WAIT_HOOK=auto\n"
                         "STAGGER_STALL_S=30\n"
                         "STAGGER_PROGRESS=thread\n"
                         "STAGGER_SIGNAL=42\n"
                         "STAGGER_VERBS_DEVICE=\n"
                         "STAGGER_VERBS_PORT=auto\n"
                         "STAGGER_VERBS_GID_INDEX=auto\n"
                         "STAGGER_VERBS_PARTITION=auto\n"
                         "STAGGER_VERBS_SERVICE_LEVEL=0\n"
                         "STAGGER_VERBS_TRAFFIC_CLASS=0\n"
                         "STAGGER_VERBS_MTU=auto\n"
                         "STAGGER_VERBS_MULTICAST=auto\n"
                         "STAGGER_VERBS_SENDERS=16\n"
                         "STAGGER_VERBS_MEMORY=256m\n"
                         "STAGGER_MMDS=off\n"
                         "STAGGER_MMDS_RANKS=\n"
                         "STAGGER_MMDS_CALLS=\n"
                         "STAGGER_MMDS_BINS=4\n"
                         "STAGGER_EMDS=off\n"
                         "STAGGER_EMDS_NODES=\n"
                         "STAGGER_EMDS_METRICS=\n"
                         "STAGGER_EMDS_SLICES=\n"
                         "STAGGER_EMDS_EVERY=1\n"
                         "STAGGER_TRIAL_BLOCK=32\n"
                         "STAGGER_TRIAL_SEED=1\n"),
           survives(&config));
    free(text);
    free(log);
    sg_config_clear(&config);
}

TEST("odd characters survive the text form")
{
    struct sg_config config;
    const char *path = write_text("  reduce@a\\ b#c=mpich # x\n*=nonsense;;\n");
    char *log = READ(&config, "STAGGER_DIR", " \"a\" #\\\n\t\x01\x7f\xff\xc3\xbc ",
                     "STAGGER_TRACE_BYTES", "1048577", "STAGGER_RULES", "reduce=mpich\n;\r#=\\",
                     "STAGGER_SITE_deadbeef", "\"mpich", "STAGGER_BARRIER", " mpich ",
                     "STAGGER_REDUCE", "mpich\\", "STAGGER_CONFIG", path);

    EXPECT(text_is(log, ""), config.rule_count == 6, survives(&config));
    free(log);
    sg_config_clear(&config);
}

TEST("random values survive the text form")
{
    unsigned seed = 11;

    for (int round = 0; round < 500; round++) {
        char values[3][40];
        struct sg_config config;

        for (int i = 0; i < 3; i++) {
            int length = rand_r(&seed) % 39;

            for (int at = 0; at < length; at++)
                values[i][at] = (char)(1 + rand_r(&seed) % 255);
            values[i][length] = '\0';
        }
        char *log = READ(&config, "STAGGER_DIR", values[0], "STAGGER_RULES", values[1],
                         "STAGGER_SITE_00000001", values[2]);
        bool survived = survives(&config);
        free(log);
        sg_config_clear(&config);
        EXPECT(survived);
        if (!survived)
            return;
    }
}

/* ---- any bytes -------------------------------------------------------------------------------*/

TEST("any text parses, and its text form is stable")
{
    static const char *const pieces[] = {
        "STAGGER_", "RULES",    "TRACE", "DIR", "=",   "\"",  "\\",     "\n", "#",  " ", "\xc3\xbc",
        "SITE_",    "3f2a9c1b", "BYTES", "_",   "64m", "\\x", "reduce", "@",  "\r", "1", "\xff"};
    unsigned seed = 3;
    int stable = 0;
    int rounds = 100000 / unit_step();

    for (int round = 0; round < rounds; round++) {
        char text[400] = "";
        struct sg_config config, again;

        for (int i = rand_r(&seed) % 24; i > 0; i--) {
            if (rand_r(&seed) % 8 == 0)
                snprintf(text + strlen(text), 2, "%c", 1 + rand_r(&seed) % 255);
            else
                strcat(text, pieces[(size_t)rand_r(&seed) % (sizeof pieces / sizeof *pieces)]);
        }
        if (sg_config_parse(text, &config) != SG_OK)
            break;
        char *first = sg_config_text(&config);
        if (sg_config_parse(first, &again) != SG_OK)
            break;
        char *second = sg_config_text(&again);
        stable += strcmp(first, second) == 0;
        free(first);
        free(second);
        sg_config_clear(&config);
        sg_config_clear(&again);
    }
    EXPECT(stable == rounds);
}

TEST("any file is handled safely")
{
    unsigned seed = 5;

    for (int round = 0; round < 500; round++) {
        char content[300];
        size_t length = (size_t)rand_r(&seed) % sizeof content;
        struct sg_config config;

        for (size_t i = 0; i < length; i++)
            content[i] = (char)rand_r(&seed);
        const char *path = write_file(content, length);
        setenv("STAGGER_CONFIG", path, 1);
        ASSERT(sg_config_read(&config, false) == SG_OK);
        sg_config_clear(&config);
    }
    clear_environment();
}
