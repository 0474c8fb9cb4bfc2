#include "report/archive_markers.h"

#include "trace/export/vocabulary.h"

#include <string.h>

struct markers {
    struct sg_learned *learned;
    OTF2_MarkerRef kind; /* of what was learned */
    bool has_kind;
    enum sg_status status;
};

static OTF2_CallbackCode on_kind(void *context, OTF2_MarkerRef self, const char *group,
                                 const char *category, OTF2_MarkerSeverity severity)
{
    struct markers *markers = context;

    if (strcmp(category, SG_MARKER_LEARNED_CATEGORY) == 0) {
        markers->kind = self;
        markers->has_kind = true;
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_marker(void *context, OTF2_TimeStamp time, OTF2_TimeStamp duration,
                                   OTF2_MarkerRef kind, OTF2_MarkerScope scope, uint64_t scope_ref,
                                   const char *text)
{
    struct markers *markers = context;

    if (!markers->has_kind || kind != markers->kind || scope != OTF2_MARKER_SCOPE_LOCATION)
        return OTF2_CALLBACK_SUCCESS;
    markers->status = sg_learned_add(markers->learned, (uint32_t)scope_ref, text);
    return markers->status == SG_OK ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

enum sg_status sg_archive_markers_read(OTF2_Reader *reader, struct sg_learned *learned)
{
    struct markers markers = {.learned = learned};
    OTF2_MarkerReader *file = OTF2_Reader_GetMarkerReader(reader);
    OTF2_MarkerReaderCallbacks *callbacks = OTF2_MarkerReaderCallbacks_New();
    uint64_t count;

    if (file != NULL && callbacks != NULL) {
        OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(callbacks, on_kind);
        OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks, on_marker);
        OTF2_Reader_RegisterMarkerCallbacks(reader, file, callbacks, &markers);
        OTF2_Reader_ReadAllMarkers(reader, file, &count);
    }
    if (callbacks != NULL)
        OTF2_MarkerReaderCallbacks_Delete(callbacks);
    if (file != NULL)
        OTF2_Reader_CloseMarkerReader(reader, file);
    return markers.status;
}
