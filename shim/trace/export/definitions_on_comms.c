#include "trace/export/definitions.h"

#include "trace/export/vocabulary.h"

#include <stdlib.h>

static void define_windows(struct sg_archive *archive, const struct sg_unified *unified,
                           OTF2_GlobalDefWriter *writer)
{
    const struct sg_unified_windows *windows = &unified->windows;

    for (uint32_t i = 0; i < windows->window_count; i++) {
        const struct sg_window_definition *window = &windows->windows[i];

        sg_archive_check(archive, OTF2_GlobalDefWriter_WriteRmaWin(
                                      writer, i, window->name, window->comm,
                                      window->has_life ? OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS
                                                       : OTF2_RMA_WIN_FLAG_NONE));
    }
}

/* ---- topologies ----------------------------------------------------------------------------- */

static uint32_t dimension_name(struct sg_unified *unified, uint32_t dimension)
{
    return sg_strings_addf(&unified->strings, "dimension %u", dimension);
}

/* Ranks are in row-major order: the last coordinate runs first (MPI-4.1, section 8.2). */
static void define_coordinates(struct sg_archive *archive, OTF2_GlobalDefWriter *writer,
                               uint32_t topology, const struct sg_comm_definition *comm)
{
    uint32_t coordinates[UINT8_MAX];

    for (uint32_t rank = 0; rank < comm->size; rank++) {
        uint32_t rest = rank;

        for (uint32_t i = comm->dimensions; i-- > 0;) {
            coordinates[i] = rest % comm->grid[i];
            rest /= comm->grid[i];
        }
        sg_archive_check(archive,
                         OTF2_GlobalDefWriter_WriteCartCoordinate(
                             writer, topology, rank, (uint8_t)comm->dimensions, coordinates));
    }
}

/* Dimensions are numbered through all topologies. */
static void define_topologies(struct sg_archive *archive, struct sg_unified *unified,
                              OTF2_GlobalDefWriter *writer)
{
    OTF2_CartDimensionRef dimensions[UINT8_MAX];
    uint32_t topology = 0, dimension = 0;

    for (uint32_t c = 0; c < unified->comms.count; c++) {
        const struct sg_comm_definition *comm = &unified->comms.definitions[c];

        if (comm->dimensions == 0)
            continue;
        for (uint32_t i = 0; i < comm->dimensions; i++) {
            dimensions[i] = dimension++;
            sg_archive_check(archive,
                             OTF2_GlobalDefWriter_WriteCartDimension(
                                 writer, dimensions[i], dimension_name(unified, i), comm->grid[i],
                                 comm->grid[comm->dimensions + i] != 0 ? OTF2_CART_PERIODIC_TRUE
                                                                       : OTF2_CART_PERIODIC_FALSE));
        }
        sg_archive_check(archive, OTF2_GlobalDefWriter_WriteCartTopology(
                                      writer, topology, comm->name, SG_COMM_SELF_REF + 1 + c,
                                      (uint8_t)comm->dimensions, dimensions));
        define_coordinates(archive, writer, topology++, comm);
    }
}

static void collect_names(struct sg_unified *unified)
{
    for (uint32_t c = 0; c < unified->comms.count; c++) {
        for (uint32_t i = 0; i < unified->comms.definitions[c].dimensions; i++)
            dimension_name(unified, i);
    }
}

void sg_definitions_on_comms(struct sg_archive *archive, struct sg_unified *unified,
                             OTF2_GlobalDefWriter *writer)
{
    if (writer == NULL) {
        collect_names(unified);
        return;
    }
    define_windows(archive, unified, writer);
    define_topologies(archive, unified, writer);
}
