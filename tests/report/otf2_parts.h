/* The parts of an OTF2 archive that all makers of archives write alike: one clock's callbacks, the
 * processes of one machine, and the groups of their ranks. String 0 is empty. */
#ifndef SG_TESTS_REPORT_OTF2_PARTS_H
#define SG_TESTS_REPORT_OTF2_PARTS_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline OTF2_FlushType otf2_pre_flush(void *data, OTF2_FileType type, OTF2_LocationRef at,
                                            void *caller, bool final)
{
    return OTF2_FLUSH;
}

static inline OTF2_TimeStamp otf2_post_flush(void *data, OTF2_FileType type, OTF2_LocationRef at)
{
    return 0;
}

static inline void otf2_check(OTF2_ErrorCode code, const char *what)
{
    if (code != OTF2_SUCCESS) {
        fprintf(stderr, "fixture: %s: %s\n", what, OTF2_Error_GetDescription(code));
        abort();
    }
}
#define CHECKED(call) otf2_check(call, #call)

static inline OTF2_Archive *otf2_open(const char *directory, uint64_t event_bytes,
                                      uint64_t definition_bytes)
{
    static const OTF2_FlushCallbacks flush = {otf2_pre_flush, otf2_post_flush};
    OTF2_Archive *archive =
        OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, event_bytes, definition_bytes,
                          OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);

    if (archive == NULL)
        abort();
    CHECKED(OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL));
    CHECKED(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    return archive;
}

static inline void otf2_put_group(OTF2_GlobalDefWriter *global, uint32_t group, OTF2_GroupType type,
                                  uint32_t size, const uint64_t *members)
{
    CHECKED(OTF2_GlobalDefWriter_WriteGroup(global, group, 0, type, OTF2_PARADIGM_MPI,
                                            OTF2_GROUP_FLAG_NONE, size, members));
}

/* Groups 0 and 1: all locations, and the ranks of the world. */
static inline void otf2_put_world(OTF2_GlobalDefWriter *global, uint32_t ranks)
{
    uint64_t *members = calloc(ranks, sizeof *members);

    if (members == NULL)
        abort();
    for (uint32_t rank = 0; rank < ranks; rank++)
        members[rank] = rank;
    otf2_put_group(global, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, ranks, members);
    otf2_put_group(global, 1, OTF2_GROUP_TYPE_COMM_GROUP, ranks, members);
    free(members);
}

/* A machine with one location for each rank; counts: of their events. */
static inline void otf2_put_processes(OTF2_GlobalDefWriter *global, uint32_t machine,
                                      uint32_t location, uint32_t ranks, const uint64_t *counts)
{
    CHECKED(OTF2_GlobalDefWriter_WriteSystemTreeNode(global, 0, machine, machine,
                                                     OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        CHECKED(OTF2_GlobalDefWriter_WriteLocationGroup(global, rank, location,
                                                        OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                        OTF2_UNDEFINED_LOCATION_GROUP));
        CHECKED(OTF2_GlobalDefWriter_WriteLocation(
            global, rank, location, OTF2_LOCATION_TYPE_CPU_THREAD, counts[rank], rank));
    }
}

static inline void otf2_put_comm(OTF2_GlobalDefWriter *global, uint32_t comm, uint32_t name,
                                 uint32_t group, OTF2_CommRef parent)
{
    CHECKED(OTF2_GlobalDefWriter_WriteComm(global, comm, name, group, parent, OTF2_COMM_FLAG_NONE));
}

#endif
