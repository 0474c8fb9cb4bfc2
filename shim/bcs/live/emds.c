/* Writes slices of buffered coscheduling to the log (emds.h): a record each while there is
 * capacity, otherwise sums. Runs under the endpoint's lock, maybe in a signal handler.
 */
#include "bcs/live/emds.h"

#include "bcs/live/shared_posts.h"
#include "core/text.h"
#include "intranode/memory.h"
#include "profile/events.h"
#include "progress/progress.h"
#include "runtime/settings.h"

/* Limit of slice records of a node on a communicator, unless a window is given: 16 MiB. */
#define SLICES_KEPT 131072u

static bool is_on;
static uint32_t metrics; /* one bit each */
static uint64_t window_first, window_last, every;
static bool has_window;

/* ---- settings ---- */

static int node_count(void)
{
    int count = 0;

    for (int rank = 0; rank < sg_process.size; rank++) {
        if (sg_placement_node(rank) >= count)
            count = sg_placement_node(rank) + 1;
    }
    return count;
}

/* True if the user selects this node. Nodes that do not exist are ignored. */
static bool is_node_chosen(const char *nodes)
{
    int count = node_count();
    struct sg_rank_list list;
    bool any = false;

    if (*nodes == '\0' || !sg_rank_list_parse(nodes, &list))
        return true;
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t last = list.ranges[i].last;

        any = any || list.ranges[i].first < (uint32_t)count;
        if (last >= (uint32_t)count && sg_process.rank == 0)
            sg_log("STAGGER_EMDS_NODES: node %u does not exist and is ignored; the last node is %d",
                   last, count - 1);
    }
    return !any || sg_rank_list_has(&list, (uint32_t)sg_placement_node(sg_process.rank));
}

static uint32_t choose_metrics(const char *names)
{
    uint32_t chosen = sg_slice_metrics_parse("STAGGER_EMDS_METRICS", names, sg_process.rank == 0);

    return chosen > 0 ? chosen : UINT32_MAX;
}

void sg_emds_start(void)
{
    const struct sg_config *config = &sg_process.config;
    const uint32_t routines = ((1u << SG_ROUTINES) - 1) << SG_SLICE_LTR1;

    if (config->emds == 0)
        return;
    if (!sg_ruleset_has_slices(sg_process.rules)) {
        if (sg_process.rank == 0)
            sg_log("STAGGER_EMDS is ignored: no rule names bcs, the only algorithm with slices");
        return;
    }
    metrics = choose_metrics(config->emds_metrics);
    every = (uint64_t)config->emds_every;
    has_window = sg_slice_window_parse(config->emds_slices, &window_first, &window_last);
    is_on = is_node_chosen(config->emds_nodes);
    sg_slices_start(is_on, (metrics & routines) != 0);
}

/* ---- communicators ---- */

static struct sg_record_slice_sum *make_sum(uint32_t comm, uint32_t node)
{
    struct sg_record_slice_sum *sum = sg_log_entry(sg_process.log, SG_SLICE_SUM_SLOTS);

    if (sum == NULL)
        return NULL;
    sum->comm = comm;
    sum->node = node;
    sg_log_publish(sum, SG_RECORD_SLICE_SUM);
    return sum;
}

void sg_emds_know(struct sg_internode *internode, uint32_t comm)
{
    struct sg_comm_log log = {.comm = comm, .node = (uint32_t)sg_placement_node(sg_process.rank)};

    if (!is_on || sg_process.log == NULL || comm == UINT32_MAX)
        return;
    log.sum = make_sum(comm, log.node);
    sg_internode_name_in_log(internode, &log);
}

/* ---- slices ---- */

static bool is_wanted(uint64_t number)
{
    return number % every == 0 &&
           (!has_window || (number >= window_first && number <= window_last));
}

static void write_slice(struct sg_record_slice *record, const struct sg_told_slice *told)
{
    const struct sg_slice *slice = told->slice;
    uint64_t lasted_ns = told->now_ns - slice->begin_ns;

    record->thread = sg_thread_number();
    record->comm = told->log->comm;
    record->node = told->log->node;
    record->known = slice->known & metrics;
    record->number = slice->number;
    record->begin_ns = slice->begin_ns;
    record->since_ns = slice->since_ns;
    record->first = told->first_seq;
    record->until_ns = (uint32_t)(lasted_ns < UINT32_MAX ? lasted_ns : UINT32_MAX);
    for (int metric = 0; metric < SG_SLICE_METRICS; metric++) {
        int place = sg_slice_place((enum sg_slice_metric)metric);

        if (place >= 0 && (record->known >> metric & 1))
            *sg_record_slice_place(record, (unsigned)place) = slice->value[place];
    }
    if (sg_progress_by() == SG_PROGRESS_BY_THREAD)
        sg_log_header(sg_process.log)->progress_thread = record->thread + 1u;
    sg_log_publish(record, SG_RECORD_SLICE);
}

static void add_value(struct sg_record_slice_sum *sum, enum sg_slice_metric metric, uint64_t value)
{
    unsigned at = (unsigned)metric * SG_SLICE_SUMS;
    uint64_t count = sg_figure_read(sum->sums, at + SG_SLICE_COUNT);

    if (count == 0 || value < sg_figure_read(sum->sums, at + SG_SLICE_MIN))
        sg_figure_write(sum->sums, at + SG_SLICE_MIN, value);
    if (value > sg_figure_read(sum->sums, at + SG_SLICE_MAX))
        sg_figure_write(sum->sums, at + SG_SLICE_MAX, value);
    sg_figure_write(sum->sums, at + SG_SLICE_SUM,
                    sg_figure_read(sum->sums, at + SG_SLICE_SUM) + value);
    sg_figure_write(sum->sums, at + SG_SLICE_COUNT, count + 1);
}

/* The holder of the endpoint's lock writes; a process has one sum for each communicator. */
static void add_to_sum(struct sg_record_slice_sum *sum, const struct sg_slice *slice)
{
    if (sum == NULL)
        return;
    for (int metric = 0; metric < SG_SLICE_METRICS; metric++) {
        if (slice->known & metrics & UINT32_C(1) << metric)
            add_value(sum, (enum sg_slice_metric)metric,
                      sg_slice_value(slice, (enum sg_slice_metric)metric));
    }
    atomic_store_explicit(&sum->slices,
                          atomic_load_explicit(&sum->slices, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* A signal handler cannot grow the log. */
static struct sg_record_slice *find_room(void)
{
    return sg_progress_by() == SG_PROGRESS_BY_SIGNAL
               ? sg_log_event_slots_now(sg_process.log, SG_SLICE_SLOTS)
               : sg_log_event_slots(sg_process.log, SG_SLICE_SLOTS);
}

void sg_emds_slice(const struct sg_told_slice *told)
{
    struct sg_record_slice *record = NULL;

    if (told->log->sum == NULL || !is_wanted(told->slice->number) ||
        !atomic_load_explicit(&sg_process.recording, memory_order_relaxed))
        return;
    if (has_window || *told->kept < SLICES_KEPT)
        record = find_room();
    if (record == NULL) {
        add_to_sum(told->log->sum, told->slice);
        return;
    }
    ++*told->kept;
    write_slice(record, told);
}
