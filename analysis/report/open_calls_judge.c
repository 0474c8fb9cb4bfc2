/* Groups of like calls, ranks that others wait for, and a cycle of waits (open_calls.h). Pure: it
 * reads only the calls. Absences are computed for the largest groups, so that the time grows with
 * the ranks.
 */
#include "report/open_calls.h"

#include "core/room.h"
#include "trace/record.h"

#include <stdlib.h>
#include <string.h>

#define ABSENCES_MOST 16u

/* ---- groups ---------------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_names(const char *a, const char *b)
{
    return a != NULL && b != NULL ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int of_group(const struct sg_open_calls *open, const struct sg_rank_call *a,
                    const struct sg_rank_call *b)
{
    int order = compare(open->states[a->rank], open->states[b->rank]);

    if (order == 0)
        order = compare(a->is_open, b->is_open);
    if (order == 0)
        order = compare_names(a->function, b->function);
    if (order == 0)
        order = compare(a->site, b->site);
    if (order != 0 || !a->is_open)
        return order;
    order = compare(a->comm, b->comm);
    return order != 0 ? order : compare(a->order, b->order);
}

static int by_group(const void *left, const void *right, void *context)
{
    const struct sg_rank_call *a = left, *b = right;
    int order = of_group(context, a, b);

    if (order == 0)
        order = compare(a->rank, b->rank);
    return order != 0 ? order : compare(a->thread, b->thread);
}

static int by_size(const void *left, const void *right, void *context)
{
    const struct sg_open_group *a = left, *b = right;
    const struct sg_open_calls *open = context;
    int order = compare(b->count, a->count);

    if (order == 0)
        order = compare(open->calls[a->first].rank, open->calls[b->first].rank);
    return order != 0 ? order : compare(a->first, b->first);
}

static enum sg_status make_groups(struct sg_open_calls *open)
{
    if (open->call_count > 0)
        qsort_r(open->calls, open->call_count, sizeof *open->calls, by_group, open);
    for (uint32_t i = 0; i < open->call_count; i++) {
        const struct sg_open_group group = {open->states[open->calls[i].rank], i, 1};

        if (i > 0 && of_group(open, &open->calls[i - 1], &open->calls[i]) == 0)
            open->groups[open->group_count - 1].count++;
        else if (!SG_APPEND(open->groups, open->group_count, group))
            return SG_ERR_MEMORY;
    }
    if (open->group_count > 0)
        qsort_r(open->groups, open->group_count, sizeof *open->groups, by_size, open);
    return SG_OK;
}

/* ---- absences -------------------------------------------------------------------------------- */

static bool waits(const struct sg_rank_call *call)
{
    return call->is_open && !call->tests;
}

/* Calls of a run that has ended are final, however short they were. */
static bool is_final(const struct sg_open_calls *open, const struct sg_rank_call *call)
{
    return open->living == 0 || sg_open_call_lasts(call);
}

static bool group_waits(const struct sg_open_calls *open, const struct sg_open_group *group)
{
    if (group->state != SG_OPEN_RUNS && group->state != SG_OPEN_DIED &&
        group->state != SG_OPEN_ABORTED)
        return false;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct sg_rank_call *call = &open->calls[group->first + i];

        if (!waits(call) || !is_final(open, call))
            return false;
    }
    return true;
}

/* Marks the ranks that have come to the collective, or have been in a later one. */
static void mark_arrived(const struct sg_open_calls *open, const struct sg_rank_call *call,
                         bool *marks)
{
    memset(marks, 0, open->rank_count * sizeof *marks);
    for (uint32_t i = 0; i < open->call_count; i++) {
        const struct sg_rank_call *other = &open->calls[i];

        if (other->comm == call->comm && other->order >= call->order)
            marks[other->rank] = true;
    }
}

static enum sg_status add_absent(const struct sg_open_calls *open, struct sg_open_absence *absence,
                                 int64_t rank, bool *marks)
{
    if (rank < 0 || rank >= open->rank_count || marks[rank] ||
        open->states[rank] == SG_OPEN_UNKNOWN)
        return SG_OK;
    marks[rank] = true;
    return SG_APPEND(absence->ranks, absence->count, (uint32_t)rank) ? SG_OK : SG_ERR_MEMORY;
}

/* Others than the root wait for it; the root waits for all. */
static enum sg_status absent_from_collective(const struct sg_open_calls *open,
                                             const struct sg_open_group *group, bool *marks,
                                             struct sg_open_absence *absence)
{
    const struct sg_rank_call *call = &open->calls[group->first];
    const struct sg_open_comm *comm =
        call->comm != SG_OPEN_NO_COMM ? &open->comms[call->comm] : NULL;
    enum sg_status status = SG_OK;
    uint32_t count;

