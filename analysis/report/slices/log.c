#include "report/slices/log.h"

#include "core/room.h"

#include <stdlib.h>

enum sg_status sg_slices_log_comm(struct sg_slices_log *own, const struct sg_record_comm *record)
{
    if (!SG_APPEND(own->comms, own->comm_count, ((struct sg_slices_log_comm){.record = record})))
        return SG_ERR_MEMORY;
    return sg_map_put(&own->by_index, record->index, own->comm_count - 1);
}

enum sg_status sg_slices_log_clock(struct sg_slices_log *own, const struct sg_record_clock *record)
{
    struct sg_clock_point point = {record->local_ns, record->offset_ns, record->error_ns};

    if (!SG_APPEND(own->clock, own->clock_count, point))
        return SG_ERR_MEMORY;
    own->clock_count = (uint32_t)sg_clock_sanitize(own->clock, own->clock_count);
    return SG_OK;
}

uint64_t sg_slices_log_global_ns(const struct sg_slices_log *own, uint64_t local_ns)
{
    return own->clock_count > 0 ? sg_clock_global(own->clock, own->clock_count, local_ns)
                                : local_ns;
}

/* record: of a slice. */
static enum sg_status add(const struct sg_slices_log *own, uint32_t comm,
                          const struct sg_record_slice *record, struct sg_slice_set *slices)
{
    return sg_slices_add(slices, comm, record, sg_slices_log_global_ns(own, record->begin_ns));
}

static enum sg_status look_for(struct sg_slices_log_comm *comm, struct sg_logread *log,
                               struct sg_slice_set *slices)
{
    char *name = sg_logread_text(log, comm->record, comm->record->text_bytes);
    enum sg_status status =
        name != NULL ? sg_slices_comm(slices, comm->record, name, &comm->comm) : SG_ERR_MEMORY;

    comm->is_known = status == SG_OK;
    free(name);
    return status;
}

enum sg_status sg_slices_log_take(struct sg_slices_log *own, struct sg_logread *log,
                                  const void *record, enum sg_record_kind kind,
                                  struct sg_slice_set *slices)
{
    uint32_t index = kind == SG_RECORD_SLICE ? ((const struct sg_record_slice *)record)->comm
                                             : ((const struct sg_record_slice_sum *)record)->comm;
    int64_t found = sg_map_get(&own->by_index, index);
    struct sg_slices_log_comm *comm = found >= 0 ? &own->comms[found] : NULL;
    enum sg_status status = SG_OK;

    if (comm == NULL)
        return SG_OK;
    if (!comm->is_known)
        status = look_for(comm, log, slices);
    if (status != SG_OK)
        return status;
    return kind == SG_RECORD_SLICE ? add(own, comm->comm, record, slices)
                                   : sg_slices_add_sum(slices, comm->comm, record);
}

void sg_slices_log_clear(struct sg_slices_log *own)
{
    sg_map_clear(&own->by_index);
    free(own->comms);
    free(own->clock);
    *own = (struct sg_slices_log){0};
}
