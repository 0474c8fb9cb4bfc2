#include "core/waiting.h"

#include "core/bins.h"
#include "core/slice.h"
#include "core/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sg_wait_mode_names[SG_WAIT_MODE_COUNT + 1] = {
    [SG_WAIT_AUTO] = "auto",
    [SG_WAIT_SPIN] = "spin",
    [SG_WAIT_YIELD] = "yield",
    [SG_WAIT_SLEEP] = "sleep",
};

const struct sg_wait_hook_entry sg_wait_hooks[] = {
    {"ucx", "ucp_worker_progress"},
    {"libfabric", "fi_fabric"},
    {"mpich", NULL},
    {NULL, NULL},
};

/* Processors by affinity masks and quota. */
static int64_t usable(int64_t processors, int64_t quota)
{
    return quota > 0 && quota < processors ? quota : processors;
}

bool sg_waiting_is_short(const struct sg_waiting *rank)
{
    return rank->processors > 0 && rank->ranks > usable(rank->processors, rank->quota);
}

/* True if the rank's machine has fewer processors per rank than the machine recorded for the
 * run. */
static bool is_shorter(const struct sg_waiting *rank, const struct sg_run_waiting *run)
{
    return (int64_t)rank->ranks * usable((int64_t)run->processors, (int64_t)run->quota) >
           (int64_t)run->ranks * usable(rank->processors, rank->quota);
}

void sg_waiting_add(struct sg_run_waiting *run, const struct sg_waiting *rank, const char *host)
{
    if (rank->told == 0 || rank->mode >= SG_WAIT_MODE_COUNT)
        return;
    if (run->told == 0) {
        run->mode = rank->mode;
        snprintf(run->hook, sizeof run->hook, "%.*s", SG_WAIT_HOOK_BYTES - 1, rank->hook);
    }
    if (rank->ranks > 0 && rank->processors > 0 && (run->ranks == 0 || is_shorter(rank, run))) {
        run->ranks = (uint64_t)rank->ranks;
        run->processors = (uint64_t)rank->processors;
        run->quota = (uint64_t)rank->quota;
        snprintf(run->host, sizeof run->host, "%s", host);
    }
    if (rank->spinning_threads > run->spinning_threads)
        run->spinning_threads = rank->spinning_threads;
    run->told++;
    run->short_ranks += sg_waiting_is_short(rank);
    run->apart_ranks += sg_waiting_is_short(rank) && rank->apart != 0;
    run->yields += rank->yields;
    run->yield_ns += rank->yield_ns;
    run->sleeps += rank->sleeps;
    run->sleep_ns += rank->sleep_ns;
}

enum sg_status sg_epoch_agree(const struct sg_exchange *exchange, uint64_t machine,
                              uint64_t (*clock_ns)(void), const struct sg_clocksync *clocks,
                              uint64_t *epoch_ns)
{
    struct sg_clocksync *own = NULL;
    uint64_t agreed_ns = clock_ns();
    enum sg_status status = SG_OK;

    *epoch_ns = agreed_ns;
    if (clocks == NULL) {
        status = sg_clocksync_open(exchange, machine, clock_ns, SG_CLOCKSYNC_TREE, &own);
        if (status == SG_OK)
            status = sg_clocksync_measure(own, NULL);
        clocks = own;
    }
    if (status == SG_OK)
        status = exchange->broadcast(exchange->context, &agreed_ns, sizeof agreed_ns);
    /* The machine's ranks share one model, and so one epoch. */
    if (status == SG_OK)
        *epoch_ns = sg_clock_model_local(sg_clocksync_model(clocks), agreed_ns);
    sg_clocksync_close(own);
    return status;
}

/* ---- configuration table: the entries and the parsers they share ---- */

/* Indexed by enum sg_trace_mode, which belongs to the trace. */
static const char *const trace_modes[] = {"off", "stats", "otf2", NULL};
/* Indexed by enum sg_causes_mode, which belongs to the trace, too. */
static const char *const causes_modes[] = {"off", "sample", "all", NULL};
/* Indexed by enum sg_progress_mode, which belongs to the engine. */
static const char *const progress_modes[] = {"poll", "thread", "signal", NULL};
/* Indexed by the stored value. */
static const char *const none_or_auto[] = {"none", "auto", NULL};
/* Indexed by the stored value: auto uses the feature where it is available. */
static const char *const off_or_auto[] = {"off", "auto", NULL};
static const char *const off_or_on[] = {"off", "on", NULL};
static const char *const zero_or_one[] = {"0", "1", NULL};