    if (comm == NULL || (!comm->is_world && comm->members == NULL))
        return SG_OK;
    mark_arrived(open, call, marks);
    if (call->to >= 0 && call->to < open->rank_count && !marks[call->to])
        return add_absent(open, absence, call->to, marks);
    count = comm->is_world ? open->rank_count : comm->count;
    for (uint32_t i = 0; i < count && status == SG_OK; i++)
        status = add_absent(open, absence, comm->is_world ? i : comm->members[i], marks);
    return status;
}

/* The peers, except those that are in such a call, too. */
static enum sg_status absent_from_messages(const struct sg_open_calls *open,
                                           const struct sg_open_group *group, bool *marks,
                                           struct sg_open_absence *absence)
{
    enum sg_status status = SG_OK;

    memset(marks, 0, open->rank_count * sizeof *marks);
    for (uint32_t i = 0; i < group->count; i++)
        marks[open->calls[group->first + i].rank] = true;
    for (uint32_t i = 0; i < group->count && status == SG_OK; i++) {
        const struct sg_rank_call *call = &open->calls[group->first + i];

        status = add_absent(open, absence, call->from, marks);
        if (status == SG_OK)
            status = add_absent(open, absence, call->to, marks);
    }
    return status;
}

static int by_rank(const void *left, const void *right)
{
    return compare(*(const uint32_t *)left, *(const uint32_t *)right);
}

static enum sg_status find_absences(struct sg_open_calls *open, bool *marks)
{
    enum sg_status status = SG_OK;

    for (uint32_t i = 0; i < open->group_count && open->absence_count < ABSENCES_MOST; i++) {
        const struct sg_open_group *group = &open->groups[i];
        struct sg_open_absence absence = {.group = i};

        if (!group_waits(open, group))
            continue;
        if (open->calls[group->first].order > 0)
            status = absent_from_collective(open, group, marks, &absence);
        else
            status = absent_from_messages(open, group, marks, &absence);
        if (status == SG_OK && absence.count > 0) {
            qsort(absence.ranks, absence.count, sizeof *absence.ranks, by_rank);
            if (SG_APPEND(open->absences, open->absence_count, absence))
                continue;
            status = SG_ERR_MEMORY;
        }
        free(absence.ranks);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

/* ---- a cycle --------------------------------------------------------------------------------- */

/* Nodes are the ranks, and behind them the groups that wait in a collective. */
struct edge {
    uint32_t from, to;
};

struct graph {
    uint32_t nodes;
    struct edge *edges; /* by from */
    uint32_t count;
    uint32_t *first; /* by node, and the end */
};

static int by_from(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    int order = compare(a->from, b->from);

    return order != 0 ? order : compare(a->to, b->to);
}

static bool add_edge(struct graph *graph, uint32_t from, int64_t to)
{
    const struct edge edge = {from, (uint32_t)to};

    return to < 0 || to >= graph->nodes || SG_APPEND(graph->edges, graph->count, edge);
}

static bool add_edges(const struct sg_open_calls *open, struct graph *graph)
{
    bool has_memory = true;

    for (uint32_t g = 0; g < open->group_count && has_memory; g++) {
        const struct sg_open_group *group = &open->groups[g];
        uint32_t count = group_waits(open, group) ? group->count : 0;

        for (uint32_t i = 0; i < count && has_memory; i++) {
            const struct sg_rank_call *call = &open->calls[group->first + i];

            if (call->order > 0)
                has_memory = add_edge(graph, call->rank, open->rank_count + g);
            else
                has_memory = add_edge(graph, call->rank, call->from) &&
                             add_edge(graph, call->rank, call->to);
        }
    }
    for (uint32_t i = 0; i < open->absence_count && has_memory; i++) {
        const struct sg_open_absence *absence = &open->absences[i];

        if (open->calls[open->groups[absence->group].first].order == 0)
            continue;
        for (uint32_t k = 0; k < absence->count && has_memory; k++)
            has_memory = add_edge(graph, open->rank_count + absence->group, absence->ranks[k]);
    }
    return has_memory;
}

static bool order_edges(struct graph *graph)
{
    uint32_t at = 0;

    graph->first = calloc((size_t)graph->nodes + 1, sizeof *graph->first);
    if (graph->first == NULL)
        return false;
    if (graph->count > 0)
        qsort(graph->edges, graph->count, sizeof *graph->edges, by_from);
    for (uint32_t node = 0; node <= graph->nodes; node++) {
        while (at < graph->count && graph->edges[at].from < node)
            at++;
        graph->first[node] = at;
    }
    return true;
}

/* Takes the ranks of the path from the one that closes the cycle. */
static enum sg_status take_cycle(struct sg_open_calls *open, const uint32_t *path, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        if (path[i] < open->rank_count && !SG_APPEND(open->cycle, open->cycle_count, path[i]))
            return SG_ERR_MEMORY;
    }
    return SG_OK;
}

/* Searches in depth, without recursion. next: by node, the edge to follow next; 0: not visited;
 * path, at: zeroed, for all nodes. at: 1 + the place on the path. */
static enum sg_status search(struct sg_open_calls *open, const struct graph *graph, uint32_t *next,
                             uint32_t *path, uint32_t *at)
{
    for (uint32_t root = 0; root < open->rank_count; root++) {
        uint32_t length = 0;

        if (next[root] != 0)
            continue;
        path[length++] = root;
        at[root] = length;
        next[root] = graph->first[root] + 1;
        while (length > 0) {
            uint32_t node = path[length - 1], edge = next[node] - 1, to;

            if (edge == graph->first[node + 1]) {
                at[node] = 0;
                length--;
                continue;
            }
            next[node]++;
            to = graph->edges[edge].to;
            if (at[to] != 0)
                return take_cycle(open, path + at[to] - 1, length - (at[to] - 1));
            if (next[to] != 0)
                continue;
            path[length++] = to;
            at[to] = length;
            next[to] = graph->first[to] + 1;
        }
    }
    return SG_OK;
}

static enum sg_status find_cycle(struct sg_open_calls *open)
{
    struct graph graph = {.nodes = open->rank_count + open->group_count};
    uint32_t *work = calloc(3 * ((size_t)graph.nodes + 1), sizeof *work);
    enum sg_status status = SG_ERR_MEMORY;

