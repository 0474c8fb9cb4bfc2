/* Composes lines about calls and ranks that disagree, and passes trace events to the functions that
 * the log has set (user_lines.h).
 */
#include "mpi/user_lines.h"

#include "core/status.h"
#include "mpi/real.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Fits a small frame together with the arguments. */
#define LINE_BYTES 760
#define PLACE_BYTES 200 /* of a call site's text */

/* Helper threads and signal handlers read this, too, and may still run at the end of MPI_Finalize.
 */
static _Atomic(const struct sg_trace_events *) current;

static const struct sg_trace_events *get(void)
{
    return atomic_load_explicit(&current, memory_order_acquire);
}

void sg_report_line(enum sg_trace_line kind, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sg_log("%s", text);
    sg_trace_event_line(kind, text);
}

static const char *function_of(enum sg_operation operation, bool nonblocking)
{
    return nonblocking ? sg_operation_nonblocking_regions[operation]
                       : sg_operation_regions[operation];
}

const char *sg_report_function(const struct sg_call *call)
{
    return function_of(call->operation, call->request != NULL);
}

/* Formats a call site as "solve solver.c:88", or "solver+0x12f0" if that is not known. module: NULL
 * or "": not known. */
static const char *place_of(uint32_t site, const char *module, uint64_t offset,
                            char text[PLACE_BYTES])
{
    const struct sg_trace_events *events = get();
    const char *known = module != NULL && module[0] != '\0' ? module : "?";

    if (events == NULL || !events->site(site, known, offset, text, PLACE_BYTES))
        snprintf(text, PLACE_BYTES, "%s+0x%llx", known, (unsigned long long)offset);
    return text;
}

static const char *name_of(MPI_Comm comm, char name[MPI_MAX_OBJECT_NAME])
{
    int length;

    name[0] = '\0';
    if (sg_real.Comm_get_name(comm, name, &length) != MPI_SUCCESS || name[0] == '\0')
        snprintf(name, MPI_MAX_OBJECT_NAME, "a communicator");
    return name;
}

const char *sg_report_instance(const struct sg_call *call, uint64_t position, int ranks,
                               char text[SG_REPORT_CALL_BYTES])
{
    char name[MPI_MAX_OBJECT_NAME], place[PLACE_BYTES] = "?";

    if (call->site != NULL)
        place_of(call->site->id, call->site->module, call->site->offset, place);
    snprintf(text, SG_REPORT_CALL_BYTES, "instance #%llu on %.60s, %d ranks, at %s",
             (unsigned long long)(call->name.recorded ? call->name.seq : position),
             name_of(call->comm, name), ranks, place);
    return text;
}

const char *sg_report_call(const struct sg_call_info *info, char text[SG_REPORT_CALL_BYTES])
{
    size_t size_bytes = SG_REPORT_CALL_BYTES;
    char place[PLACE_BYTES];
    int used = snprintf(text, size_bytes, "%s",
                        info->operation < SG_OPERATION_COUNT
                            ? function_of((enum sg_operation)info->operation, info->nonblocking)
                            : "a collective");

    if (info->operation != SG_OPERATION_BARRIER)
        used += snprintf(text + used, size_bytes - (size_t)used, " of %llu bytes",
                         (unsigned long long)info->bytes);
    if (info->in_place)
        used += snprintf(text + used, size_bytes - (size_t)used, " in place");
    if (info->root >= 0)
        used += snprintf(text + used, size_bytes - (size_t)used, " %s root %d",
                         info->operation == SG_OPERATION_BCAST ? "from" : "to", info->root);
    snprintf(text + used, size_bytes - (size_t)used, " at %s #%08x",
             place_of(info->site, info->module, info->offset, place), info->site);
    return text;
}

int sg_report_world_rank(MPI_Comm comm, int rank)
{
    MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    int world_rank = MPI_UNDEFINED;

    if (sg_real.Comm_group(comm, &group) != MPI_SUCCESS)
        return MPI_UNDEFINED;
    if (sg_real.Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        if (sg_real.Group_translate_ranks(group, 1, &rank, world, &world_rank) != MPI_SUCCESS)
            world_rank = MPI_UNDEFINED;
        sg_real.Group_free(&world);
    }
    sg_real.Group_free(&group);
    return world_rank;
}

bool sg_report_present(const struct sg_call *call, int rank, char text[SG_REPORT_CALL_BYTES])
{
    const struct sg_trace_events *events = get();
    int world_rank = events != NULL ? sg_report_world_rank(call->comm, rank) : MPI_UNDEFINED;

    return world_rank >= 0 && events->present(world_rank, text, SG_REPORT_CALL_BYTES);
}