static void *field_of(const struct sg_config_entry *entry, struct sg_config *config)
{
    return (char *)config + entry->field;
}

static const void *const_field_of(const struct sg_config_entry *entry,
                                  const struct sg_config *config)
{
    return (const char *)config + entry->field;
}

/* Parses a whole number within the entry's range. */
static bool parse_number(const char *text, bool suffixes, const struct sg_config_entry *entry,
                         uint64_t *out)
{
    const char *end = text + strlen(text);

    return sg_text_number(text, end, suffixes, out) == end && (double)*out >= entry->low &&
           (double)*out <= entry->high;
}

static enum sg_status parse_word(const char *text, const struct sg_config_entry *entry,
                                 struct sg_config *config)
{
    for (int word = 0; entry->words[word] != NULL; word++) {
        if (strcmp(text, entry->words[word]) == 0) {
            *(int *)field_of(entry, config) = word;
            return SG_OK;
        }
    }
    return SG_ERR_SYNTAX;
}

static void print_word(const struct sg_config_entry *entry, const struct sg_config *config,
                       char *text, int size_bytes)
{
    snprintf(text, (size_t)size_bytes, "%s",
             entry->words[*(const int *)const_field_of(entry, config)]);
}

static enum sg_status parse_size(const char *text, const struct sg_config_entry *entry,
                                 struct sg_config *config)
{
    uint64_t value;

    if (!parse_number(text, true, entry, &value))
        return SG_ERR_SYNTAX;
    *(uint64_t *)field_of(entry, config) = value;
    return SG_OK;
}

static void print_size(const struct sg_config_entry *entry, const struct sg_config *config,
                       char *text, int size_bytes)
{
    static const char *const units[] = {"", "k", "m", "g"};
    uint64_t value = *(const uint64_t *)const_field_of(entry, config);
    int unit = 0;

    for (; unit < 3 && value > 0 && value % 1024 == 0; unit++)
        value /= 1024;
    snprintf(text, (size_t)size_bytes, "%" PRIu64 "%s", value, units[unit]);
}

static enum sg_status parse_integer(const char *text, const struct sg_config_entry *entry,
                                    struct sg_config *config)
{
    uint64_t value;

    if (!parse_number(text, false, entry, &value))
        return SG_ERR_SYNTAX;
    *(int *)field_of(entry, config) = (int)value;
    return SG_OK;
}

/* A number, or "auto", stored as -1. */
static enum sg_status parse_choice(const char *text, const struct sg_config_entry *entry,
                                   struct sg_config *config)
{
    if (strcmp(text, "auto") != 0)
        return parse_integer(text, entry, config);
    *(int *)field_of(entry, config) = -1;
    return SG_OK;
}

static void print_choice(const struct sg_config_entry *entry, const struct sg_config *config,
                         char *text, int size_bytes)
{
    int value = *(const int *)const_field_of(entry, config);

    if (value < 0)
        snprintf(text, (size_t)size_bytes, "auto");
    else
        snprintf(text, (size_t)size_bytes, "%d", value);
}

static enum sg_status parse_power(const char *text, const struct sg_config_entry *entry,
                                  struct sg_config *config)
{
    uint64_t value;

    if (!parse_number(text, false, entry, &value) || (value & (value - 1)) != 0)
        return SG_ERR_SYNTAX;
    *(int *)field_of(entry, config) = (int)value;
    return SG_OK;
}

static void print_integer(const struct sg_config_entry *entry, const struct sg_config *config,
                          char *text, int size_bytes)
{
    snprintf(text, (size_t)size_bytes, "%d", *(const int *)const_field_of(entry, config));
}

static enum sg_status parse_flag(const char *text, const struct sg_config_entry *entry,
                                 struct sg_config *config)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return SG_ERR_SYNTAX;
    *(bool *)field_of(entry, config) = *text == '1';
    return SG_OK;
}

static void print_flag(const struct sg_config_entry *entry, const struct sg_config *config,
                       char *text, int size_bytes)
{
    snprintf(text, (size_t)size_bytes, "%d", *(const bool *)const_field_of(entry, config));
}

