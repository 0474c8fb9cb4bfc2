#include "trace/export/rma_function.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name; /* without MPI_ */
    enum sg_rma rma;
} functions[] = {
    {"Put", SG_RMA_PUT},
    {"Rput", SG_RMA_PUT},
    {"Get", SG_RMA_GET},
    {"Rget", SG_RMA_GET},
    {"Accumulate", SG_RMA_ACCUMULATE},
    {"Raccumulate", SG_RMA_ACCUMULATE},
    {"Get_accumulate", SG_RMA_FETCH},
    {"Rget_accumulate", SG_RMA_FETCH},
    {"Fetch_and_op", SG_RMA_FETCH},
    {"Compare_and_swap", SG_RMA_COMPARE},
    {"Win_create", SG_RMA_MAKE},
    {"Win_create_dynamic", SG_RMA_MAKE},
    {"Win_allocate", SG_RMA_MAKE},
    {"Win_allocate_shared", SG_RMA_MAKE},
    {"Win_free", SG_RMA_FREE},
    {"Win_fence", SG_RMA_FENCE},
    {"Win_post", SG_RMA_POST},
    {"Win_start", SG_RMA_START},
    {"Win_complete", SG_RMA_COMPLETE},
    {"Win_wait", SG_RMA_WAIT},
    {"Win_test", SG_RMA_WAIT},
    {"Win_lock", SG_RMA_LOCK},
    {"Win_lock_all", SG_RMA_LOCK_ALL},
    {"Win_unlock", SG_RMA_UNLOCK},
    {"Win_unlock_all", SG_RMA_UNLOCK_ALL},
    {"Win_flush", SG_RMA_FLUSH},
    {"Win_flush_all", SG_RMA_FLUSH_ALL},
    {"Win_flush_local", SG_RMA_FLUSH_LOCAL},
    {"Win_flush_local_all", SG_RMA_FLUSH_LOCAL_ALL},
};

enum sg_rma sg_rma_of(const char *name)
{
    if (strncmp(name, "MPI_", 4) != 0)
        return SG_RMA_NONE;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(name + 4, functions[i].name) == 0)
            return functions[i].rma;
    }
    return SG_RMA_NONE;
}
