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

/* ---- configuration table: entries, one line each, and the parsers they share ---- */

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
/* A variable's type: its parser and printer, the expected form, the field it is stored in. */
#define TYPE(type, print, field, expected, low, high, words)                                       \
    parse_##type, print_##print, expected, offsetof(struct sg_config, field), low, high, words,    \
        SG_CONFIG_RULE_NONE
#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)
#define RANGE(low, high) "a number from " TEXT(low) " to " TEXT(high)
#define WORD(field, expected, words) TYPE(word, word, field, expected, 0, 0, words)
#define FLAG(field) TYPE(flag, flag, field, "0 or 1", 0, 0, NULL)
#define INTEGER(field, low, high) TYPE(integer, integer, field, RANGE(low, high), low, high, NULL)
#define AUTO(field, low, high)                                                                     \
    TYPE(choice, choice, field, "auto or " RANGE(low, high), low, high, NULL)
#define POWER(field, low, high)                                                                    \
    TYPE(power, integer, field, "a power of two from " TEXT(low) " to " TEXT(high), low, high, NULL)
#define SIZE(field, expected, low, high) TYPE(size, size, field, expected, low, high, NULL)
#define STRING(field, what, bytes)                                                                 \
    TYPE(path, path, field, what " of at most " TEXT(bytes) " bytes", 0, bytes, NULL)
#define RANKS(field, what, bytes)                                                                  \
    TYPE(ranks, path, field, what " such as 3 or 0-3,8, of at most " TEXT(bytes) " bytes", 0,      \
         bytes, NULL)
#define WINDOW(field)                                                                              \
    TYPE(window, path, field, "FIRST-LAST, of which FIRST is not the greater", 0, PATH_BYTES, NULL)
#define RULE(kind) NULL, NULL, NULL, 0, 0, 0, NULL, SG_CONFIG_RULE_##kind

