/* The communicators that an aggregate knows. */
#include "core/room.h"
#include "report/aggregate.h"
#include "report/aggregate_tables.h"

#include <stdlib.h>
#include <string.h>

enum sg_status sg_aggregate_comm(struct sg_aggregate *aggregate, const char *name, uint32_t size,
                                 int64_t first_rank, uint32_t *out)
{
    struct sg_known_comm comm = {.name = strdup(name), .size = size, .first_rank = first_rank};

    *out = aggregate->comm_count;
    if (comm.name == NULL || !SG_APPEND(aggregate->comms, aggregate->comm_count, comm)) {
        free(comm.name);
        return SG_ERR_MEMORY;
    }
    return SG_OK;
}

enum sg_status sg_aggregate_comm_parent(struct sg_aggregate *aggregate, uint32_t comm,
                                        const char *parent)
{
    if (parent == NULL || aggregate->comms[comm].parent != NULL)
        return SG_OK;
    aggregate->comms[comm].parent = strdup(parent);
    return aggregate->comms[comm].parent != NULL ? SG_OK : SG_ERR_MEMORY;
}

enum sg_status sg_aggregate_find_comm(struct sg_aggregate *aggregate, const char *name,
                                      uint32_t size, int64_t first_rank, uint32_t nth,
                                      uint32_t *out)
{
    for (uint32_t i = 0; i < aggregate->comm_count; i++) {
        const struct sg_known_comm *comm = &aggregate->comms[i];

        if (comm->size == size && comm->first_rank == first_rank && strcmp(comm->name, name) == 0 &&
            nth-- == 0) {
            *out = i;
            return SG_OK;
        }
    }
    return sg_aggregate_comm(aggregate, name, size, first_rank, out);
}

void sg_aggregate_name_comm(const struct sg_aggregate *aggregate, uint32_t comm,
                            struct sg_report_site *out)
{
    out->comm = out->worst_comm = aggregate->comms[comm].name;
    out->comm_size = out->worst_comm_size = aggregate->comms[comm].size;
    out->comm_parent = aggregate->comms[comm].parent;
    out->comm_index = comm;
    out->comms = 1;
}
