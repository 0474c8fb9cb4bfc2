#include "transport/verbs/verbs_layout.h"

#include "core/hash.h"

static bool is_possible(const struct sg_transport_setup *setup)
{
    return setup->endpoints >= 1 && setup->endpoints <= SG_VERBS_ENDPOINTS_MAX &&
           setup->here >= 0 && setup->here <= setup->endpoints && setup->inflight >= 1 &&
           setup->inflight <= SG_VERBS_INFLIGHT_MAX && setup->staged <= SG_TRANSPORT_STAGED_MAX &&
           setup->eager_bytes <= SG_VERBS_EAGER_MAX &&
           (setup->staged >= 1 || setup->eager_bytes == 0);
}

static uint32_t least(size_t left, size_t right)
{
    return (uint32_t)(left < right ? left : right);
}

/* Also for the neighbours in the tree of multicasts, and for the endpoint itself. */
static uint32_t channels_of(int32_t endpoints)
{
    return least((size_t)endpoints,
                 (size_t)sg_transport_peers_max(endpoints) + SG_VERBS_TREE_DEGREE + 2);
}

/* As much as the budget allows, in whole cache lines with the fields before it. */
static size_t entry_bytes_of(const struct sg_verbs_layout *layout)
{
    size_t least_bytes = sizeof(struct sg_verbs_entry) + SG_VERBS_INLINE_MIN;
    size_t wanted =
        sizeof(struct sg_verbs_entry) + least(layout->payload_bytes, SG_VERBS_INLINE_MAX);
    size_t each = SG_VERBS_CHANNELS_BYTES / (2 * (size_t)layout->channels * layout->places);

    if (each < least_bytes)
        each = least_bytes;
    return sg_transport_round(wanted < each ? wanted : each, SG_TRANSPORT_LINE_BYTES);
}

bool sg_verbs_lay_out(const struct sg_transport_setup *setup, struct sg_verbs_layout *layout)
{
    size_t end = 0, here = (size_t)(setup->here > 0 ? setup->here : setup->endpoints);
    size_t rings;

    if (!is_possible(setup))
        return false;
    layout->channels = channels_of(setup->endpoints);
    layout->note_after = (setup->inflight + 1) / 2;
    layout->message_room = setup->inflight + layout->note_after;
    layout->places = layout->message_room + SG_VERBS_FORWARDED;
    layout->payload_bytes = sg_transport_payload_room(setup);
    layout->entry_bytes = entry_bytes_of(layout);
    layout->inline_bytes = (uint32_t)(layout->entry_bytes - sizeof(struct sg_verbs_entry));
    /* Messages of a channel, and multicasts. */
    layout->held = least(setup->inflight + SG_TRANSPORT_HELD, SG_VERBS_HELD_MAX);
    layout->fetches = 0;
    layout->stages = 0;
    if (layout->payload_bytes > layout->inline_bytes) {
        layout->fetches = least(setup->staged + SG_TRANSPORT_HELD, SG_VERBS_FETCHES_MAX);
        layout->stages = setup->staged + SG_VERBS_FORWARDED;
    }
    layout->stage_words = (layout->stages + 63) / 64;
    rings = layout->channels * (size_t)layout->places * layout->entry_bytes;

    sg_transport_lay(&end, sizeof(struct sg_verbs_endpoint));
    layout->seen_at =
        sg_transport_lay(&end, (size_t)setup->endpoints * sizeof(struct sg_verbs_seen));
    layout->channels_at =
        sg_transport_lay(&end, layout->channels * sizeof(struct sg_verbs_channel));
    layout->told_at = sg_transport_lay(&end, layout->channels * sizeof(struct sg_verbs_told));
    layout->stages_used_at = sg_transport_lay(&end, layout->stage_words * sizeof(uint64_t));
    layout->rings_at = sg_transport_lay(&end, rings);
    layout->mirrors_at = sg_transport_lay(&end, rings);
    layout->held_at = sg_transport_lay(&end, layout->held * (size_t)layout->inline_bytes);
    layout->stages_at = sg_transport_lay(&end, layout->stages * layout->payload_bytes);
    layout->fetches_at = sg_transport_lay(&end, layout->fetches * layout->payload_bytes);
    layout->endpoint_bytes = end;
    layout->bytes = sizeof(struct sg_verbs_header) + here * end;
    return true;
}

uint64_t sg_verbs_signature(const struct sg_transport_setup *setup)
{
    const uint64_t words[] = {(uint64_t)setup->endpoints, (uint64_t)setup->here, setup->inflight,
                              setup->staged, setup->eager_bytes};

    return sg_hash_bytes(SG_HASH_START, words, sizeof words) | 1;
}
