/* stagger bench-merge FILE...: several launches of stagger-bench as one. */
#include "bench/merge.h"
#include "cli/command.h"
#include "cli/usage.h"
#include "output/json.h"

int sg_command_bench_merge(int argc, char **argv)
{
    bool json = false;
    const struct sg_command_option table[] = {
        {"json", 'j', NULL, "print JSON (docs/bench-json.md)", &json, NULL}, {0}};
    const struct sg_usage usage = {
        .command = "bench-merge",
        .synopsis = "[--json] FILE...",
        .operand = "FILE",
        .many = true,
        .text = "Pools the samples of several launches of stagger-bench --json --samples, of one "
                "command on as many ranks: rows of the same thing become one, with the spread "
                "between the launches.",
        .options = table,
    };
    struct sg_arguments files = sg_usage_read(&usage, argc, argv);
    json_t *merged;

    if (files.count == 0)
        sg_usage_fault(&usage, "no files");
    if (sg_bench_merge(files.words, files.count, &merged) != SG_OK)
        return 1;
    if (json)
        return sg_json_print(merged, 9, "bench-merge", stdout) == SG_OK ? 0 : 1;
    sg_bench_merge_print(merged, stdout);
    json_decref(merged);
    return 0;
}
