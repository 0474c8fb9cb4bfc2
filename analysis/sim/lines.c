/* stagger sim lines: small collectives among many ranks of a node, as transfers of cache lines. */
#include "sim/model/lines.h"
#include "sim/commands.h"
#include "sim/output.h"

static const char documentation[] =
    "Computes what a barrier or a small allreduce takes among many ranks of one node, by transfers "
    "of cache lines between cores, and prints for each number of ranks and each shape the times "
    "(ns) from the last rank's arrival to the last one's end: when all come at once, and when one "
    "comes long after the others.\v"
    "Exit status: 0, 1 on bad input, 2 on bad usage.";

#define RANKS_MOST 512
#define GROUPS 4 /* of 4, 8, 16 and 32 ranks */
#define CASES (SG_LINES_SHAPES - 1 + GROUPS)

struct options {
    struct sg_sim_common common;
    int machine;
    struct sg_numbers ranks;
    double serve_ns, overlap; /* 0: the machine's */
};

#define AT(member) offsetof(struct options, member)

static const struct sg_option option_table[] = {
    {"machine", 'm', "milan|icelake", "whose cores they are (default: milan)", sg_option_word,
     AT(machine), .words = sg_lines_machine_names},
    {"ranks", 'n', "N,...", "numbers of ranks (default: 4,8,16,32,64,128)", sg_option_wholes,
     AT(ranks), .least = 2, .most = RANKS_MOST},
    {"serve", 0, "NS", "how long a line is busy with a reader (default: 10)", sg_option_real,
     AT(serve_ns), .most = 1000},
    {"overlap", 0, "N", "how many lines that are there a core fetches at once (default: 4)",
     sg_option_real, AT(overlap), .most = 64},
    {0}};

/* Case number i: the ranks vary most slowly; groups come last. */
static struct sg_lines_case case_of(const struct options *options,
                                    const struct sg_lines_machine *machine, int i)
{
    static const enum sg_lines_shape shapes[] = {SG_LINES_FLAT, SG_LINES_CLIMB, SG_LINES_ROUNDS};
    int shape = i % CASES;
    struct sg_lines_case one = {.machine = machine,
                                .ranks = (int)options->ranks.list[i / CASES],
                                .shape = SG_LINES_GROUPS,
                                .group = 4 << (shape - SG_LINES_SHAPES + 1)};

    if (shape < SG_LINES_SHAPES - 1) {
        one.shape = shapes[shape];
        one.group = 0;
    }
    return one;
}

static enum sg_status measure_row(const void *of, int i, json_t **row)
{
    const struct options *options = of;
    struct sg_lines_machine machine = sg_lines_machines[options->machine];
    struct sg_lines_case one = case_of(options, &machine, i);
    struct sg_lines_times times;
    enum sg_status status;

    if (options->serve_ns > 0)
        machine.serve_ns = options->serve_ns;
    if (options->overlap > 0)
        machine.overlap = options->overlap;
    status = sg_lines_run(&one, &times);
    if (status == SG_OK)
        *row = json_pack("{s:s, s:i, s:s, s:i, s:o, s:o, s:f, s:f}", "machine", machine.name,
                         "ranks", one.ranks, "shape", sg_lines_shape_names[one.shape], "group",
                         one.group, "at_once_ns", sg_sim_real(times.at_once_ns), "late_ns",
                         sg_sim_real(times.late_ns), "serve_ns", machine.serve_ns, "overlap",
                         machine.overlap);
    return status;
}

static bool check_ranks(const struct options *options)
{
    const struct sg_lines_machine *machine = &sg_lines_machines[options->machine];
    int most = sg_lines_ranks_most(machine);

    for (int i = 0; i < options->ranks.count; i++) {
        if (options->ranks.list[i] > most) {
            sg_log("sim: %s has threads for %d ranks", machine->name, most);
            return false;
        }
    }
    return true;
}

int sg_sim_lines_command(int argc, char **argv)
{
    static char name[] = "stagger sim lines";
    struct options options = {.ranks = {{4, 8, 16, 32, 64, 128}, 6}};
    const struct sg_command_line line = {
        name,
        NULL,
        documentation,
        {{option_table, &options}, {sg_sim_format_options, &options.common}},
        NULL};

    if (!sg_options_read(&line, argc, argv))
        return SG_OPTIONS_USAGE;
    if (!check_ranks(&options))
        return 1;
    return sg_sim_print_rows("lines", "shapes", &options.common, options.ranks.count * CASES,
                             measure_row, &options);
}
