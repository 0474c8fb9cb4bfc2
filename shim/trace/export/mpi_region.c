#include "trace/export/mpi_region.h"

#include <ctype.h>
#include <otf2/otf2.h>
#include <stddef.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#define NEIGHBORHOOD UINT8_MAX /* no operation of OTF2's */

static const struct {
    const char *name; /* of the blocking form, without MPI_ */
    uint8_t role;
    uint8_t collective_op;
} collectives[] = {
    {"Barrier", OTF2_REGION_ROLE_BARRIER, OTF2_COLLECTIVE_OP_BARRIER},
    {"Bcast", OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_BCAST},
    {"Gather", OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_GATHER},
    {"Gatherv", OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_GATHERV},
    {"Scatter", OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_SCATTER},
    {"Scatterv", OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_SCATTERV},
    {"Allgather", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLGATHER},
    {"Allgatherv", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLGATHERV},
    {"Alltoall", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALL},
    {"Alltoallv", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALLV},
    {"Alltoallw", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALLW},
    {"Reduce", OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_REDUCE},
    {"Allreduce", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLREDUCE},
    {"Reduce_scatter", OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
    {"Reduce_scatter_block", OTF2_REGION_ROLE_COLL_ALL2ALL,
     OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
    {"Scan", OTF2_REGION_ROLE_COLL_OTHER, OTF2_COLLECTIVE_OP_SCAN},
    {"Exscan", OTF2_REGION_ROLE_COLL_OTHER, OTF2_COLLECTIVE_OP_EXSCAN},
    {"Neighbor_allgather", OTF2_REGION_ROLE_COLL_OTHER, NEIGHBORHOOD},
    {"Neighbor_allgatherv", OTF2_REGION_ROLE_COLL_OTHER, NEIGHBORHOOD},
    {"Neighbor_alltoall", OTF2_REGION_ROLE_COLL_OTHER, NEIGHBORHOOD},
    {"Neighbor_alltoallv", OTF2_REGION_ROLE_COLL_OTHER, NEIGHBORHOOD},
    {"Neighbor_alltoallw", OTF2_REGION_ROLE_COLL_OTHER, NEIGHBORHOOD},
};

/* The role of functions whose names begin so, without MPI_; the first that fits. What only handles
 * requests or communicators is a function. */
static const struct {
    const char *begin;
    uint8_t role;
} roles[] = {
    {"File_read", OTF2_REGION_ROLE_FILE_IO},
    {"File_write", OTF2_REGION_ROLE_FILE_IO},
    {"File_iread", OTF2_REGION_ROLE_FILE_IO},
    {"File_iwrite", OTF2_REGION_ROLE_FILE_IO},
    {"File_sync", OTF2_REGION_ROLE_FILE_IO},
    {"File_", OTF2_REGION_ROLE_FILE_IO_METADATA},
    {"Win_", OTF2_REGION_ROLE_RMA},
    {"Get", OTF2_REGION_ROLE_RMA},
    {"Put", OTF2_REGION_ROLE_RMA},
    {"Rget", OTF2_REGION_ROLE_RMA},
    {"Rput", OTF2_REGION_ROLE_RMA},
    {"Accumulate", OTF2_REGION_ROLE_ATOMIC},
    {"Raccumulate", OTF2_REGION_ROLE_ATOMIC},
    {"Fetch_and_op", OTF2_REGION_ROLE_ATOMIC},
    {"Compare_and_swap", OTF2_REGION_ROLE_ATOMIC},
    {"Wait", OTF2_REGION_ROLE_FUNCTION},
    {"Test", OTF2_REGION_ROLE_FUNCTION},
    {"Request_", OTF2_REGION_ROLE_FUNCTION},
    {"Cancel", OTF2_REGION_ROLE_FUNCTION},
    {"Comm_", OTF2_REGION_ROLE_FUNCTION},
    {"Intercomm_", OTF2_REGION_ROLE_FUNCTION},
    {"Cart_", OTF2_REGION_ROLE_FUNCTION},
    {"Graph_", OTF2_REGION_ROLE_FUNCTION},
    {"Dist_graph_", OTF2_REGION_ROLE_FUNCTION},
};

static bool is_nonblocking_form(const char *name, const char *blocking)
{
    return name[0] == 'I' && name[1] == tolower((unsigned char)blocking[0]) &&
           strcmp(name + 2, blocking + 1) == 0;
}

static bool is_persistent_form(const char *name, const char *blocking)
{
    size_t length = strlen(blocking);

    return strncmp(name, blocking, length) == 0 && strcmp(name + length, "_init") == 0;
}

/* False: the function is no form of a collective. */
static bool find_collective(const char *name, struct sg_mpi_region *out)
{
    for (size_t i = 0; i < COUNT_OF(collectives); i++) {
        bool is_blocking = strcmp(name, collectives[i].name) == 0;
        bool is_nonblocking = is_nonblocking_form(name, collectives[i].name);
        bool is_persistent = is_persistent_form(name, collectives[i].name);
        uint8_t role = collectives[i].role;

        if (is_blocking || is_nonblocking || is_persistent) {
            *out = (struct sg_mpi_region){
                .role = is_persistent ? OTF2_REGION_ROLE_COLL_OTHER : role,
                .is_collective = !is_persistent,
                .is_nonblocking = is_nonblocking,
                .is_persistent = is_persistent,
                .is_rooted =
                    role == OTF2_REGION_ROLE_COLL_ONE2ALL || role == OTF2_REGION_ROLE_COLL_ALL2ONE,
                .is_neighborhood = collectives[i].collective_op == NEIGHBORHOOD,
                .collective_op = collectives[i].collective_op};
            return true;
        }
    }
    return false;
}

struct sg_mpi_region sg_mpi_region_of(const char *name)
{
    struct sg_mpi_region region = {.role = OTF2_REGION_ROLE_FUNCTION};

    if (strncmp(name, "MPI_", 4) != 0)
        return region;
    name += 4;
    if (find_collective(name, &region))
        return region;
    region.role = OTF2_REGION_ROLE_POINT2POINT;
    for (size_t i = 0; i < COUNT_OF(roles); i++) {
        if (strncmp(name, roles[i].begin, strlen(roles[i].begin)) == 0) {
            region.role = roles[i].role;
            break;
        }
    }
    return region;
}
