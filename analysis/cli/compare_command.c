/* `stagger compare`: parses options, reads the runs, compares them and prints. This file also finds
 * the output directories of runs, for every command that was given no DIR.
 */
#include "cli/main.h"
#include "compare/compare_calls.h"
#include "compare/run_history.h"
#include "core/file.h"
#include "core/launch.h"
#include "core/room.h"
#include "core/status.h"
#include "core/text.h"
#include "output/format.h"
#include "output/output_file.h"
#include "page/page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Only the newest 64 runs are checked for their launcher: each check reads a file. */
#define ASKED_MAX 64

struct run {
    char *path;
    struct timespec begun;
};

struct runs {
    struct run *of;
    size_t count;
};

static int by_age(const void *first, const void *second)
{
    const struct run *a = first, *b = second;

    if (a->begun.tv_sec != b->begun.tv_sec)
        return a->begun.tv_sec > b->begun.tv_sec ? -1 : 1;
    if (a->begun.tv_nsec != b->begun.tv_nsec)
        return a->begun.tv_nsec > b->begun.tv_nsec ? -1 : 1;
    return strcmp(b->path, a->path);
}

/* malloc'ed; NULL: out of memory. */
static char *path_below(const char *where, const char *name)
{
    char *path;

    if (strcmp(where, ".") == 0)
        return strdup(name);
    return asprintf(&path, "%s/%s", where, name) >= 0 ? path : NULL;
}

/* Takes ownership of the path. */
static void consider(struct runs *runs, char *path)
{
    char *file = path != NULL ? path_below(path, SG_RUN_FILE) : NULL;
    struct stat info;

    if (file == NULL || lstat(file, &info) != 0 || !S_ISREG(info.st_mode) ||
        !SG_APPEND(runs->of, runs->count, ((struct run){path, info.st_mtim})))
        free(path);
    free(file);
}

static bool is_started_by(const char *path, const char *launch)
{
    char line[SG_LAUNCH_BYTES + sizeof SG_LAUNCH_LINE + 64];
    char *name = path_below(path, SG_RUN_FILE);
    size_t prefix = strlen(SG_LAUNCH_LINE);
    bool found = false;
    FILE *file = NULL;
    int descriptor = -1;

    if (name != NULL && sg_file_open(name, O_NOFOLLOW, &descriptor) == 0)
        file = fdopen(descriptor, "r");
    free(name);
    if (file == NULL && descriptor >= 0)
        close(descriptor);
    if (file == NULL)
        return false;
    for (int i = 0; i < 2 && !found && fgets(line, sizeof line, file) != NULL; i++) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, SG_LAUNCH_LINE, prefix) == 0 && strcmp(line + prefix, launch) == 0;
    }
    fclose(file);
    return found;
}

static void collect(const char *where, bool is_among_others, struct runs *runs)
{
    struct dirent *entry;
    DIR *stream;

    consider(runs, strdup(where));
    if (runs->count > 0 && !is_among_others)
        return;
    stream = opendir(where);
    if (stream == NULL)
        return;
    while ((entry = readdir(stream)) != NULL) {
        if (entry->d_name[0] != '.' &&
            (entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN))
            consider(runs, path_below(where, entry->d_name));
    }
    closedir(stream);
    if (runs->count > 0)
        qsort(runs->of, runs->count, sizeof *runs->of, by_age);
}

size_t sg_runs_find(const char *where, const char *launch, size_t wanted, char **paths)
{
    struct runs runs = {0};
    size_t found = 0;

    collect(where, launch != NULL, &runs);
    for (size_t i = 0; i < runs.count; i++) {
        if (found < wanted &&
            (launch == NULL || (i < ASKED_MAX && is_started_by(runs.of[i].path, launch))))
            paths[found++] = runs.of[i].path;
        else
            free(runs.of[i].path);
    }
    free(runs.of);
    return found;
}

char *sg_runs_operand(const struct sg_command_line *line)
{
    const char *argument = sg_options_argument(line);
    char *path = NULL;

    if (argument != NULL) {
        path = strdup(argument);
        if (path == NULL)
            sg_log("%s: %s", line->name + strlen("stagger "), sg_status_text(SG_ERR_MEMORY));
    } else if (sg_runs_find(".", NULL, 1, &path) == 0) {
        sg_log("%s: no run found in this directory; name one: %s DIR",
               line->name + strlen("stagger "), line->name);
    }
    return path;
}

