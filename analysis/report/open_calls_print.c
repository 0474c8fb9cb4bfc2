/* Prints the open calls of a run (open_calls.h): a headline, a line for each of the largest groups,
 * the ranks that others wait for, and the cycle; and the same whole as JSON.
 */
#include "report/open_calls.h"

#include "output/format.h"
#include "report/profile_calls.h"
#include "report/report_columns.h"
#include "trace/record.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_SHOWN 8u
#define ABSENCES_SHOWN 3u
#define RANGES_SHOWN 6u
#define CYCLE_SHOWN 8u

static const char *const state_names[SG_OPEN_STATES] = {
    [SG_OPEN_RUNS] = "runs",       [SG_OPEN_FINALIZES] = "finalizes", [SG_OPEN_DIED] = "died",
    [SG_OPEN_ABORTED] = "aborted", [SG_OPEN_FINISHED] = "finished",   [SG_OPEN_UNKNOWN] = "unknown",
};

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Puts "rank 3" or "5 ranks (0-2,7,9)"; ranks ascend, and a rank with several calls repeats. */
struct rank_list {
    FILE *out;
    uint32_t ranges, ranks;
    int64_t first, last; /* of the range that is not written yet; first < 0: none */
};

static void put_range(struct rank_list *list)
{
    if (list->first < 0 || list->ranges++ >= RANGES_SHOWN)
        return;
    fprintf(list->out, "%s%" PRId64, list->ranges > 1 ? "," : "", list->first);
    if (list->last > list->first)
        fprintf(list->out, "-%" PRId64, list->last);
}

static void add_rank(struct rank_list *list, uint32_t rank)
{
    if (list->first >= 0 && rank == list->last)
        return;
    list->ranks++;
    if (list->first >= 0 && rank == list->last + 1) {
        list->last = rank;
        return;
    }
    put_range(list);
    list->first = list->last = rank;
}

