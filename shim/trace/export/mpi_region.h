/* How OTF2 classifies a function of MPI, by its name: the role of its region, and the operation of
 * a collective. The choices are Score-P's, so that readers group regions as they are used to. */
#ifndef SG_TRACE_MPI_REGION_H
#define SG_TRACE_MPI_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct sg_mpi_region {
    uint8_t role;          /* OTF2_RegionRole */
    bool is_collective;    /* a collective, blocking or not */
    bool is_nonblocking;   /* of a collective */
    bool is_persistent;    /* it makes a collective */
    bool is_rooted;        /* of a collective, in whatever form */
    bool is_neighborhood;  /* likewise; OTF2 has no operation for it */
    uint8_t collective_op; /* OTF2_CollectiveOp; not of a neighborhood collective */
};

/* name: as in "MPI_Send". What makes a persistent collective is a function like any other: its
 * region is not the collective's. */
struct sg_mpi_region sg_mpi_region_of(const char *name);

#endif