const char *sg_read_column(const struct sg_option *option, const char *text, void *into,
                           char *fault)
{
    const struct sg_column *found = sg_column_find(*option->columns, text);
    char excerpt[SG_EXCERPT_BYTES];
    char *names;

    if (found != NULL) {
        *(const struct sg_column **)sg_option_place(option, into) = found;
        return NULL;
    }
    names = sg_column_names(*option->columns);
    sg_option_fault(fault, ": no column '%s'; there are:%s",
                    sg_text_excerpt(text, strlen(text), excerpt, sizeof excerpt),
                    names != NULL ? names : "");
    free(names);
    return fault;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* With --fail-above 1 means that B failed, and nothing else. Too few runs are bad usage: a gate
 * that judges nothing does not pass. */
enum { EXIT_NOT_JUDGED = 2, EXIT_UNREAD = 3 };

struct options {
    bool json;
    int csv;          /* enum sg_compare_table; -1: no CSV */
    const char *html; /* NULL: no page */
    const struct sg_column *sort;
    uint32_t top; /* 0: all */
    struct sg_gate gate;
    const char *history, *label; /* directory; NULL: no history */
    struct sg_run_paths added;   /* to the history */
    struct sg_run_paths sides[2];
    char *newest[2]; /* the newest two runs, if the command line names none; owned */
};

static const char text[] =
    "Compares two runs call site by call site: time blocked and time waiting per "
    "call in A and in B, the difference with its 95% interval, and whether it exceeds the "
    "noise.\n\n"
    "A and B are output directories of runs, or paths of OTF2 archives (traces.otf2). With several "
    "runs per side (A1 A2 -- B1 B2), figures are means over the runs of a side, and the noise is "
    "the variation between runs. Without A and B: the two newest runs in the working directory, "
    "the older one as A.\n\n"
    "With --history DIR the arguments are runs that are added to the history in DIR, and the "
    "command writes DIR/index.html, a page of all its runs over time, and DIR/badge.svg.\v"
    "Exit status: 0; 1 if a run cannot be read or a file cannot be written; 2 on bad usage. With "
    "--fail-above, which takes three runs per side: 1 if the interval says that B costs more than "
    "A by more than the limit; 2 also if the runs do not suffice to judge; 3 if A or B cannot be "
    "read.";

/* "5%", as 0.05. */
static const char *read_percent(const struct sg_option *option, const char *value, void *into,
                                char *fault)
{
    char *end;
    double percent = strtod(value, &end);

    if (end == value || strcmp(end, "%") != 0 || !(percent >= 0) || percent > (double)option->most)
        return sg_option_wants(fault, "a percentage, such as 5%", value, strlen(value));
    *(double *)sg_option_place(option, into) = percent / 100;
    return NULL;
}

static const char *const tables[] = {
    [SG_COMPARE_SITES] = "sites", [SG_COMPARE_FUNCTIONS] = "functions",
    [SG_COMPARE_CALLS] = "calls", [SG_COMPARE_WAITS] = "waits",
    [SG_COMPARE_RUNS] = "runs",   [SG_COMPARE_TABLES] = NULL};

#define AT(member) offsetof(struct options, member)

static const struct sg_option option_table[] = {
    {"json", 'j', NULL, "print JSON (share/doc/stagger/compare-json.md)", sg_option_flag,
     .at = AT(json), .excludes = "csv html"},
    {"html", 'H', "FILE", "write an HTML page", sg_option_text, .at = AT(html), .excludes = "csv"},
    {"csv", 'c', "TABLE", "print the rows as CSV, or another table: functions, calls, waits, runs",
     sg_option_word, AT(csv), .words = tables, .optional = true},
    {"sort", 's', "FIELD", "sort the rows by this field (default: " SG_COMPARED_COLUMN_DEFAULT ")",
     sg_read_column, AT(sort), .columns = &sg_compared_columns},
    {"top", 'n', "N", "print only the first N rows (default: all; 500 in an HTML table)",
     sg_option_u32, AT(top), .least = 1, .most = UINT32_MAX},
    {"fail-above", 'f', "PERCENT%",
     "exit with 1 if B costs more than A by more than PERCENT%, by the lower end of the 99% "
     "interval; takes 3 runs per side or more",
     read_percent, AT(gate.limit), .most = 1000},
    {"figure", 'F', "FIGURE",
     "what --fail-above compares: run (the run time, the default), waiting or mpi (time of all "
     "ranks)",
     sg_option_word, AT(gate.figure), .words = sg_whole_names, .needs = "fail-above"},
    {"history", 'R', "DIR", "add runs to the history in DIR, and write its page and badge",
     sg_option_text, .at = AT(history), .excludes = "json html csv sort top fail-above"},
    {"label", 'l', "TEXT", "with --history: the name of the added runs, such as a commit",
     sg_option_text, .at = AT(label), .needs = "history"},
    {0}};

/* Splits the arguments into A and B. Two paths need no "--" between them. behind: the paths after
 * "--". */
static void divide(const struct sg_command_line *line, struct sg_run_paths behind,
                   struct sg_run_paths sides[2])
{
    struct sg_run_paths *a = &sides[0], *b = &sides[1];

    *a = (struct sg_run_paths){(const char *const *)line->words, (uint32_t)line->count};
    if (a->count == 0)
        *a = behind;
    else
        *b = behind;
    if (b->paths == NULL && a->count > 2)
        sg_options_fault(line, "takes two runs, or several per side: A1 A2 -- B1 B2");
    if (b->paths == NULL && a->count == 2) {
        *b = (struct sg_run_paths){a->paths + 1, 1};
        a->count = 1;
    }
    if (b->count == 0)
        sg_options_fault(line, "%s missing", a->count == 0 ? "A and B are" : "B is");
}

static void parse(int argc, char **argv, struct options *options)
{
    struct sg_command_line line = {.name = "stagger compare",
                                   .arguments = "A... [--] B...",
                                   .documentation = text,
                                   .tables = {{option_table, options}},
                                   .most = INT_MAX};
    struct sg_run_paths behind = {0};

    /* Options may stand between paths. getopt permutes the arguments and would lose "--". */
    for (int i = 1; i < argc && behind.paths == NULL; i++) {
        if (strcmp(argv[i], "--") == 0) {
            behind.paths = (const char *const *)&argv[i + 1];
            behind.count = (uint32_t)(argc - i - 1);
            argc = i;
        }
    }
    sg_options_read(&line, argc, argv);
    if (options->history != NULL && behind.paths != NULL)
        sg_options_fault(&line, "--history takes runs without --");
    options->added = (struct sg_run_paths){(const char *const *)line.words, (uint32_t)line.count};
    if (options->history == NULL && (line.count > 0 || behind.paths != NULL))
        divide(&line, behind, options->sides);
}

static enum sg_status take_newest(struct options *options)
{
    char *newest[2];
    size_t count = sg_runs_find(".", NULL, 2, newest);

    if (count < 2)
        sg_log("compare: fewer than two runs in this directory; name them: stagger compare A B");
    for (size_t i = 0; i < count; i++) {
        char *const *path = &options->newest[1 - i];

        options->newest[1 - i] = newest[i];
        options->sides[1 - i] = (struct sg_run_paths){(const char *const *)path, 1};
    }
    return count == 2 ? SG_OK : SG_ERR_MISSING;
}

/* Reads the requested rows, in the requested order. */
static enum sg_status read_runs(const struct options *options, struct sg_comparison *out)
{
    enum sg_status status = sg_compare(options->sides, &options->gate, true, out);

    if (status != SG_OK)
        return status;
    status = sg_comparison_sort(out, options->sort);
    if (status == SG_OK) {
        sg_comparison_keep(out, options->top);
    } else {
        sg_log("compare: %s", sg_status_text(status));
        sg_comparison_clear(out);
    }
    return status;
}

/* One line on standard error, which is no part of a table or page. */
static void say(const struct sg_comparison *comparison)
{
    const struct sg_gate *gate = &comparison->gate;
    const char *figure = sg_whole_words[gate->figure];
    uint32_t runs = comparison->run_count[0] < comparison->run_count[1] ? comparison->run_count[0]
                                                                        : comparison->run_count[1];
    char wanted[80] = "";

    switch (gate->verdict) {
    case SG_GATE_FEW:
        sg_log("compare: not judged: --fail-above takes %u runs per side (A has %u, B has %u): "
               "stagger compare --fail-above %g%% A1 A2 A3 -- B1 B2 B3",
               SG_GATE_RUNS_MIN, comparison->run_count[0], comparison->run_count[1],
               100 * gate->limit);
        return;
    case SG_GATE_UNKNOWN:
        sg_log("compare: not judged: a run has no figure of %s", figure);
        return;
    default:
        if (gate->verdict == SG_GATE_PASS && gate->wanted > runs)
            snprintf(wanted, sizeof wanted, "; about %u runs per side would show twice the limit",
                     gate->wanted);
        sg_log("compare: %s: %s in B %+.1f%%, 99%% interval %+.1f%% to %+.1f%%: %s %g%%%s",
               sg_gate_names[gate->verdict], figure, 100 * gate->change, 100 * gate->low,
               100 * gate->high, gate->verdict == SG_GATE_FAIL ? "above" : "not certainly above",
               100 * gate->limit, wanted);
    }
}

/* Clears the comparison. */
static void conclude(struct sg_comparison *comparison, enum sg_gate_verdict *verdict)
{
    if (comparison->gate.limit >= 0)
        say(comparison);
    *verdict = comparison->gate.verdict;
    sg_comparison_clear(comparison);
}

static enum sg_status print(const struct options *options, enum sg_gate_verdict *verdict)
{
    struct sg_comparison comparison;
    enum sg_status status = read_runs(options, &comparison);

    if (status != SG_OK)
        return status;
    if (options->json)
        status = sg_comparison_print_json(&comparison, stdout);
    else if (options->csv >= 0)
        status = sg_comparison_print_csv(&comparison, (enum sg_compare_table)options->csv, stdout);
    else
        status = sg_comparison_print_text(&comparison, stdout);
    conclude(&comparison, verdict);
    return status;
}

static enum sg_status make_page(const struct options *options, enum sg_gate_verdict *verdict)
{
    struct sg_output_file file;
    struct sg_comparison comparison;
    enum sg_status status = sg_output_file_open(options->html, &file);

    if (status != SG_OK)
        return status;
    status = read_runs(options, &comparison);
    if (status == SG_OK) {
        status = sg_page_write_comparison(
            &comparison, options->top != 0 ? options->top : SG_PAGE_ROWS, file.stream);
        conclude(&comparison, verdict);
    }
    return sg_output_file_close(&file, status);
}

/* ---- the history ----------------------------------------------------------------------------- */

/* Opens a file of the history, which another user's link must not turn into another file. */
static enum sg_status open_in(const char *directory, const char *name, char path[PATH_MAX],
                              struct sg_output_file *out)
{
    struct stat info;

    if (snprintf(path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX) {
        sg_log("%s: %s", directory, strerror(ENAMETOOLONG));
        return SG_ERR_SYSTEM;
    }
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        sg_log("%s: no regular file", path);
        return SG_ERR_SYSTEM;
    }
    return sg_output_file_open(path, out);
}

static enum sg_status write_history(const char *directory, const struct sg_run_history *history)
{
    struct sg_output_file file;
    char path[PATH_MAX];
    enum sg_status status = open_in(directory, "index.html", path, &file);

    if (status == SG_OK)
        status = sg_output_file_close(&file, sg_page_write_history(history, file.stream));
    if (status == SG_OK)
        status = open_in(directory, "badge.svg", path, &file);
    if (status != SG_OK)
        return status;
    sg_page_write_badge(history, file.stream);
    return sg_output_file_close(&file, SG_OK);
}

static enum sg_status keep_history(const struct options *options)
{
    struct sg_run_history history;
    enum sg_status status = SG_OK;

    if (mkdir(options->history, 0777) != 0 && errno != EEXIST) {
        sg_log("%s: %m", options->history);
        return SG_ERR_SYSTEM;
    }
    for (uint32_t i = 0; i < options->added.count && status == SG_OK; i++)
        status = sg_run_history_add(options->history, options->added.paths[i], options->label);
    if (status == SG_OK)
        status = sg_run_history_read(options->history, &history);
    if (status != SG_OK)
        return status;
    status = write_history(options->history, &history);
    if (status == SG_OK) {
        sg_format_put(options->history, stdout);
        printf("/index.html and badge.svg: %u run%s\n", history.count,
               history.count == 1 ? "" : "s");
    }
    sg_run_history_clear(&history);
    return status;
}

int sg_command_compare(int argc, char **argv)
{
    struct options options = {.csv = -1,
                              .sort =
                                  sg_column_find(sg_compared_columns, SG_COMPARED_COLUMN_DEFAULT),
                              .gate = {.limit = -1}};
    enum sg_gate_verdict verdict = SG_GATE_UNKNOWN;
    enum sg_status status = SG_OK;

    parse(argc, argv, &options);
    if (options.history != NULL)
        return keep_history(&options) == SG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
    if (options.sides[0].count == 0)
        status = take_newest(&options);
    if (status == SG_OK)
        status = options.html != NULL ? make_page(&options, &verdict) : print(&options, &verdict);
    for (int i = 0; i < 2; i++)
        free(options.newest[i]);
    if (status != SG_OK)
        return options.gate.limit >= 0 ? EXIT_UNREAD : EXIT_FAILURE;
    if (options.gate.limit >= 0 && (verdict == SG_GATE_FEW || verdict == SG_GATE_UNKNOWN))
        return EXIT_NOT_JUDGED;
    return verdict == SG_GATE_FAIL ? EXIT_FAILURE : EXIT_SUCCESS;
}
