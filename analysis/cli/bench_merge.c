/* stagger bench-merge FILE...: several launches of stagger-bench as one. */
#include "bench/merge.h"
#include "cli/command.h"

#include <getopt.h>

enum { EXIT_INPUT = 1, EXIT_USAGE = 2 };

#define USAGE "stagger bench-merge [--json] FILE..."

static void print_help(void)
{
    puts("Usage: " USAGE "\n"
         "\n"
         "Pools the samples of several launches of stagger-bench --json --samples, of one command "
         "on as\n"
         "many ranks: rows of the same thing become one, with the spread between the launches.\n"
         "\n"
         "  -j, --json  print JSON (docs/bench-json.md)\n"
         "  -h, --help  this text");
}

int sg_command_bench_merge(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    bool json = false;
    json_t *merged;
    int option;

    opterr = 0;
    optind = 0; /* begins anew, whatever parsed before */
    while ((option = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
        if (option == 'h') {
            print_help();
            return 0;
        }
        if (option != 'j') {
            sg_log("bench-merge: unknown option %s (" USAGE ")", argv[optind - 1]);
            return EXIT_USAGE;
        }
        json = true;
    }
    if (optind == argc) {
        sg_log("bench-merge: no files (" USAGE ")");
        return EXIT_USAGE;
    }
    if (sg_bench_merge(argv + optind, argc - optind, &merged) != SG_OK)
        return EXIT_INPUT;
    if (json) {
        json_dumpf(merged, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        putchar('\n');
    } else {
        sg_bench_merge_print(merged, stdout);
    }
    json_decref(merged);
    return 0;
}
