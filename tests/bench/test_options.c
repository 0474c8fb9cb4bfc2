/* Tests the command line: the options it gives, and one line for each fault in it. */
#include "bench/bench_options.h"
#include "core/capture.h"
#include "lib/unit.h"

#define WORDS_MAX 24

static struct sg_bench_options options;
static char *said;

/* Reads "latency" and the words of the line, for four ranks. */
static enum sg_bench_verdict read_line(const char *line)
{
    char text[400], *argv[WORDS_MAX + 1] = {text};
    int argc = 1;
    struct capture capture;

    snprintf(text, sizeof text, "stagger-bench %s", line);
    for (char *word = strtok(text, " "); (word = strtok(NULL, " ")) != NULL && argc < WORDS_MAX;)
        argv[argc++] = word;
    free(said);
    capture_begin(&capture);
    enum sg_bench_verdict verdict = sg_bench_options_read(argc, argv, 4, &options);
    said = capture_end(&capture);
    return verdict;
}

TEST("without options all collectives are measured with 8 bytes")
{
    ASSERT(read_line("latency") == SG_BENCH_RUN);
    EXPECT(options.operation_count == 4, options.operations[0] == SG_OPERATION_BARRIER,
           options.operations[1] == SG_OPERATION_ALLREDUCE,
           options.operations[2] == SG_OPERATION_REDUCE,
           options.operations[3] == SG_OPERATION_BCAST, options.bytes.count == 1,
           options.bytes.list[0] == 8, options.iterations == 0, options.row_s == 2,
           options.format == SG_BENCH_TEXT, !options.late, options.command == SG_BENCH_LATENCY);
}

/* As the manual page and --help have them. */
TEST("overlap measures barrier and allreduce, with 64 KiB")
{
    ASSERT(read_line("overlap") == SG_BENCH_RUN);
    EXPECT(options.operation_count == 2, options.operations[0] == SG_OPERATION_BARRIER,
           options.operations[1] == SG_OPERATION_ALLREDUCE, options.bytes.count == 1,
           options.bytes.list[0] == 65536, options.test_bytes.count == 3);
}

TEST("processor time measures a reduction with three sizes at 1000 us of skew")
{
    ASSERT(read_line("cpu") == SG_BENCH_RUN);
    EXPECT(options.command == SG_BENCH_CPU, options.operation_count == 1,
           options.operations[0] == SG_OPERATION_REDUCE, options.bytes.count == 3,
           options.bytes.list[0] == 32, options.bytes.list[2] == 1024, options.skews_us.count == 1,
           options.skews_us.list[0] == 1000, options.algorithm_count == 0, !options.late);
    ASSERT(read_line("--skew-us 0,0.5 cpu --elements 1k --algorithms bypass,rules") ==
           SG_BENCH_RUN);
    EXPECT(options.bytes.count == 1, options.bytes.list[0] == 8192, options.skews_us.count == 2,
           options.skews_us.list[0] == 0, options.skews_us.list[1] == 0.5,
           options.algorithm_count == 2,
           text_is(sg_bench_algorithm_name(options.algorithms[0]), "bypass"),
           options.algorithms[1] == SG_BENCH_RULES);
}

TEST("delay measures a barrier and an allreduce, with the last rank late by 1000 us")
{
    ASSERT(read_line("delay") == SG_BENCH_RUN);
    EXPECT(options.command == SG_BENCH_DELAY, options.operation_count == 2,
           options.bytes.list[0] == 1024, options.late_rank == 3, options.skews_us.list[0] == 1000);
    ASSERT(read_line("delay --late 1 --late-us 5,7 --ops allreduce") == SG_BENCH_RUN);
    EXPECT(options.late_rank == 1, options.skews_us.count == 2, options.skews_us.list[1] == 7,
           options.operation_count == 1);
}

TEST("every option sets its field")
{
    ASSERT(read_line("--ops reduce,barrier latency --bytes 8,64k,1M -i 30 -t 0.5 "
                     "--root 3 --json") == SG_BENCH_RUN);
    EXPECT(options.operation_count == 2, options.operations[0] == SG_OPERATION_REDUCE,
           options.operations[1] == SG_OPERATION_BARRIER, options.bytes.count == 3,
           options.bytes.list[1] == 65536, options.bytes.list[2] == 1048576,
           options.iterations == 30, options.row_s == 0.5, options.root == 3,
           options.format == SG_BENCH_JSON);
}

TEST("a late rank selects a measurement of processor time")
{
    ASSERT(read_line("latency --skew-us 1500") == SG_BENCH_RUN);
    EXPECT(options.late, options.skews_us.list[0] == 1500, options.late_rank == 3,
           options.operation_count == 1, options.operations[0] == SG_OPERATION_REDUCE);
    ASSERT(read_line("latency --late 1 --skew-us 10 --ops barrier") == SG_BENCH_RUN);
    EXPECT(options.late_rank == 1, options.operations[0] == SG_OPERATION_BARRIER);
}