static enum sg_status parse_path(const char *text, const struct sg_config_entry *entry,
                                 struct sg_config *config)
{
    char **field = field_of(entry, config);
    char *copy;

    if ((double)strlen(text) > entry->high)
        return SG_ERR_SYNTAX;
    copy = strdup(text);
    if (copy == NULL)
        return SG_ERR_MEMORY;
    free(*field);
    *field = copy;
    return SG_OK;
}

static enum sg_status parse_ranks(const char *text, const struct sg_config_entry *entry,
                                  struct sg_config *config)
{
    struct sg_rank_list list;

    return *text == '\0' || sg_rank_list_parse(text, &list) ? parse_path(text, entry, config)
                                                            : SG_ERR_SYNTAX;
}

static enum sg_status parse_window(const char *text, const struct sg_config_entry *entry,
                                   struct sg_config *config)
{
    uint64_t first, last;

    return *text == '\0' || sg_slice_window_parse(text, &first, &last)
               ? parse_path(text, entry, config)
               : SG_ERR_SYNTAX;
}

static void print_path(const struct sg_config_entry *entry, const struct sg_config *config,
                       char *text, int size_bytes)
{
    snprintf(text, (size_t)size_bytes, "%s", *(char *const *)const_field_of(entry, config));
}

/* Signals that the C library leaves to applications. */
#define SIGNAL_LOW 34
#define SIGNAL_HIGH 64
#define MIB (1024.0 * 1024.0)
#define GIB (1024.0 * MIB)
/* Leaves room within PATH_MAX for the names of files inside the directory. */
#define PATH_BYTES 3500
#define DEVICE_BYTES 63
#define LIST_BYTES 1000
#define GLOBS_BYTES 1000

/* clang-format off */
/* Starts a group of entries; stands before the first entry's name. */
#define HEADING(title) .heading = title, .name =
/* A variable's type: its parser and printer, the expected form, the field it is stored in. */
#define TYPE(type, print_by, stored, form)                                                         \
    .parse = parse_##type, .print = print_##print_by, .expected = form,                            \
    .field = offsetof(struct sg_config, stored)
#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)
#define RANGE(from, to) "a number from " TEXT(from) " to " TEXT(to)
#define NUMBER(sign, from, to) .placeholder = sign, .low = from, .high = to
#define WORD(field, form, all) TYPE(word, word, field, form), .words = all
#define FLAG(field) TYPE(flag, flag, field, "0 or 1"), .words = zero_or_one
#define INTEGER(field, from, to)                                                                   \
    TYPE(integer, integer, field, RANGE(from, to)), NUMBER("N", from, to)
#define AUTO(field, from, to)                                                                      \
    TYPE(choice, choice, field, "auto or " RANGE(from, to)), NUMBER("N", from, to)
#define POWER(field, from, to)                                                                     \
    TYPE(power, integer, field, "a power of two from " TEXT(from) " to " TEXT(to)),                \
        NUMBER("N", from, to)
#define SIZE(field, form, from, to) TYPE(size, size, field, form), NUMBER("SIZE", from, to)
#define STRING(field, sign, what, bytes)                                                           \
    TYPE(path, path, field, what " of at most " TEXT(bytes) " bytes"), NUMBER(sign, 0, bytes)
#define RANKS(field, sign, what, bytes)                                                            \
    TYPE(ranks, path, field, what " such as 3 or 0-3,8, of at most " TEXT(bytes) " bytes"),        \
        NUMBER(sign, 0, bytes)
#define WINDOW(field)                                                                              \
    TYPE(window, path, field, "FIRST-LAST, FIRST no greater than LAST"),                    \
        NUMBER("FIRST-LAST", 0, PATH_BYTES)
#define RULE(source, sign) .rule = SG_CONFIG_RULE_##source, .placeholder = sign

