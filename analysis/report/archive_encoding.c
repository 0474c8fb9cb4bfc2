/* Encodes the events that OTF2's callbacks pass on. A number has 7 bits in a byte, so most events
 * take 10 to 25 bytes.
 */
#include "report/archive_encoding.h"

#include <stdlib.h>
#include <string.h>

#define ARGUMENT_COUNT(name, count) count,
const uint8_t sg_event_argument_counts[] = {SG_EVENT_KINDS(ARGUMENT_COUNT)};
#undef ARGUMENT_COUNT

static inline uint8_t *put_number(uint8_t *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (uint8_t)(number | 0x80);
    *at++ = (uint8_t)number;
    return at;
}

/* Small numbers of either sign take one byte. */
static uint64_t folded(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

/* False: no memory. */
static bool make_room(struct sg_event_buffer *buffer)
{
    size_t capacity = buffer->capacity == 0 ? 2 * SG_EVENT_BYTES_MAX : 2 * buffer->capacity;
    uint8_t *bytes;

    if (buffer->capacity - buffer->end >= SG_EVENT_BYTES_MAX)
        return true;
    bytes = realloc(buffer->bytes, capacity);
    if (bytes == NULL)
        return false;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

bool sg_event_put(struct sg_event_buffer *buffer, const struct sg_archive_event *event)
{
    uint8_t *at;

    if (!make_room(buffer))
        return false;
    at = buffer->bytes + buffer->end;
    *at++ = (uint8_t)(event->kind | (event->attributes.present != 0 ? SG_EVENT_HAS_ATTRIBUTES : 0));
    at = put_number(at, event->location);
    at = put_number(at, folded(event->ticks - buffer->written_ticks));
    buffer->written_ticks = event->ticks;
    for (uint8_t i = 0; i < sg_event_argument_counts[event->kind]; i++)
        at = put_number(at, event->arguments[i]);
    if (event->attributes.present != 0)
        at = put_number(at, event->attributes.present);
    for (uint32_t left = event->attributes.present; left != 0; left &= left - 1)
        at = put_number(at, event->attributes.values[__builtin_ctz(left)]);
    if (event->kind == SG_EVENT_METRIC) {
        *at++ = event->number_count;
        for (uint8_t i = 0; i < event->number_count; i++)
            at = put_number(at, event->numbers[i]);
    } else if (event->kind == SG_EVENT_FAILURE) {
        memcpy(at, event->text, sizeof event->text);
        at += sizeof event->text;
    }
    buffer->end = (size_t)(at - buffer->bytes);
    return true;
}

/* ---- OTF2's callbacks ------------------------------------------------------------------------ */

static int attribute_of(const struct sg_event_encoder *encoder, OTF2_AttributeRef ref)
{
    const struct sg_archive_defs *defs = encoder->defs;

    if (ref < SG_EVENT_ATTRIBUTE_REFS)
        return encoder->attribute_of[ref];
    for (int which = 0; which < SG_ATTRIBUTE_COUNT; which++) {
        if (defs->has_attribute[which] && defs->attributes[which] == ref)
            return which;
    }
    return -1;
}

static void read_attributes(const struct sg_event_encoder *encoder, const OTF2_AttributeList *list,
                            struct sg_event_attributes *out)
{
    uint32_t count = list != NULL ? OTF2_AttributeList_GetNumberOfElements(list) : 0;

    out->present = 0;
    for (uint32_t i = 0; i < count; i++) {
        OTF2_AttributeRef ref;
        OTF2_Type type;
        OTF2_AttributeValue value;
        int which;

        if (OTF2_AttributeList_GetAttributeByIndex(list, i, &ref, &type, &value) != OTF2_SUCCESS)
            continue;
        which = attribute_of(encoder, ref);
        if (which < 0 || type != sg_attributes[which].type)
            continue;
        out->present |= UINT32_C(1) << which;
        out->values[which] =
            type == OTF2_TYPE_UINT64 || type == OTF2_TYPE_INT64 ? value.uint64 : value.stringRef;
    }
}

static OTF2_CallbackCode put(struct sg_event_encoder *encoder, enum sg_archive_event_kind kind,
                             OTF2_TimeStamp ticks, const OTF2_AttributeList *attributes)
{
    struct sg_archive_event *event = &encoder->event;

    event->kind = kind;
    event->location = encoder->location;
    event->ticks = ticks;
    read_attributes(encoder, attributes, &event->attributes);
    if (sg_event_put(encoder->into, event))
        return OTF2_CALLBACK_SUCCESS;
    encoder->out_of_memory = true;
    return OTF2_CALLBACK_INTERRUPT;
}

/* A callback that encodes an event: its name, its kind, OTF2's parameters, the arguments. */
#define CALLBACK(name, kind, parameters, ...)                                                      \
    static OTF2_CallbackCode name(OTF2_LocationRef location, OTF2_TimeStamp ticks,                 \
                                  uint64_t position, void *context,                                \
                                  OTF2_AttributeList *attributes, PARAMETERS parameters)           \
    {                                                                                              \
        struct sg_event_encoder *encoder = context;                                                \
        const uint64_t arguments[] = {__VA_ARGS__};                                                \
                                                                                                   \
        memcpy(encoder->event.arguments, arguments, sizeof arguments);                             \
        return put(encoder, kind, ticks, attributes);                                              \
    }
#define PARAMETERS(...) __VA_ARGS__
#define COLLECTIVE                                                                                 \
    OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received
#define MESSAGE uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes

CALLBACK(on_enter, SG_EVENT_ENTER, (OTF2_RegionRef region), region)
CALLBACK(on_leave, SG_EVENT_LEAVE, (OTF2_RegionRef region), region)
CALLBACK(on_collective, SG_EVENT_COLLECTIVE, (COLLECTIVE), op, comm, root, sent, received)
CALLBACK(on_begun, SG_EVENT_COLLECTIVE_BEGUN, (uint64_t request), request)
CALLBACK(on_complete, SG_EVENT_COLLECTIVE_COMPLETE, (COLLECTIVE, uint64_t request), op, comm, root,
         sent, received, request)
CALLBACK(on_parameter, SG_EVENT_PARAMETER, (OTF2_ParameterRef parameter, uint64_t value), parameter,
         value)
CALLBACK(on_send, SG_EVENT_SEND, (MESSAGE), peer, comm, tag, bytes)
CALLBACK(on_isend, SG_EVENT_ISEND, (MESSAGE, uint64_t request), peer, comm, tag, bytes, request)
CALLBACK(on_receive, SG_EVENT_RECEIVE, (MESSAGE), peer, comm, tag, bytes)
CALLBACK(on_received, SG_EVENT_RECEIVED, (MESSAGE, uint64_t request), peer, comm, tag, bytes,
         request)
CALLBACK(on_post, SG_EVENT_POST, (uint64_t request), request)
CALLBACK(on_sent, SG_EVENT_SENT, (uint64_t request), request)
CALLBACK(on_cancelled, SG_EVENT_CANCELLED, (uint64_t request), request)
CALLBACK(on_rma_collective, SG_EVENT_RMA_COLLECTIVE,
         (OTF2_CollectiveOp op, OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, uint32_t root,
          uint64_t sent, uint64_t received),
         window, op)
CALLBACK(on_rma_group, SG_EVENT_RMA_GROUP,
         (OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, OTF2_GroupRef group), window, group)
CALLBACK(on_rma_request, SG_EVENT_RMA_REQUEST_LOCK,
         (OTF2_RmaWinRef window, uint32_t remote, uint64_t id, OTF2_LockType type), window, remote,
         type)
CALLBACK(on_rma_release, SG_EVENT_RMA_RELEASE_LOCK,
         (OTF2_RmaWinRef window, uint32_t remote, uint64_t id), window, remote)
CALLBACK(on_rma_put, SG_EVENT_RMA_OPERATION,
         (OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes, uint64_t id), window, remote, id)
CALLBACK(on_rma_atomic, SG_EVENT_RMA_OPERATION,
         (OTF2_RmaWinRef window, uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent,
          uint64_t received, uint64_t id),
         window, remote, id)
CALLBACK(on_rma_operated_here, SG_EVENT_RMA_OPERATED_HERE, (OTF2_RmaWinRef window, uint64_t id),
         window, id)
CALLBACK(on_rma_operated, SG_EVENT_RMA_OPERATED, (OTF2_RmaWinRef window, uint64_t id), window, id)

static uint64_t value_of(OTF2_Type type, OTF2_MetricValue value)
{
    switch (type) {
    case OTF2_TYPE_UINT64:
        return value.unsigned_int;
    case OTF2_TYPE_INT64:
        return value.signed_int > 0 ? (uint64_t)value.signed_int : 0;
    case OTF2_TYPE_DOUBLE:
        return value.floating_point >= 0 && value.floating_point < 0x1p63
                   ? (uint64_t)value.floating_point
                   : 0;
    default:
        return 0;
    }
}

static OTF2_CallbackCode on_metric(OTF2_LocationRef location, OTF2_TimeStamp ticks,
                                   uint64_t position, void *context, OTF2_AttributeList *attributes,
                                   OTF2_MetricRef metric, uint8_t count, const OTF2_Type *types,
                                   const OTF2_MetricValue *values)
{
    struct sg_event_encoder *encoder = context;

    encoder->event.arguments[0] = metric;
    encoder->event.number_count = count;
    for (uint8_t i = 0; i < count; i++)
        encoder->event.numbers[i] = value_of(types[i], values[i]);
    return put(encoder, SG_EVENT_METRIC, ticks, attributes);
}

OTF2_EvtReaderCallbacks *sg_event_encoder_callbacks(void)
{
    OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();

    if (callbacks == NULL)
        return NULL;
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, on_collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks, on_begun);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks, on_complete);
    OTF2_EvtReaderCallbacks_SetMetricCallback(callbacks, on_metric);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(callbacks, on_parameter);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, on_sent);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, on_receive);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks, on_received);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, on_post);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks, on_cancelled);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(callbacks, on_rma_collective);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(callbacks, on_rma_group);
    OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(callbacks, on_rma_request);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(callbacks, on_rma_release);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(callbacks, on_rma_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(callbacks, on_rma_put);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(callbacks, on_rma_atomic);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(callbacks, on_rma_operated_here);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(callbacks, on_rma_operated);
    return callbacks;
}

void sg_event_encoder_start(struct sg_event_encoder *encoder, const struct sg_archive_defs *defs)
{
    encoder->defs = defs;
    memset(encoder->attribute_of, -1, sizeof encoder->attribute_of);
    for (int which = SG_ATTRIBUTE_COUNT; which-- > 0;) {
        if (defs->has_attribute[which] && defs->attributes[which] < SG_EVENT_ATTRIBUTE_REFS)
            encoder->attribute_of[defs->attributes[which]] = (int8_t)which;
    }
}
