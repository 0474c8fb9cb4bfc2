/* Groups and communicators. Exactly one COMM_LOCATIONS group, before any COMM_GROUP, whose members
 * are indices into it; one COMM_SELF without members. */
#include "trace/export/definer.h"

#include "core/hash.h"

/* Groups of members seen so far, so that duplicates of a communicator share one. */
struct group_table {
    struct group {
        uint64_t hash;
        const struct sg_comm_definition *comm;
    } * groups;
    uint32_t count;
};

enum { GROUP_LOCATIONS, GROUP_WORLD, GROUP_SELF, GROUP_OTHERS };

static void write_group(struct sg_definer *definer, uint32_t ref, OTF2_GroupType type,
                        const uint32_t *members, uint32_t count)
{
    uint64_t *wide = calloc((size_t)count + 1, sizeof *wide);

    if (wide == NULL) {
        sg_archive_fail(definer->archive, "%s", sg_status_text(SG_ERR_MEMORY));
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        wide[i] = members != NULL ? members[i] : i;
    sg_definer_check(definer, OTF2_GlobalDefWriter_WriteGroup(
                                  definer->writer, ref, sg_definer_text(definer, ""), type,
                                  OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, wide));
    free(wide);
}

/* The group of a communicator's members, written when it is new. */
static uint32_t find_group(struct sg_definer *definer, struct group_table *table,
                           const struct sg_comm_definition *comm)
{
    size_t size_bytes = comm->size * sizeof *comm->members;
    uint64_t hash = sg_hash_bytes(SG_HASH_START, comm->members, size_bytes);

    for (uint32_t i = 0; i < table->count; i++) {
        const struct sg_comm_definition *known = table->groups[i].comm;

        if (table->groups[i].hash == hash && known->size == comm->size &&
            memcmp(known->members, comm->members, size_bytes) == 0)
            return GROUP_OTHERS + i;
    }
    table->groups[table->count] = (struct group){.hash = hash, .comm = comm};
    write_group(definer, GROUP_OTHERS + table->count, OTF2_GROUP_TYPE_COMM_GROUP, comm->members,
                comm->size);
    return GROUP_OTHERS + table->count++;
}

void sg_define_comms(struct sg_definer *definer)
{
    const struct sg_unified *unified = definer->unified;
    uint32_t world_size = (uint32_t)unified->world_size;
    uint32_t world = sg_definer_text(definer, "MPI_COMM_WORLD");
    uint32_t self = sg_definer_text(definer, "MPI_COMM_SELF");
    struct group_table table = {0};

    if (definer->collecting)
        return;
    table.groups = calloc(unified->comm_count + 1, sizeof *table.groups);
    if (table.groups == NULL) {
        sg_archive_fail(definer->archive, "%s", sg_status_text(SG_ERR_MEMORY));
        return;
    }
    /* Master threads' locations have their rank's number. */
    write_group(definer, GROUP_LOCATIONS, OTF2_GROUP_TYPE_COMM_LOCATIONS, NULL, world_size);
    write_group(definer, GROUP_WORLD, OTF2_GROUP_TYPE_COMM_GROUP, NULL, world_size);
    write_group(definer, GROUP_SELF, OTF2_GROUP_TYPE_COMM_SELF, NULL, 0);
    sg_definer_check(definer, OTF2_GlobalDefWriter_WriteComm(
                                  definer->writer, SG_COMM_WORLD_REF, world, GROUP_WORLD,
                                  OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    sg_definer_check(definer, OTF2_GlobalDefWriter_WriteComm(definer->writer, SG_COMM_SELF_REF,
                                                             self, GROUP_SELF, OTF2_UNDEFINED_COMM,
                                                             OTF2_COMM_FLAG_NONE));
    for (uint32_t i = 0; i < unified->comm_count; i++) {
        const struct sg_comm_definition *comm = &unified->comms[i];
        uint32_t group = find_group(definer, &table, comm);

        sg_definer_check(definer,
                         OTF2_GlobalDefWriter_WriteComm(
                             definer->writer, SG_COMM_SELF_REF + 1 + i, comm->name, group,
                             comm->parent == SG_NO_COMM ? OTF2_UNDEFINED_COMM : comm->parent,
                             OTF2_COMM_FLAG_NONE));
    }
    free(table.groups);
}
