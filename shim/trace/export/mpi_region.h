/* How OTF2 classifies a function of MPI, by its name: the role of its region, and the operation of
 * a collective. The choices are Score-P's, so that readers group regions as they are used to. */
#ifndef SG_TRACE_MPI_REGION_H
#define SG_TRACE_MPI_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct sg_mpi_region {
    uint8_t role;          /* OTF2_RegionRole */
    bool is_collective;    /* a collective that OTF2 has an operation for, blocking or not */
    bool is_nonblocking;   /* of a collective */
    uint8_t collective_op; /* OTF2_CollectiveOp */
};

/* name: as in "MPI_Send". Persistent collectives are functions like any other: what they make is
 * not what starts. */
struct sg_mpi_region sg_mpi_region_of(const char *name);

#endif
