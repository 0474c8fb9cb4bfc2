#include "profile/event_content.h"

/* A rank; SG_NOBODY on others of the root's group, between groups. */
static int root_of(int root)
{
    return root == MPI_ROOT ? SG_EVENT_ROOT_HERE : root >= 0 ? root : SG_NOBODY;
}

struct sg_event_content sg_event_content_asked(enum sg_function function, const sg_word *words)
{
    const struct sg_argument_places *places = &sg_places[function];
    struct sg_event_content content = {
        .to = SG_NOBODY, .to_tag = SG_NOBODY, .from = SG_NOBODY, .from_tag = SG_NOBODY};
    bool sends = sg_functions[function].flow == SG_FLOW_SEND;
    bool exchanges = places->peers[1] != SG_NO_WORD;

    if (places->root != SG_NO_WORD)
        content.to = root_of((int)words[places->root]);
    if (places->peers[0] == SG_NO_WORD)
        return content;
    if (sends || exchanges) {
        content.to = (int)words[places->peers[0]];
        if (places->tags[0] != SG_NO_WORD)
            content.to_tag = (int)words[places->tags[0]];
    }
    if (!sends && places->tags[0] != SG_NO_WORD) {
        content.from = (int)words[places->peers[exchanges]];
        content.from_tag = (int)words[places->tags[exchanges]];
    }
    return content;
}

bool sg_event_content_found(enum sg_function function, const sg_word *words)
{
    const struct sg_argument_places *places = &sg_places[function];

    if (sg_functions[function].mode != SG_MODE_TEST)
        return true;
    if (places->flag != SG_NO_WORD)
        return *(const int *)words[places->flag] != 0;
    return places->done == SG_NO_WORD || *(const int *)words[places->done] > 0;
}

/* ---- by class ---- */

/* A probe that has found a message takes it for a receive to come. */
static void probed(struct sg_event_content *content, const MPI_Status *status)
{
    if (status != NULL && status->MPI_SOURCE >= 0)
        content->flags = SG_EVENT_RECEIVES | SG_EVENT_POSTS;
}

static void post(struct sg_event_content *content, enum sg_function function, const sg_word *words,
                 const struct sg_moved *moved)
{
    const struct sg_function_facts *facts = &sg_functions[function];

    if (facts->flow == SG_FLOW_SEND && content->to >= 0) {
        content->flags = SG_EVENT_SENDS | SG_EVENT_POSTS;
        content->sent_bytes = moved->sent_bytes;
    } else if (facts->flow == SG_FLOW_RECEIVE && sg_places[function].message == SG_NO_WORD &&
               content->from != MPI_PROC_NULL) {
        content->flags = SG_EVENT_RECEIVES | SG_EVENT_POSTS;
        content->received_bytes = sg_moved_asked(function, words);
    }
}

static void message(struct sg_event_content *content, enum sg_function function,
                    const struct sg_moved *moved, const MPI_Status *status)
{
    if (moved->to != SG_NOBODY) {
        content->flags |= SG_EVENT_SENDS;
        content->sent_bytes = moved->sent_bytes;
    }
    if (moved->from != SG_NOBODY && sg_places[function].message == SG_NO_WORD) {
        content->flags |= SG_EVENT_RECEIVES;
        content->from = moved->from;
        content->from_tag = status->MPI_TAG;
        content->received_bytes = moved->received_bytes;
    }
}

static void collective(struct sg_event_content *content, enum sg_function function,
                       const struct sg_event_done *done)
{
    const struct sg_argument_places *places = &sg_places[function];

    content->flags = SG_EVENT_ORDERED | (places->request != SG_NO_WORD ? SG_EVENT_POSTS : 0);
    content->from_tag = (int)done->number;
    if (places->root != SG_NO_WORD)
        content->flags |= SG_EVENT_ROOTED;
}

void sg_event_content_complete(struct sg_event_content *content, enum sg_function function,
                               const sg_word *words, const struct sg_event_done *done)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    const struct sg_moved *moved = done->moved;
    bool waits = facts->mode == SG_MODE_WAIT, posts = facts->mode == SG_MODE_POST;

    content->comm = done->comm != NULL ? done->comm->index : 0;
    if (facts->class == SG_CLASS_MESSAGE) {
        if (facts->flow == SG_FLOW_NONE && sg_places[function].message != SG_NO_WORD)
            probed(content, done->status);
        else if (posts)
            post(content, function, words, moved);
        else if (waits)
            message(content, function, moved, done->status);
        return;
    }
    if (facts->mode == SG_MODE_PREPARE)
        return;
    content->sent_bytes = moved->sent_bytes;
    content->received_bytes = moved->received_bytes;
    if (facts->class == SG_CLASS_COLLECTIVE)
        collective(content, function, done);
    else if (posts && sg_places[function].request != SG_NO_WORD)
        content->flags = SG_EVENT_POSTS;
    if (moved->target != SG_NOBODY)
        content->flags |= SG_EVENT_TARGETS;
}