    if (work != NULL && add_edges(open, &graph) && order_edges(&graph))
        status = search(open, &graph, work, work + graph.nodes + 1,
                        work + 2 * ((size_t)graph.nodes + 1));
    free(work);
    free(graph.edges);
    free(graph.first);
    return status;
}

/* ---- the first to end ------------------------------------------------------------------------ */

static enum sg_status find_idle(struct sg_open_calls *open, bool *marks)
{
    for (uint32_t i = 0; i < open->rank_count; i++)
        marks[i] = open->states[i] == SG_OPEN_DIED;
    for (uint32_t i = 0; i < open->call_count; i++)
        marks[open->calls[i].rank] = false;
    for (uint32_t i = 0; i < open->call_count; i++) {
        const struct sg_rank_call *call = &open->calls[i];

        if (!waits(call) && open->states[call->rank] == SG_OPEN_DIED)
            marks[call->rank] = true;
    }
    for (uint32_t i = 0; i < open->rank_count; i++) {
        if (marks[i] && !SG_APPEND(open->idle, open->idle_count, i))
            return SG_ERR_MEMORY;
    }
    return SG_OK;
}

/* Statuses of launchers and of timeout(1) for a run that was told to end: SIGHUP, SIGINT, SIGTERM.
 */
static bool is_told(uint32_t run_end)
{
    static const uint8_t statuses[] = {1 + 128, 2, 2 + 128, 15, 15 + 128, 124};
    bool is = (run_end & SG_RUN_TOLD) != 0;

    for (size_t i = 0; i < sizeof statuses && !is; i++)
        is = (run_end & 0xff) == statuses[i];
    return is;
}

bool sg_open_calls_has_first(const struct sg_open_calls *open)
{
    for (uint32_t i = 0; i < open->rank_count; i++) {
        if (open->states[i] == SG_OPEN_UNKNOWN || open->states[i] == SG_OPEN_ABORTED)
            return false;
    }
    return open->living == 0 && open->idle_count == 1 && open->run_end != 0 &&
           !is_told(open->run_end);
}

enum sg_status sg_open_calls_judge(struct sg_open_calls *open)
{
    bool *marks = calloc((size_t)open->rank_count + 1, sizeof *marks);
    enum sg_status status = marks != NULL ? make_groups(open) : SG_ERR_MEMORY;

    if (status == SG_OK)
        status = find_absences(open, marks);
    if (status == SG_OK)
        status = find_cycle(open);
    if (status == SG_OK)
        status = find_idle(open, marks);
    free(marks);
    return status;
}