const struct sg_config_entry sg_config_entries[] = {
    {HEADING("Recording") "STAGGER_TRACE", "otf2",
     "The data to record: every call (otf2), statistics only (stats), or nothing (off).",
     "With `otf2`, MPI_Finalize also writes an OTF2 archive of all events. All MPI functions that "
     "communicate, wait, synchronise or access files are counted by call site.",
     WORD(trace, "otf2, stats or off", trace_modes)},
    {"STAGGER_DIR", "",
     "Output directory; by default a new stagger-PROGRAM-ID in the working directory.",
     "The library never writes into a directory that is not empty; it then makes another one and "
     "reports its name.",
     STRING(directory, "PATH", "a path", PATH_BYTES)},
    {"STAGGER_TRACE_BYTES", "64m",
     "Maximum size of one rank's log; calls beyond it are counted but not recorded.",
     "`k`, `m` and `g` are powers of 1024. If a log is full, the report and the archive are marked "
     "partial, and the report names a size that suffices. Calls other than the library's "
     "collectives use at most half of the log, so that messages leave space for collectives. "
     "Communicators that the program makes use at most a quarter; calls on later communicators "
     "count as dropped.",
     SIZE(trace_bytes, "a size from 1m to 64g", MIB, 64 * GIB)},
    {"STAGGER_CALLS", "",
     "MPI functions to count and record: glob patterns, separated by commas; by default all.",
     "Calls of other functions are neither counted nor recorded. Functions are named with or "
     "without `MPI_`, in any case: `STAGGER_CALLS=send,isend,wait*`. A pattern that matches no "
     "function is ignored.",
     STRING(calls, "GLOB,...", "globs", GLOBS_BYTES)},
    {"STAGGER_EVENTS", "",
     "Counted functions that are also traced: glob patterns, separated by commas; by default all.",
     "For the other counted functions the library keeps statistics only.",
     STRING(events, "GLOB,...", "globs", GLOBS_BYTES)},
    {"STAGGER_CAUSES", "sample",
     "How often to record what a rank does between MPI calls: for samples (less than 0.5 % of the "
     "time), always (all), or never (off).",
     "The library records the time on a processor and the time runnable without one, page faults, "
     "context switches, blocks read and written, moves between processors, how often the quota of "
     "the control group was exhausted and, where the kernel counts them, instructions, cycles and "
     "cache misses. `sample` samples the same intervals on all ranks; `all` records every "
     "interval, at a cost of some microseconds each. `stagger info` lists the sources, their "
     "requirements and the cost of a reading. On a machine with fewer processors than ranks "
     "`sample` leaves out migrations, instructions, cycles and cache misses, which would make each "
     "context switch take longer. With `STAGGER_TRACE=off` nothing is recorded.",
     WORD(causes, "off, sample or all", causes_modes)},
    {"STAGGER_DEPTH", "1", "Number of application frames that identify a call site.",
     "With 1, a call site is the location of an MPI call. With more frames, it is the path to that "
     "location; its name shows the path from the outermost of these frames, or `main`, to the "
     "function that calls MPI: `main cg.c:200 > step cg.c:120 > dot`. In the archive each function "
     "on the path is also a region around the call.",
     INTEGER(depth, 1, 16)},
    {"STAGGER_QUIET", "0", "1 omits the messages at start and end.", NULL, FLAG(quiet)},
    {"STAGGER_CALIBRATE", "1",
     "1 measures this machine's communication costs at start, for stagger advise.",
     "If events are recorded, MPI_Init takes some milliseconds to measure the costs of messages, "
     "copies, steps in shared memory and context switches. Rank 0 measures with one other rank of "
     "its node and with one rank of another node; the other ranks wait. The archive stores the "
     "costs, and stagger-advise(1) simulates with them.",
     FLAG(calibrate)},
    {HEADING("Nodes and shared memory") "STAGGER_RANKS_PER_NODE", "0",
     "Ranks of one machine that form one (virtual) node; 0: all of them.",
     "Nodes take ranks in ascending order. With 1, every rank is a node of its own.",
     INTEGER(ranks_per_node, 0, 1000000)},
    {"STAGGER_SETUP_AFTER", "16",
     "Barriers and allreduces that MPICH runs on a communicator before the library takes over.",
     "The members set the communicator up after the last of them, which costs as much as some "
     "hundred MPICH calls. Until then MPICH also runs reduces and broadcasts. MPI_COMM_WORLD is "
     "set up in MPI_Init.",
     INTEGER(setup_after, 1, 1000000)},
    {"STAGGER_SLOTS", "8",
     "Collectives of a communicator that a rank may run ahead of the slowest rank without waiting.",
     "Each slot takes 4224 bytes of shared memory per rank.", POWER(slots, 2, 1024)},
    {"STAGGER_COUNT_FROM", "0",
     "Number of the first collective of each communicator: for tests of very long runs.", NULL,
     SIZE(count_from, "a number up to 4294967296g", 0, 4294967296 * GIB)},
    {"STAGGER_MEMORY", "256m",
     "Maximum memory that the ranks of a machine share for the collectives of all communicators.",
     "See MEMORY.", SIZE(memory_bytes, "a size from 1m to 1024g", MIB, 1024 * GIB)},
    {"STAGGER_SINGLE_COPY", "auto",
     "Whether ranks copy large operands directly from each other's memory, or into it.",
     "With `auto` they do so if a rule can choose this form and the system lets all ranks of a "
     "node read each other's memory. With `off` they copy large operands through shared buffers. "
     "See MEMORY.",
     WORD(single_copy, "auto or off", off_or_auto)},
    {HEADING("Waiting and progress") "STAGGER_WAIT", "auto",
     "How a rank waits in MPI: auto yields the processor if a machine has fewer processors than "
     "ranks, and spins otherwise.",
     "See WAITING.", WORD(wait, "auto, spin, yield or sleep", sg_wait_mode_names)},
    {"STAGGER_WAIT_HOOK", "auto",
     "Whether ranks that wait inside MPICH yield through a hook that fits this MPICH.",
     "stagger-info(1) shows which hook fits. With `none`, blocking calls run as nonblocking calls "
     "and tests. See WAITING WITHOUT A HOOK.",
     WORD(wait_hook, "auto or none", none_or_auto)},
    {"STAGGER_STALL_S", "30", "Seconds after which a wait is reported; 0: never.",
     "The library reports such a wait once, with the current call of each rank. If ranks without "
     "the library keep the others waiting in MPI_Init, the job ends with a message: at once if "
     "they are processes of the same launcher, otherwise after this time, but after no less than "
     "60 seconds.",
     INTEGER(stall_s, 0, 1000000)},
    {"STAGGER_PROGRESS", "thread",
     "The handler of late messages between nodes while ranks compute: a helper thread, a signal "
     "handler, or none (poll).",
     "The helper thread sleeps until a message arrives. With `poll` a rank stays in its call until "
     "the message has arrived. Between machines a thread replaces the signal handler. The "
     "parameter `progress=` of a rule overrides this variable. See PROGRESS.",
     WORD(progress, "thread, signal or poll", progress_modes)},
    {"STAGGER_SIGNAL", "42", "Number of the real-time signal for progress by signal.", NULL,
     INTEGER(signal, SIGNAL_LOW, SIGNAL_HIGH)},
    {HEADING("RDMA") "STAGGER_VERBS_DEVICE", "",
     "RDMA device for messages between machines; by default the best that all ranks reach.",
     "The default is a device with a port on a network on which all ranks have one. Among these, "
     "InfiniBand precedes Ethernet; then a device with atomic operations is preferred, and then "
     "one near the rank's processor.",
     STRING(verbs_device, "NAME", "a name", DEVICE_BYTES)},
    {"STAGGER_VERBS_PORT", "auto", "Port of the device; auto: the best active port.", NULL,
     AUTO(verbs_port, 1, 255)},
    {"STAGGER_VERBS_GID_INDEX", "auto",
     "Index of the port's address (GID); auto: RoCE version 2, over IPv4 if possible.",
     "On InfiniBand `auto` is 0.", AUTO(verbs_gid_index, 0, 255)},
    {"STAGGER_VERBS_PARTITION", "auto",
     "Partition number: the partition's key without its highest bit; auto: the port's first key.",
     NULL, AUTO(verbs_partition, 0, 32767)},
    {"STAGGER_VERBS_SERVICE_LEVEL", "0", "Service level of outgoing packets.", NULL,
     INTEGER(verbs_service_level, 0, 15)},
    {"STAGGER_VERBS_TRAFFIC_CLASS", "0",
     "Traffic class of outgoing packets that carry a GID (on Ethernet all do).", NULL,
     INTEGER(verbs_traffic_class, 0, 255)},
    {"STAGGER_VERBS_MTU", "auto", "Maximum bytes of a packet; auto: the port's maximum.",
     "If two ports differ, the smaller value applies.", AUTO(verbs_mtu, 256, 4096)},
    {"STAGGER_VERBS_MULTICAST", "auto",
     "Whether to send releases by RDMA multicast where the network supports it.",
     "`auto` uses multicast if all machines can join one multicast group. Otherwise, and with "
     "`off`, releases travel from machine to machine along a tree.",
     WORD(verbs_multicast, "auto or off", off_or_auto)},
    {"STAGGER_VERBS_SENDERS", "16", "Processes of a node that connect to other nodes.",
     "If a node has more processes, the helper thread of the first one sends for the others.",
     INTEGER(verbs_senders, 1, 64)},
    {"STAGGER_VERBS_MEMORY", "256m", "Maximum memory that a process registers for RDMA.",
     "MPICH runs the collectives of a communicator that would need more. A communicator whose "
     "messages run in slices (`p2p=bcs`) needs about 20m. The system has a limit, too "
     "(`ulimit -l`).",
     SIZE(verbs_memory_bytes, "a size from 1m to 64g", MIB, 64 * GIB)},
    {HEADING("Distributions and slices") "STAGGER_MMDS", "off",
     "Whether each process records its computation granularity and communication overhead.",
     "Computation granularity is the time from leaving a blocking MPI function to entering the "
     "next one; communication overhead is the time inside one. `stagger report --calls` prints "
     "both, and their sums. Statistics must be on (`STAGGER_TRACE`). Functions that "
     "`STAGGER_CALLS` excludes count as computation.",
     WORD(mmds, "off or on", off_or_on)},
    {"STAGGER_MMDS_RANKS", "", "Ranks that record for STAGGER_MMDS; by default all.",
     "A list has at most 32 ranges.", RANKS(mmds_ranks, "RANKS", "ranks", LIST_BYTES)},
    {"STAGGER_MMDS_CALLS", "",
     "MPI functions whose latency and bytes STAGGER_MMDS also records: glob patterns, separated by "
     "commas; by default none.",
     "Functions are named as in `STAGGER_CALLS`, for example `MPI_Waitall`. Bytes are recorded for "
     "functions that move data. A pattern that matches no function is ignored.",
     STRING(mmds_calls, "GLOB,...", "globs", GLOBS_BYTES)},
    {"STAGGER_MMDS_BINS", "4",
     "Bins of these distributions per doubling of the value.",
     "A distribution takes 1.75 KiB of the log with 4 bins, and 6.5 KiB with 16.",
     POWER(mmds_bins, 1, 16)},
    {"STAGGER_EMDS", "off", "Whether each node records every slice of bcs.",
     "A record holds what the slice ran and how long its parts took; `stagger report --slices` "
     "prints the metrics. A slice takes 128 bytes of the log. The library records the first 131072 "
     "slices of a node on a communicator; for later slices, and for slices that do not fit into "
     "the log, it keeps the least, mean and greatest values. If no rule names `bcs`, a message "
     "says so and the variable has no effect.",
     WORD(emds, "off or on", off_or_on)},
    {"STAGGER_EMDS_NODES", "", "Nodes that record slices; by default all.",
     "Nodes are numbered in the order of their first ranks. A list has at most 32 ranges. Numbers "
     "of nodes that do not exist are ignored.",
     RANKS(emds_nodes, "NODES", "nodes", LIST_BYTES)},
    {"STAGGER_EMDS_METRICS", "",
     "Metrics to record for slices, such as GETTS,LTTS, separated by commas; by default all.",
     "Names are accepted in any case; SLICES in stagger-report(1) lists them. Unknown names are "
     "ignored.",
     STRING(emds_metrics, "METRIC,...", "metrics", GLOBS_BYTES)},
    {"STAGGER_EMDS_SLICES", "",
     "Slices to record: FIRST-LAST, counted from MPI_Init; by default the first 131072 of a node.",
     "The library records the slices of this range until the log is full.", WINDOW(emds_slices)},
    {"STAGGER_EMDS_EVERY", "1", "Records one slice in N: those whose number is divisible by N.",
     NULL, INTEGER(emds_every, 1, 1000000)},
    {HEADING("Rules and trials") SG_CONFIG_FILE_VARIABLE, "",
     "File with rules and variables, one per line.", "See THE CONFIGURATION FILE.",
     STRING(config_file, "PATH", "a path", PATH_BYTES)},
    {"STAGGER_TRIAL", "",
     "Trials, separated by ';': rules whose algorithms, separated by '|', alternate.",
     "A trial compares algorithms within one run. See TRIALS.", RULE(TRIAL, "TRIAL;...")},
    {"STAGGER_TRIAL_BLOCK", "32",
     "Collectives of a communicator before a trial switches to the next algorithm.", NULL,
     INTEGER(trial_block, 2, 1000000)},
    {"STAGGER_TRIAL_SEED", "1", "Seed of the order in which a trial's algorithms alternate.", NULL,
     INTEGER(trial_seed, 0, 1000000000)},
    {"STAGGER_SITE_", "",
     "Algorithm for one call site, named by its id: the 8 hex digits that the report prints.", NULL,
     RULE(SITE, "ALGORITHM")},
    {"STAGGER_RULES", "", "Rules, separated by ';'; the first rule that matches a call decides.",
     "See RULES.", RULE(RULES, "RULE;...")},
    {"STAGGER_REDUCE", "", "Algorithm for MPI_Reduce if no rule matches.",
     "Parameters may follow in parentheses.", RULE(SHORT, "ALGORITHM")},
    {"STAGGER_ALLREDUCE", "", "Algorithm for MPI_Allreduce if no rule matches.",
     "Parameters may follow in parentheses.", RULE(SHORT, "ALGORITHM")},
    {"STAGGER_BARRIER", "", "Algorithm for MPI_Barrier if no rule matches.",
     "Parameters may follow in parentheses.", RULE(SHORT, "ALGORITHM")},
    {"STAGGER_BCAST", "", "Algorithm for MPI_Bcast if no rule matches.",
     "Parameters may follow in parentheses.", RULE(SHORT, "ALGORITHM")},
};
/* clang-format on */
const int sg_config_entry_count = sizeof sg_config_entries / sizeof *sg_config_entries;