/* Writes the list that `get` yields. */
static void put_ranks(uint32_t (*get)(const void *of, uint32_t i), const void *of, uint32_t count,
                      FILE *out)
{
    char *text = NULL;
    size_t bytes;
    struct rank_list list = {.out = open_memstream(&text, &bytes), .first = -1};

    if (list.out == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        add_rank(&list, get(of, i));
    put_range(&list);
    if (fclose(list.out) == 0 && list.ranks == 1)
        fprintf(out, "rank %s", text);
    else if (text != NULL)
        fprintf(out, "%" PRIu32 " ranks (%s%s)", list.ranks, text,
                list.ranges > RANGES_SHOWN ? ",..." : "");
    free(text);
}

static uint32_t rank_of_call(const void *of, uint32_t i)
{
    return ((const struct sg_rank_call *)of)[i].rank;
}

static uint32_t rank_of_array(const void *of, uint32_t i)
{
    return ((const uint32_t *)of)[i];
}

static void put_group_ranks(const struct sg_open_calls *open, const struct sg_open_group *group,
                            FILE *out)
{
    put_ranks(rank_of_call, open->calls + group->first, group->count, out);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void put_function(const struct sg_rank_call *call, FILE *out)
{
    sg_format_put(call->function != NULL ? call->function : "an MPI call", out);
    if (call->is_open && call->order > 0)
        fprintf(out, " #%" PRIu32, call->order - 1);
}

static void put_site(const struct sg_rank_call *call, const struct sg_report *report, FILE *out)
{
    char *site = call->place.has_id ? sg_site_text("site", report, &call->place) : NULL;

    if (site != NULL)
        fprintf(out, " at %s", site);
    free(site);
}

/* The peers of a group: one rank, one distance, or several. */
static void put_peers(const struct sg_open_calls *open, const struct sg_open_group *group,
                      const char *before, bool is_from, FILE *out)
{
    const struct sg_rank_call *calls = open->calls + group->first;
    int64_t peer = is_from ? calls->from : calls->to, distance = peer - calls->rank;
    bool is_same = true, is_shifted = peer >= 0;

    if (peer == SG_OPEN_NOBODY)
        return;
    for (uint32_t i = 1; i < group->count; i++) {
        int64_t other = is_from ? calls[i].from : calls[i].to;

        is_same = is_same && other == peer;
        is_shifted = is_shifted && other >= 0 && other - calls[i].rank == distance;
    }
    if (is_same && peer == SG_OPEN_ANY)
        fprintf(out, " %s any rank", before);
    else if (is_same)
        fprintf(out, " %s %" PRId64, before, peer);
    else if (is_shifted)
        fprintf(out, " %s its rank %s %" PRId64, before, distance > 0 ? "+" : "-",
                distance > 0 ? distance : -distance);
    else
        fprintf(out, " %s several ranks", before);
}

static void put_age(const struct sg_open_calls *open, const struct sg_open_group *group, FILE *out)
{
    const struct sg_rank_call *calls = open->calls + group->first;
    uint64_t least = UINT64_MAX, most = 0;
    bool has_age = true;

    for (uint32_t i = 0; i < group->count; i++) {
        uint64_t ns = calls[i].has_age ? calls[i].age_ns : (uint64_t)calls[i].since_ns;

        has_age = has_age && calls[i].has_age;
        least = ns < least ? ns : least;
        most = ns > most ? ns : most;
    }
    if (!has_age)
        fprintf(out, ", from %s of the run on", SG_NS(most));
    else if (least < most - most / 4)
        fprintf(out, ", for %s to %s", SG_NS(least), SG_NS(most));
    else
        fprintf(out, ", for %s", SG_NS(most));
}

static void put_call(const struct sg_open_calls *open, const struct sg_open_group *group,
                     const struct sg_report *report, FILE *out)
{
    const struct sg_rank_call *call = &open->calls[group->first];

    if (group->state == SG_OPEN_ABORTED)
        fputs("in MPI_Abort, ", out);
    else if (group->state == SG_OPEN_DIED && open->living > 0)
        fputs("dead, ", out);
    if (!call->is_open)
        fputs(group->state == SG_OPEN_ABORTED ? "after " : "outside MPI, after ", out);
    else
        fputs(call->tests ? "polling with " : "in ", out);
    put_function(call, out);
    if (call->is_open) {
        put_peers(open, group, "from", true, out);
        put_peers(open, group, call->order > 0 ? "with root" : "to", false, out);
    }
    put_site(call, report, out);
    if (call->is_open && call->comm != SG_OPEN_NO_COMM && !open->comms[call->comm].is_world) {
        fputs(" on ", out);
        sg_format_put(open->comms[call->comm].name, out);
    }
    put_age(open, group, out);
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool is_shown(const struct sg_open_calls *open, const struct sg_open_group *group,
                     bool only_lasting)
{
    for (uint32_t i = 0; i < group->count && only_lasting; i++) {
        if (sg_open_call_lasts(&open->calls[group->first + i]))
            return true;
    }
    return !only_lasting;
}

/* The lines on their way to the caller; each is made in memory. */
struct open_lines {
    const struct sg_open_calls *open;
    const struct sg_report *report;
    bool only_lasting;
    sg_open_line put;
    void *context;
    char *label, *text;
    size_t label_bytes, text_bytes;
    uint32_t count;
};

static FILE *begin_line(struct open_lines *lines)
{
    return open_memstream(&lines->text, &lines->text_bytes);
}

static void end_line(struct open_lines *lines, FILE *out, const char *label, bool is_group)
{
    if (fclose(out) == 0 && label != NULL) {
        lines->put(lines->context, label, is_group, lines->text);
        lines->count++;
    }
    free(lines->text);
    lines->text = NULL;
}

static void pass_group(struct open_lines *lines, const struct sg_open_group *group)
{
    FILE *label = open_memstream(&lines->label, &lines->label_bytes), *out;

    if (label == NULL)
        return;
    put_group_ranks(lines->open, group, label);
    out = fclose(label) == 0 ? begin_line(lines) : NULL;
    if (out != NULL) {
        put_call(lines->open, group, lines->report, out);
        end_line(lines, out, lines->label, true);
    }
    free(lines->label);
    lines->label = NULL;
}

static void pass_groups(struct open_lines *lines)
{
    uint32_t shown = 0, more = 0;

    for (uint32_t i = 0; i < lines->open->group_count; i++) {
        const struct sg_open_group *group = &lines->open->groups[i];

        if (!is_shown(lines->open, group, lines->only_lasting))
            continue;
        if (shown++ < GROUPS_SHOWN)
            pass_group(lines, group);
        else
            more += group->count;
    }
    if (more > 0) {
        FILE *out = begin_line(lines);

        if (out == NULL)
            return;
        fprintf(out, "%" PRIu32 " other calls", more);
        end_line(lines, out, "and", true);
    }
}

static void put_absence(const struct sg_open_calls *open, const struct sg_open_absence *absence,
                        FILE *out)
{
    const struct sg_open_group *group = &open->groups[absence->group];

    put_group_ranks(open, group, out);
    fputs(group->count > 1 ? " wait for " : " waits for ", out);
    put_ranks(rank_of_array, absence->ranks, absence->count, out);
    fputs(" in ", out);
    put_function(&open->calls[group->first], out);
}

static void put_cycle(const struct sg_open_calls *open, FILE *out)
{
    for (uint32_t i = 0; i < open->cycle_count && i < CYCLE_SHOWN; i++)
        fprintf(out, "%s%" PRIu32 " waits for %" PRIu32, i > 0 ? ", " : "", open->cycle[i],
                open->cycle[(i + 1) % open->cycle_count]);
    if (open->cycle_count > CYCLE_SHOWN)
        fprintf(out, ", ... (%" PRIu32 " ranks)", open->cycle_count);
}

/* Puts the ranks in a state; false: there are none. */
static bool put_state(const struct sg_open_calls *open, enum sg_open_state state, FILE *out)
{
    uint32_t *ranks = calloc((size_t)open->rank_count + 1, sizeof *ranks);
    uint32_t count = 0;

    for (uint32_t i = 0; i < open->rank_count && ranks != NULL; i++) {
        if (open->states[i] == state)
            ranks[count++] = i;
    }
    if (count > 0)
        put_ranks(rank_of_array, ranks, count, out);
    free(ranks);
    return count > 0;
}

static bool has_state(const struct sg_open_calls *open, enum sg_open_state state)
{
    for (uint32_t i = 0; i < open->rank_count; i++) {
        if (open->states[i] == state)
            return true;
    }
    return false;
}

static void put_headline(const struct sg_open_calls *open, FILE *out)
{
    if (has_state(open, SG_OPEN_ABORTED)) {
        put_state(open, SG_OPEN_ABORTED, out);
        fputs(" called MPI_Abort", out);
    } else if (open->absence_count > 0) {
        put_absence(open, &open->absences[0], out);
    } else if (open->cycle_count > 0) {
        put_cycle(open, out);
    } else if (put_state(open, SG_OPEN_DIED, out)) {
        fputs(" ended before MPI_Finalize", out);
    } else {
        fprintf(out, "%" PRIu32 " of %" PRIu32 " ranks run", open->living, open->rank_count);
    }
}

/* MPICH's launcher returns a rank's signal as a status, shells and other launchers 128 more. */
static void put_exit_status(uint32_t run_end, FILE *out)
{
    int status = (int)(run_end & 0xff), signal = status > 128 ? status - 128 : status;
    const char *name = signal > 0 && signal < NSIG ? sigabbrev_np(signal) : NULL;

    if (status > 128 && name != NULL)
        fprintf(out, "; exit status %d (SIG%s)", status, name);
    else if (status > 2 && name != NULL)
        fprintf(out, "; exit status %d, or SIG%s", status, name);
    else
        fprintf(out, "; exit status %d", status);
}

/* The waits of the others are the evidence. */
static void put_first(const struct sg_open_calls *open, FILE *out)
{
    if (sg_open_calls_has_first(open)) {
        fprintf(out, "probably rank %" PRIu32 ": the others waited", open->idle[0]);
    } else if (open->run_end == 0) {
        fputs("unknown: there is no exit status, which stagger run notes", out);
        return;
    } else if (has_state(open, SG_OPEN_UNKNOWN)) {
        fputs("unknown: ", out);
        put_state(open, SG_OPEN_UNKNOWN, out);
        fputs(" left no log", out);
    } else if (open->idle_count == 0) {
        fputs("unknown: all of them waited", out);
    } else if (open->idle_count > 1) {
        fputs("unknown: ", out);
        put_ranks(rank_of_array, open->idle, open->idle_count, out);
        fputs(" waited in no call", out);
    } else {
        fputs("unknown: the run was told to end", out);
    }
    put_exit_status(open->run_end, out);
}

static bool asks_for_first(const struct sg_open_calls *open)
{
    return open->living == 0 && has_state(open, SG_OPEN_DIED) &&
           !has_state(open, SG_OPEN_ABORTED) && (open->run_end & SG_RUN_TOLD) == 0;
}

/* Passes a line if there is memory for it. */
static void pass(struct open_lines *lines, const char *label,
                 void (*put)(const struct sg_open_calls *open, FILE *out))
{
    FILE *out = begin_line(lines);

    if (out == NULL)
        return;
    put(lines->open, out);
    end_line(lines, out, label, false);
}

static void put_without_log(const struct sg_open_calls *open, FILE *out)
{
    put_state(open, SG_OPEN_UNKNOWN, out);
    fputs(": no log", out);
}

static void pass_absences(struct open_lines *lines)
{
    const struct sg_open_calls *open = lines->open;

    for (uint32_t i = !has_state(open, SG_OPEN_ABORTED);
         i < open->absence_count && i < ABSENCES_SHOWN; i++) {
        FILE *out = begin_line(lines);

        if (out == NULL)
            return;
        put_absence(open, &open->absences[i], out);
        end_line(lines, out, "missing", false);
    }
}

uint32_t sg_open_calls_each(const struct sg_open_calls *open, const struct sg_report *report,
                            bool only_lasting, sg_open_line line, void *context)
{
    struct open_lines lines = {.open = open,
                               .report = report,
                               .only_lasting = only_lasting,
                               .put = line,
                               .context = context};
    bool has_lasting = false;

    if (open == NULL)
        return 0;
    for (uint32_t i = 0; i < open->group_count && !has_lasting; i++)
        has_lasting = is_shown(open, &open->groups[i], only_lasting);
    if (!has_lasting && !has_state(open, SG_OPEN_DIED) && !has_state(open, SG_OPEN_ABORTED))
        return 0;
    pass(&lines, open->living > 0 ? "open calls" : "did not end", put_headline);
    pass_groups(&lines);
    if (asks_for_first(open))
        pass(&lines, "went first", put_first);
    pass_absences(&lines);
    if (open->cycle_count > 0 && (open->absence_count > 0 || has_state(open, SG_OPEN_ABORTED)))
        pass(&lines, "cycle", put_cycle);
    if (has_state(open, SG_OPEN_UNKNOWN))
        pass(&lines, "not known", put_without_log);
    return lines.count;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *ranks_json(uint32_t (*get)(const void *of, uint32_t i), const void *of,
                          uint32_t count)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || get(of, i) != get(of, i - 1))
            sg_json_append(&list, json_integer(get(of, i)));
    }
    return list;
}

/* The peer if all of the group have the same; null: none, any, or several. */
static json_t *peer_json(const struct sg_rank_call *calls, uint32_t count, bool is_from)
{
    int64_t peer = is_from ? calls->from : calls->to;

    for (uint32_t i = 1; i < count; i++) {
        if ((is_from ? calls[i].from : calls[i].to) != peer)
            return json_null();
    }
    return peer >= 0 ? json_integer(peer) : json_null();
}

static json_t *group_json(const struct sg_open_calls *open, const struct sg_open_group *group)
{
    const struct sg_rank_call *call = &open->calls[group->first];
    const struct sg_call_row row = {.function = call->function != NULL ? call->function : "MPI",
                                    .place = call->place};
    bool has_comm = call->is_open && call->comm != SG_OPEN_NO_COMM;
    int64_t since_ns = call->since_ns;
    uint64_t age_ns = call->age_ns;
    json_t *object = json_object();

    for (uint32_t i = 1; i < group->count; i++) {
        since_ns = call[i].since_ns < since_ns ? call[i].since_ns : since_ns;
        age_ns = call[i].age_ns > age_ns ? call[i].age_ns : age_ns;
    }
    sg_json_set(&object, "ranks", ranks_json(rank_of_call, call, group->count));
    sg_json_set(&object, "state", json_string(state_names[group->state]));
    sg_json_set(&object, "is_open", json_boolean(call->is_open));
    sg_columns_set(&object, sg_call_function_columns, &row, NULL);
    sg_columns_set(&object, sg_call_site_columns, &row, NULL);
    sg_json_set(&object, "comm", sg_json_text(has_comm ? open->comms[call->comm].name : NULL));
    sg_json_set(&object, "number",
                sg_json_count(call->is_open && call->order > 0, call->order - UINT64_C(1)));
    sg_json_set(&object, "from", peer_json(call, group->count, true));
    sg_json_set(&object, "to", peer_json(call, group->count, false));
    sg_json_set(&object, "since_ns", json_integer(since_ns));
    sg_json_set(&object, "open_ns", sg_json_count(call->has_age, age_ns));
    return object;
}

static json_t *states_json(const struct sg_open_calls *open, enum sg_open_state state)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < open->rank_count; i++) {
        if (open->states[i] == state)
            sg_json_append(&list, json_integer(i));
    }
    return list;
}