TEST("schemes, reductions, arrivals and the comparison's other side can be chosen")
{
    ASSERT(read_line("latency --scheme barrier --reduce span --arrival some:3 "
                     "--skew-us 5,10 --vs tree --seed 7 --csv --plot a.svg") == SG_BENCH_RUN);
    EXPECT(options.scheme == SG_BENCH_BARRIER, options.reduction == SG_BENCH_REDUCE_SPAN,
           options.arrival == SG_BENCH_SOME_LATE, options.late_count == 3,
           options.skews_us.count == 2, !options.late,
           text_is(sg_bench_algorithm_name(options.vs), "tree"), options.seed == 7,
           options.format == SG_BENCH_CSV, text_is(options.plot, "a.svg"));
    ASSERT(read_line("overlap --arrival trace:a.txt --test-bytes 0,4k") == SG_BENCH_RUN);
    EXPECT(text_is(options.arrivals, "a.txt"), options.test_bytes.list[1] == 4096);
    ASSERT(read_line("latency") == SG_BENCH_RUN);
    EXPECT(options.scheme == SG_BENCH_WINDOW, options.reduction == SG_BENCH_REDUCE_MAX,
           options.arrival == SG_BENCH_TOGETHER, options.skews_us.list[0] == 0);
    ASSERT(read_line("cpu") == SG_BENCH_RUN);
    EXPECT(options.arrival == SG_BENCH_UNIFORM);
    ASSERT(read_line("delay --arrival linear") == SG_BENCH_RUN);
    EXPECT(options.skews_us.list[0] == 1000);
}

TEST("each fault gets one line and changes nothing")
{
    static const struct {
        const char *line, *says;
    } faults[] = {
        {"", "a command is missing; there are: latency, cpu, delay"},
        {"speed", "'speed' is not a command"},
        {"latency latency", "unexpected argument 'latency'"},
        {"latency --ops exscan", "not 'exscan'"},
        {"latency --ops barrier,", "not ''"},
        {"latency --ops barrier,barrier", "'barrier' twice"},
        {"latency --bytes 12", "not '12'"},
        {"latency --bytes 0", "not '0'"},
        {"latency --bytes 8x", "not '8x'"},
        {"latency --bytes 8,,16", "not ''"},
        {"latency --bytes 2g", "not '2g'"},
        {"latency --bytes -8", "not '-8'"},
        {"latency --iterations 0", "not '0'"},
        {"latency --iterations 1k", "not '1k'"},
        {"latency --time 0", "not '0'"},
        {"latency --time nan", "not 'nan'"},
        {"latency --time 1e9", "not '1e9'"},
        {"latency --time 2s", "not '2s'"},
        {"latency --root 4", "from 0 to 3, not '4'"},
        {"latency --root -1", "not '-1'"},
        {"latency --late 2", "--late needs --skew-us"},
        {"latency --skew-us 5 --late 4", "from 0 to 3, not '4'"},
        {"latency --skew-us inf", "not 'inf'"},
        {"latency --skew-us 0", "--skew-us wants one number above 0"},
        {"latency --skew-us 5,6", "--skew-us wants one number above 0"},
        {"latency --elements 4", "--elements is not an option of latency"},
        {"--algorithms tree latency --scheme loop",
         "--scheme loop cannot be combined with --arrival"},
        {"latency --late-us 4", "--late-us is not an option of latency"},
        {"cpu latency", "unexpected argument 'latency'"},
        {"cpu --bytes 8", "--bytes is not an option of cpu"},
        {"cpu --late 1", "--late needs --skew-us, or --arrival one"},
        {"cpu --scheme window", "--scheme is not an option of cpu"},
        {"latency --scheme pipelined", "not 'pipelined'"},
        {"latency --reduce mode", "not 'mode'"},
        {"latency --scheme loop --reduce span", "loop cannot be combined with "},
        {"latency --ops gatherv", "alltoall, reduce_scatter, scan, not 'gatherv'"},
        {"latency --ops gather --algorithms tree", "tree runs none of these operations"},
        {"delay --ops scan", "not scan"},
        {"latency --processes 0", "ranks from 1 to 4, ranges such as"},
        {"latency --processes 5", "not '5'"},
        {"latency --processes 3-2", "not '3-2'"},
        {"latency --processes 2-4*1", "not '2-4*1'"},
        {"latency --processes 2-", "not '2-'"},
        {"latency --processes 2,", "not ''"},
        {"latency --processes 2x", "not '2x'"},
        {"latency --processes power", "not 'power'"},
        {"latency --processes 2-3 --root 2", "--root 2 is not among the ranks of --processes 2"},
        {"latency --processes 2 --arrival one --late 3", "--late 3 is not among"},
        {"latency --processes 2 --arrival some:3", "some:3 has more ranks than --processes 2"},
        {"latency --processes 2 --arrival trace:x",
         "--processes cannot be combined with --arrival trace"},
        {"clock --processes 2", "--processes is not an option of clock"},
        {"latency --cold --scheme loop", "--cold measures single calls"},
        {"latency --cold --skew-us 4", "--cold measures single calls"},
        {"latency --arrival gamma", "not 'gamma'"},
        {"latency --arrival some", "not 'some'"},
        {"latency --arrival some:5", "from 1 to 4, not '5'"},
        {"latency --arrival one:2", "not 'one:2'"},
        {"latency --arrival trace:", "wants a file"},
        {"latency --vs openmpi", "--vs wants pmpi, one of rules, "},
        {"latency --vs barrier=openmpi", "bench: --vs, column 9: "},
        {"latency --vs *~x=srm", "--vs: a rule cannot name a communicator here"},
        {"latency --seed x", "not 'x'"},
        {"latency --samples", "--samples needs --json"},
        {"latency --plot figure.png", "ends in .svg"},
        {"latency --busy", "--busy is not an option of latency"},
        {"overlap --test-bytes 4k,x", "not 'x'"},
        {"overlap --late-us 4", "--late-us is not an option of overlap"},
        {"clock --ops barrier", "--ops is not an option of clock"},
        {"noise --each", "--each is not an option of noise"},
        {"noise --quantum-us 0", "not '0'"},
        {"cpu --skew-us 5,", "not ''"},
        {"cpu --skew-us 5,nan", "not 'nan'"},
        {"cpu --elements 0", "not '0'"},
        {"cpu --elements 4,x", "not 'x'"},
        {"cpu --algorithms mpich", "not 'mpich'"},
        {"cpu --algorithms rules,", "not ''"},
        {"cpu --algorithms tree,tree", "'tree' twice"},
        {"cpu --algorithms pairwise", "pairwise runs none of these operations"},
        {"cpu --ops barrier --algorithms pairwise", "pairwise runs none of these operations"},
        {"delay --ops barrier,reduce",
         "delay measures only operations in which all ranks wait: not reduce"},
        {"delay --skew-us 4", "--skew-us is not an option of delay"},
        {"delay --root 1", "--root is not an option of delay"},
        {"delay --late-us -4", "not '-4'"},
    };

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        options.iterations = 4711;
        EXPECT(read_line(faults[i].line) == SG_BENCH_BAD, contains(said, faults[i].says),
               strncmp(said, "stagger: bench: ", 16) == 0,
               strchr(said, '\n') == said + strlen(said) - 1, options.iterations == 4711);
    }
}