_Static_assert(sizeof sg_config_entries / sizeof *sg_config_entries <= 64, "bits in from_file");
_Static_assert(SG_BINS_MOST == 16, "as the table says");
_Static_assert(PATH_BYTES < SG_CONFIG_VALUE_BYTES, "print writes whole values");
_Static_assert(PATH_BYTES < PATH_MAX - 256, "files inside a directory have room for a name");

const struct sg_config_entry *sg_config_find(const char *name)
{
    for (int i = 0; i < sg_config_entry_count; i++) {
        const struct sg_config_entry *entry = &sg_config_entries[i];
        size_t length = strlen(entry->name);

        if (entry->name[length - 1] == '_' ? strncmp(name, entry->name, length) == 0
                                           : strcmp(name, entry->name) == 0)
            return entry;
    }
    return NULL;
}

void sg_config_clear_rule(struct sg_config_rule *rule)
{
    free(rule->name);
    free(rule->source);
    free(rule->text);
}

void sg_config_clear(struct sg_config *config)
{
    for (int i = 0; i < config->rule_count; i++)
        sg_config_clear_rule(&config->rules[i]);
    free(config->rules);
    free(config->directory);
    free(config->calls);
    free(config->events);
    free(config->config_file);
    free(config->verbs_device);
    free(config->mmds_ranks);
    free(config->mmds_calls);
    free(config->emds_nodes);
    free(config->emds_metrics);
    free(config->emds_slices);
    *config = (struct sg_config){0};
}

enum sg_status sg_config_defaults(struct sg_config *out)
{
    struct sg_config config = {0};

    for (int i = 0; i < sg_config_entry_count; i++) {
        const struct sg_config_entry *entry = &sg_config_entries[i];
        enum sg_status status =
            entry->parse ? entry->parse(entry->default_text, entry, &config) : SG_OK;

        if (status != SG_OK) {
            sg_config_clear(&config);
            *out = config;
            return status;
        }
    }
    *out = config;
    return SG_OK;
}

enum sg_status sg_config_check(const char *source, const char *name, const char *value)
{
    const struct sg_config_entry *entry = sg_config_find(name);
    struct sg_config config = {0};
    char excerpt[SG_EXCERPT_BYTES];
    enum sg_status status;

    if (entry == NULL || entry->parse == NULL)
        return SG_ERR_ARGUMENT;
    status = *value == '\0' ? SG_ERR_SYNTAX : entry->parse(value, entry, &config);
    if (status == SG_ERR_SYNTAX)
        sg_log("%s '%s': expected %s", source,
               sg_text_excerpt(value, strlen(value), excerpt, sizeof excerpt), entry->expected);
    sg_config_clear(&config);
    return status;
}