static bool is_first(_Atomic uint64_t *told, enum sg_operation operation, int one, int other)
{
    uint64_t low = (uint64_t)(one < other ? one : other);
    uint64_t high = (uint64_t)(one < other ? other : one);
    uint64_t pair = (low << 32 | high) << 2 | (uint64_t)operation;

    for (int i = 0; i < SG_NODE_WARNED; i++) {
        uint64_t seen = 0;

        if (atomic_compare_exchange_strong(&told[i], &seen, pair))
            return true;
        if (seen == pair)
            return false;
    }
    return false;
}

void sg_report_choice(_Atomic uint64_t told[SG_NODE_WARNED], const struct sg_call *call, int rank,
                      int own, int chosen, int chooser)
{
    char place[PLACE_BYTES];

    if (own == chosen || !is_first(told, call->operation, own, chosen))
        return;
    sg_report_line(SG_TRACE_LINE_MISMATCH,
                   "%s at %s #%08x of rank %d: a rule selects %s, but rank %d reached the same "
                   "instance from another call site, whose rule selects %s and applies",
                   sg_report_function(call),
                   place_of(call->site->id, call->site->module, call->site->offset, place),
                   call->site->id, rank, sg_algorithms[own].name, chooser,
                   sg_algorithms[chosen].name);
}

void sg_report_far_ahead(const struct sg_call *call, int rank, int calls)
{
    char name[MPI_MAX_OBJECT_NAME], place[PLACE_BYTES];

    sg_report_line(SG_TRACE_LINE_NOTE,
                   "rank %d starts %s at %s, %d calls or more ahead of another rank: from this "
                   "call on, rules by call site no longer apply to %.60s",
                   rank, sg_report_function(call),
                   place_of(call->site->id, call->site->module, call->site->offset, place), calls,
                   name_of(call->comm, name));
}

/* ---- ranks that disagree ---- */

/* MPICH's handles of predefined objects have a mark; others are references to be freed. */
static bool is_predefined(MPI_Errhandler handler)
{
    return (unsigned)handler >> 30 == 1;
}

bool sg_report_is_fatal(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;

    if (sg_real.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return true;
    if (is_predefined(handler))
        return handler != MPI_ERRORS_RETURN;
    sg_real.Errhandler_free(&handler);
    return false;
}

/* Writes the part of the line that names the ranks. Not inlined: its callers' frames hold a line,
 * too. */
static __attribute__((noinline)) void describe(char text[LINE_BYTES], int rank,
                                               const struct sg_call_info *own, int other_rank,
                                               const struct sg_call_info *other)
{
    char texts[2][SG_REPORT_CALL_BYTES];

    snprintf(text, LINE_BYTES,
             "ranks of one communicator disagree on a collective: rank %d is in %s, rank %d in %s",
             rank, sg_report_call(own, texts[0]), other_rank,
             other != NULL ? sg_report_call(other, texts[1]) : "another that it has left already");
}

void sg_report_end(const struct sg_call *call, int rank, const struct sg_call_info *own,
                   int other_rank, const struct sg_call_info *other)
{
    char text[LINE_BYTES];

    describe(text, rank, own, other_rank, other);
    sg_report_line(SG_TRACE_LINE_MISMATCH, "%s; aborting the job", text);
    sg_log_drain();
    sg_real.Abort(call->comm, 1);
    abort();
}

void sg_report_mismatch(const struct sg_call *call, int rank, const struct sg_call_info *own,
                        int other_rank, const struct sg_call_info *other)
{
    char text[LINE_BYTES];

    if (sg_report_is_fatal(call->comm))
        sg_report_end(call, rank, own, other_rank, other);
    describe(text, rank, own, other_rank, other);
    sg_trace_event_line(SG_TRACE_LINE_MISMATCH, text);
}

int sg_report_error(const struct sg_call_info *own, const struct sg_call_info *other)
{
    if (own->operation != other->operation)
        return MPI_ERR_OTHER;
    if (own->root != other->root)
        return MPI_ERR_ROOT;
    return own->bytes < other->bytes ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
}

void sg_trace_events_set(const struct sg_trace_events *given)
{
    /* Release: the functions' state is initialised. */
    atomic_store_explicit(&current, given, memory_order_release);
}

void sg_trace_event_late(const struct sg_late *late)
{
    const struct sg_trace_events *events = get();

    if (events != NULL)
        events->late(late);
}

void sg_trace_event_slice(const struct sg_told_slice *told)
{
    const struct sg_trace_events *events = get();

    if (events != NULL)
        events->slice(told);
}

void sg_trace_event_line(enum sg_trace_line kind, const char *text)
{
    const struct sg_trace_events *events = get();

    if (events != NULL)
        events->line(kind, text);
}