const struct sg_config_entry sg_config_entries[] = {
    {"STAGGER_TRACE", "otf2",
     "What is recorded: events and statistics, statistics alone, or nothing.",
     WORD(trace, "otf2, stats or off", trace_modes)},
    {"STAGGER_DIR", "", "Output directory; made new by every run: stagger-PROGRAM-ID when empty.",
     STRING(directory, "a path", PATH_BYTES)},
    {"STAGGER_TRACE_BYTES", "64m",
     "Limit of one rank's log, after which events are counted but not kept.",
     SIZE(trace_bytes, "a size from 1m to 64g", MIB, 64 * GIB)},
    {"STAGGER_CALLS", "",
     "Functions of MPI whose calls are seen: globs, separated by commas; all when empty.",
     STRING(calls, "globs", GLOBS_BYTES)},
    {"STAGGER_EVENTS", "",
     "Those, among them, whose calls are in the trace, and not in the statistics alone.",
     STRING(events, "globs", GLOBS_BYTES)},
    {"STAGGER_CAUSES", "sample",
     "Between which calls of MPI it is recorded what a rank does: samples that take less than 0.5 "
     "% of the time, all, or none.",
     WORD(causes, "off, sample or all", causes_modes)},
    {"STAGGER_DEPTH", "1", "Frames of the application that make up a call site.",
     INTEGER(depth, 1, 16)},
    {"STAGGER_QUIET", "0", "1 leaves out the lines at start and end.", FLAG(quiet)},
    {"STAGGER_CALIBRATE", "1",
     "1 measures at start what messages, copies and the like cost here, for stagger advise.",
     FLAG(calibrate)},
    {"STAGGER_RANKS_PER_NODE", "0",
     "Ranks of one machine that share memory as one node; 0: all of them.",
     INTEGER(ranks_per_node, 0, 1000000)},
    {"STAGGER_SETUP_AFTER", "16",
     "Barriers and allreduces of MPICH's on a communicator before it is the library's.",
     INTEGER(setup_after, 1, 1000000)},
    {"STAGGER_SLOTS", "8", "Collectives that a rank may run ahead of the slowest.",
     POWER(slots, 2, 1024)},
    {"STAGGER_COUNT_FROM", "0",
     "Numbers of collectives begin there: for tests of very long runs.",
     SIZE(count_from, "a number up to 4294967296g", 0, 4294967296 * GIB)},
    {"STAGGER_MEMORY", "256m", "Limit of the memory that the ranks of a machine share.",
     SIZE(memory_bytes, "a size from 1m to 1024g", MIB, 1024 * GIB)},
    {"STAGGER_SINGLE_COPY", "auto",
     "Whether large operands are copied from rank to rank directly, where the system lets them.",
     WORD(single_copy, "auto or off", off_or_auto)},
    {"STAGGER_WAIT", "auto",
     "What a rank does that waits in MPI: auto gives its processor away where there are fewer than "
     "ranks, and spins elsewhere.",
     WORD(wait, "auto, spin, yield or sleep", sg_wait_mode_names)},
    {"STAGGER_WAIT_HOOK", "auto",
     "Whether ranks that wait inside MPICH give way by a hook, the one that fits this MPICH.",
     WORD(wait_hook, "auto or none", none_or_auto)},
    {"STAGGER_STALL_S", "30", "Seconds after which a wait is reported; 0: never.",
     INTEGER(stall_s, 0, 1000000)},
    {"STAGGER_PROGRESS", "thread",
     "Between nodes, who handles late messages while the ranks of a node compute; between machines "
     "a thread stands in for signal.",
     WORD(progress, "thread, signal or poll", progress_modes)},
    {"STAGGER_SIGNAL", "42", "Number of the real-time signal for progress by signal.",
     INTEGER(signal, SIGNAL_LOW, SIGNAL_HIGH)},
    {"STAGGER_VERBS_DEVICE", "", "RDMA device; the best that all ranks reach when empty.",
     STRING(verbs_device, "a name", DEVICE_BYTES)},
    {"STAGGER_VERBS_PORT", "auto", "Its port; auto: the best active one.",
     AUTO(verbs_port, 1, 255)},
    {"STAGGER_VERBS_GID_INDEX", "auto",
     "The port's GID; auto: of RoCE version 2 and IPv4 where there is one.",
     AUTO(verbs_gid_index, 0, 255)},
    {"STAGGER_VERBS_PARTITION", "auto",
     "Number of the partition: its key without the highest bit; auto: the port's first key.",
     AUTO(verbs_partition, 0, 32767)},
    {"STAGGER_VERBS_SERVICE_LEVEL", "0", "Service level of what is sent.",
     INTEGER(verbs_service_level, 0, 15)},
    {"STAGGER_VERBS_TRAFFIC_CLASS", "0", "Traffic class of what is sent with a GID.",
     INTEGER(verbs_traffic_class, 0, 255)},
    {"STAGGER_VERBS_MTU", "auto", "The most bytes of a packet; auto: the port's.",
     AUTO(verbs_mtu, 256, 4096)},
    {"STAGGER_VERBS_MULTICAST", "auto",
     "RDMA multicast where the network has it, or never: then messages along a tree.",
     WORD(verbs_multicast, "auto or off", off_or_auto)},
    {"STAGGER_VERBS_SENDERS", "16",
     "Processes of a node that are connected to others; the first sends for the rest.",
     INTEGER(verbs_senders, 1, 64)},
    {"STAGGER_VERBS_MEMORY", "256m", "Limit of the memory that a process registers for RDMA.",
     SIZE(verbs_memory_bytes, "a size from 1m to 64g", MIB, 64 * GIB)},
    {"STAGGER_MMDS", "off",
     "Whether each process keeps its computation granularity and communication overhead.",
     WORD(mmds, "off or on", off_or_on)},
    {"STAGGER_MMDS_RANKS", "", "The ranks that do; all of them when empty.",
     RANKS(mmds_ranks, "ranks", LIST_BYTES)},
    {"STAGGER_MMDS_CALLS", "",
     "MPI functions whose distributions of latency and bytes they keep, too: globs, separated by "
     "commas.",
     STRING(mmds_calls, "globs", GLOBS_BYTES)},
    {"STAGGER_MMDS_BINS", "4", "Bins of these distributions to each doubling of the value.",
     POWER(mmds_bins, 1, 16)},
    {"STAGGER_EMDS", "off", "Whether each slice of bcs is recorded, at every node.",
     WORD(emds, "off or on", off_or_on)},
    {"STAGGER_EMDS_NODES", "", "The nodes at which they are; all of them when empty.",
     RANKS(emds_nodes, "nodes", LIST_BYTES)},
    {"STAGGER_EMDS_METRICS", "",
     "The metrics that are, such as GETTS,LTTS, separated by commas; all when empty.",
     STRING(emds_metrics, "metrics", GLOBS_BYTES)},
    {"STAGGER_EMDS_SLICES", "", "The slices that are: FIRST-LAST, from MPI_Init; all when empty.",
     WINDOW(emds_slices)},
    {"STAGGER_EMDS_EVERY", "1", "One slice in so many is.", INTEGER(emds_every, 1, 1000000)},
    {SG_CONFIG_FILE_VARIABLE, "", "File with rules and variables, one a line.",
     STRING(config_file, "a path", PATH_BYTES)},
    {"STAGGER_TRIAL", "",
     "Trials, separated by ';': a rule whose algorithms, separated by '|', take turns.",
     RULE(TRIAL)},
    {"STAGGER_TRIAL_BLOCK", "32",
     "Collectives of a communicator before a trial's next algorithm takes its turn.",
     INTEGER(trial_block, 2, 1000000)},
    {"STAGGER_TRIAL_SEED", "1", "Seed of the order in which they take turns.",
     INTEGER(trial_seed, 0, 1000000000)},
    {"STAGGER_SITE_", "", "Algorithm for the call site whose id of 8 hex digits follows.",
     RULE(SITE)},
    {"STAGGER_RULES", "", "Rules, separated by ';'; the first that matches a call decides.",
     RULE(RULES)},
    {"STAGGER_REDUCE", "", "Algorithm for MPI_Reduce where no rule matches.", RULE(SHORT)},
    {"STAGGER_ALLREDUCE", "", "Algorithm for MPI_Allreduce where no rule matches.", RULE(SHORT)},
    {"STAGGER_BARRIER", "", "Algorithm for MPI_Barrier where no rule matches.", RULE(SHORT)},
    {"STAGGER_BCAST", "", "Algorithm for MPI_Bcast where no rule matches.", RULE(SHORT)},
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