json_t *sg_open_calls_json(const struct sg_open_calls *open)
{
    json_t *object, *groups = json_array(), *absences = json_array();

    if (open == NULL) {
        json_decref(groups);
        json_decref(absences);
        return json_null();
    }
    for (uint32_t i = 0; i < open->group_count; i++)
        sg_json_append(&groups, group_json(open, &open->groups[i]));
    for (uint32_t i = 0; i < open->absence_count; i++) {
        const struct sg_open_absence *absence = &open->absences[i];
        json_t *one = json_object();

        sg_json_set(&one, "group", json_integer(absence->group));
        sg_json_set(&one, "ranks", ranks_json(rank_of_array, absence->ranks, absence->count));
        sg_json_append(&absences, one);
    }
    object = json_object();
    sg_json_set(&object, "living_ranks", json_integer(open->living));
    sg_json_set(&object, "aborted", states_json(open, SG_OPEN_ABORTED));
    sg_json_set(&object, "died", states_json(open, SG_OPEN_DIED));
    sg_json_set(&object, "without_log", states_json(open, SG_OPEN_UNKNOWN));
    sg_json_set(&object, "exit_status",
                sg_json_count(open->run_end != 0, open->run_end & UINT64_C(0xff)));
    sg_json_set(&object, "was_told", json_boolean((open->run_end & SG_RUN_TOLD) != 0));
    sg_json_set(
        &object, "went_first",
        sg_json_count(sg_open_calls_has_first(open), open->idle_count > 0 ? open->idle[0] : 0));
    sg_json_set(&object, "groups", groups);
    sg_json_set(&object, "missing", absences);
    sg_json_set(&object, "cycle", ranks_json(rank_of_array, open->cycle, open->cycle_count));
    return object;
}
