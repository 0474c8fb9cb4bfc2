#include "transport/local_memory.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

static unsigned char *slot(const struct sg_action *action, const struct sg_transport_region *region)
{
    assert(action->access.remote < region->slots_count &&
           action->access.bytes <= region->slot_bytes);
    return (unsigned char *)region->slots + (size_t)action->access.remote * region->slot_bytes;
}

static _Atomic uint64_t *cells(const struct sg_action *action,
                               const struct sg_transport_region *region, uint32_t count)
{
    assert(count <= region->cells_count && action->access.remote <= region->cells_count - count);
    return region->cells + action->access.remote;
}

/* Slots are plain memory: a protocol reads one only after a cell has announced that the write is
 * complete. So writing a cell releases, reading one acquires, and FETCH_ADD, by which the second of
 * two writers learns of the first, does both. */
enum sg_transport_result sg_transport_access_memory(struct sg_transport *transport, int self,
                                                    const struct sg_action *action,
                                                    const struct sg_transport_region *region,
                                                    void *local, uint64_t value[8])
{
    _Atomic uint64_t *cell;

    switch ((enum sg_action_kind)action->kind) {
    case SG_ACTION_WRITE:
        if (action->access.bytes > 0)
            memcpy(slot(action, region), local, action->access.bytes);
        break;
    case SG_ACTION_READ:
        if (action->access.bytes > 0)
            memcpy(local, slot(action, region), action->access.bytes);
        break;
    case SG_ACTION_WRITE_CELL:
        atomic_store_explicit(cells(action, region, 1), action->access.value, memory_order_release);
        break;
    case SG_ACTION_FETCH_ADD:
        value[0] = atomic_fetch_add_explicit(cells(action, region, 1), action->access.value,
                                             memory_order_acq_rel);
        break;
    case SG_ACTION_READ_CELLS:
        assert(action->access.count <= 8);
        cell = cells(action, region, action->access.count);
        for (uint32_t i = 0; i < action->access.count; i++)
            value[i] = atomic_load_explicit(&cell[i], memory_order_acquire);
        break;
    case SG_ACTION_AWAIT: /* acquired with the cell */
        break;
    default:
        assert(!"one-sided");
    }
    return SG_TRANSPORT_DONE;
}
