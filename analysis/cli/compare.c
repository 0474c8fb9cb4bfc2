/* stagger compare: options, then read the runs, compare, print. */
#include "cli/command.h"
#include "cli/runs.h"
#include "cli/usage.h"
#include "compare/columns.h"
#include "core/status.h"
#include "output/output_file.h"
#include "page/page.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    bool json, csv;
    enum sg_compare_table table; /* as CSV */
    const char *html;            /* NULL: no page */
    const struct sg_column *sort;
    uint32_t top; /* 0: all */
    struct sg_run_paths sides[2];
    char *newest[2]; /* where none are named: A and B */
};

static const char text[] =
    "Compares two runs call site by call site: time blocked, time waiting and processor time per "
    "call in A and in B, the difference with its 95% interval, and whether it is more than "
    "noise.\n\n"
    "A and B are directories that a run wrote, or paths of OTF2 archives (traces.otf2). With "
    "several runs a side (A1 A2 -- B1 B2) figures are means over a side's runs and noise is what "
    "differs from run to run. Without A and B: the last but one and the last run in the working "
    "directory.";

static void set_sort(const struct sg_usage *usage, const char *name, void *to)
{
    *(const struct sg_column **)to = sg_usage_column(usage, "field", name, sg_compared_columns);
}

/* Without a name: the rows. */
static void set_csv(const struct sg_usage *usage, const char *name, void *to)
{
    static const char *const tables[SG_COMPARE_TABLES] = {[SG_COMPARE_SITES] = "sites",
                                                          [SG_COMPARE_FUNCTIONS] = "functions",
                                                          [SG_COMPARE_CALLS] = "calls",
                                                          [SG_COMPARE_WAITS] = "waits"};
    struct options *options = to;
    size_t table = SG_COMPARE_SITES;

    while (name != NULL && table < SG_COMPARE_TABLES && strcmp(tables[table], name) != 0)
        table++;
    if (table == SG_COMPARE_TABLES)
        sg_usage_fault(usage, "no table '%s' for CSV; there are: sites functions calls waits",
                       name);
    options->csv = true;
    options->table = (enum sg_compare_table)table;
}

/* Two paths need no "--" between them. behind: those behind it. */
static void divide(const struct sg_usage *usage, const struct sg_arguments *operands,
                   struct sg_run_paths behind, struct sg_run_paths sides[2])
{
    struct sg_run_paths *a = &sides[0], *b = &sides[1];

    *a = (struct sg_run_paths){(const char *const *)operands->words, (uint32_t)operands->count};
    if (a->count == 0)
        *a = behind;
    else
        *b = behind;
    if (b->paths == NULL && a->count > 2)
        sg_usage_fault(usage, "two runs at a time, or several a side: A1 A2 -- B1 B2");
    if (b->paths == NULL && a->count == 2) {
        *b = (struct sg_run_paths){a->paths + 1, 1};
        a->count = 1;
    }
    if (b->count == 0)
        sg_usage_fault(usage, "%s missing", a->count == 0 ? "A and B are" : "B is");
}

static void parse(int argc, char **argv, struct options *options)
{
    const struct sg_command_option table[] = {
        {"json", 'j', NULL, "print JSON (docs/compare-json.md)", &options->json, NULL},
        {"html", 'H', "FILE", "write a page, for a browser", &options->html, NULL},
        {"csv", 'c', "[=TABLE]", "print the rows as CSV, or another table: functions, calls, waits",
         options, set_csv},
        {"sort", 's', "FIELD",
         "sort the rows by this field (default: " SG_COMPARED_COLUMN_DEFAULT ")", &options->sort,
         set_sort},
        {"top", 'n', "N", "print the first N rows only (default: all; 500 in a page's tables)",
         &options->top, sg_usage_set_top},
        {0},
    };
    const struct sg_usage usage = {
        .command = "compare",
        .synopsis = "[OPTION...] A... [--] B...",
        .operand = "A",
        .many = true,
        .text = text,
        .end = "Exit status: 0, 1 where A or B cannot be read, 2 on bad usage.",
        .options = table,
    };
    struct sg_run_paths behind = {0};
    struct sg_arguments operands;

    /* Options may stand between paths: getopt moves these together, and "--" would be lost. */
    for (int i = 1; i < argc && behind.paths == NULL; i++) {
        if (strcmp(argv[i], "--") == 0) {
            behind.paths = (const char *const *)&argv[i + 1];
            behind.count = (uint32_t)(argc - i - 1);
            argc = i;
        }
    }
    operands = sg_usage_read(&usage, argc, argv);
    if (operands.count > 0 || behind.paths != NULL)
        divide(&usage, &operands, behind, options->sides);
    if (options->json && options->csv)
        sg_usage_fault(&usage, "--json and --csv exclude each other");
    if (options->html != NULL && (options->json || options->csv))
        sg_usage_fault(&usage, "--html and --%s exclude each other",
                       options->json ? "json" : "csv");
}

static enum sg_status take_newest(struct options *options)
{
    char *newest[2];
    size_t count = sg_runs_find(".", NULL, 2, newest);

    if (count < 2)
        sg_log("compare: there are not two runs in this directory; name them: stagger compare A B");
    for (size_t i = 0; i < count; i++) {
        char *const *path = &options->newest[1 - i];

        options->newest[1 - i] = newest[i];
        options->sides[1 - i] = (struct sg_run_paths){(const char *const *)path, 1};
    }
    return count == 2 ? SG_OK : SG_ERR_MISSING;
}

/* The rows that are asked for, in their order. */
static enum sg_status read_runs(const struct options *options, struct sg_comparison *out)
{
    enum sg_status status = sg_compare(options->sides, true, out);

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

static enum sg_status print(const struct options *options)
{
    struct sg_comparison comparison;
    enum sg_status status = read_runs(options, &comparison);

    if (status != SG_OK)
        return status;
    if (options->json)
        status = sg_comparison_print_json(&comparison, stdout);
    else if (options->csv)
        status = sg_comparison_print_csv(&comparison, options->table, stdout);
    else
        status = sg_comparison_print_text(&comparison, stdout);
    sg_comparison_clear(&comparison);
    return status;
}

static enum sg_status make_page(const struct options *options)
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
        sg_comparison_clear(&comparison);
    }
    return sg_output_file_close(&file, status);
}

int sg_command_compare(int argc, char **argv)
{
    struct options options = {.sort =
                                  sg_column_find(sg_compared_columns, SG_COMPARED_COLUMN_DEFAULT)};

    enum sg_status status = SG_OK;

    parse(argc, argv, &options);
    if (options.sides[0].count == 0)
        status = take_newest(&options);
    if (status == SG_OK)
        status = options.html != NULL ? make_page(&options) : print(&options);
    for (int i = 0; i < 2; i++)
        free(options.newest[i]);
    return status == SG_OK ? 0 : 1;
}