TEST("unknown options and options without a value are named")
{
    EXPECT(read_line("latency --nonsense") == SG_BENCH_BAD, contains(said, "--nonsense"),
           read_line("latency --bytes") == SG_BENCH_BAD, contains(said, "--bytes"));
}

static void expect_processes(const char *list, int count, const uint64_t *numbers)
{
    char line[100];

    snprintf(line, sizeof line, "latency --processes %s", list);
    ASSERT(read_line(line) == SG_BENCH_RUN, options.processes.count == count);
    for (int i = 0; i < count; i++)
        EXPECT(options.processes.list[i] == numbers[i]);
}

TEST("numbers of processes are given as ranges or powers")
{
    expect_processes("3", 1, (const uint64_t[]){3});
    expect_processes("4,2", 2, (const uint64_t[]){4, 2});
    expect_processes("2-4", 3, (const uint64_t[]){2, 3, 4});
    expect_processes("1-4*2,3", 4, (const uint64_t[]){1, 2, 4, 3});
    expect_processes("1-3*2", 2, (const uint64_t[]){1, 2});
    expect_processes("2,2-3", 2, (const uint64_t[]){2, 3});
    expect_processes("powers", 2, (const uint64_t[]){2, 4});
    /* The last of those that measure, unless it is named. */
    ASSERT(read_line("delay --processes 2-3") == SG_BENCH_RUN);
    EXPECT(options.late_rank == 2, options.late_is_last);
    ASSERT(read_line("delay --processes 2-3 --late 0") == SG_BENCH_RUN);
    EXPECT(options.late_rank == 0, !options.late_is_last);
}

TEST("collectives that only MPICH has can be chosen too")
{
    ASSERT(read_line("latency --cold --reduce median --ops "
                     "gather,scatter,allgather,alltoall,reduce_scatter,scan,"
                     "barrier,allreduce,reduce,bcast") == SG_BENCH_RUN);
    EXPECT(options.operation_count == SG_BENCH_COLLECTIVES,
           options.operations[0] == SG_BENCH_GATHER, options.operations[5] == SG_BENCH_SCAN,
           options.operations[9] == SG_OPERATION_BCAST, options.reduction == SG_BENCH_REDUCE_MEDIAN,
           options.cold, read_line("latency --scheme loop --reduce median") == SG_BENCH_RUN);
}

TEST("the list of sizes has a limit")
{
    char line[400] = "latency --bytes 8";

    for (int i = 1; i < SG_OPTION_LIST_MAX; i++)
        strcat(line, ",8");
    ASSERT(read_line(line) == SG_BENCH_RUN);
    EXPECT(options.bytes.count == SG_OPTION_LIST_MAX);
    strcat(line, ",8");
    EXPECT(read_line(line) == SG_BENCH_BAD);
}
