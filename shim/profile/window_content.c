#include "profile/window_content.h"

#include "profile/event_content.h"
#include "profile/moved.h"

bool sg_window_content_has(enum sg_function function)
{
    uint8_t class = sg_functions[function].class;

    return class == SG_CLASS_ONE_SIDED || class == SG_CLASS_WINDOW;
}

bool sg_window_content_makes(enum sg_function function)
{
    return sg_places[function].made_win != SG_NO_WORD && function != SG_FUNCTION_Win_free;
}

struct sg_window *sg_window_content_at(enum sg_function function, const sg_word *words, bool failed)
{
    const struct sg_argument_places *places = &sg_places[function];

    if (places->win != SG_NO_WORD)
        return sg_window_of((MPI_Win)words[places->win]);
    return sg_window_content_makes(function) && !failed
               ? sg_window_of(*(const MPI_Win *)words[places->made_win])
               : NULL;
}

uint32_t sg_window_content_note(enum sg_function function, const sg_word *words,
                                struct sg_profile_comm *comm)
{
    struct sg_window *window;

    if (sg_window_content_makes(function)) {
        sg_window_made(*(const MPI_Win *)words[sg_places[function].made_win], comm);
        return 0;
    }
    window = sg_window_content_at(function, words, false);
    return window != NULL ? sg_window_order(window) : 0;
}

static int operation_of(MPI_Op op)
{
    return op == MPI_SUM ? SG_WINDOW_SUM : op == MPI_REPLACE ? SG_WINDOW_REPLACE : SG_WINDOW_OTHER;
}

void sg_window_content_asked(struct sg_event_content *content, enum sg_function function,
                             const sg_word *words, const struct sg_window *window)
{
    const struct sg_argument_places *places = &sg_places[function];

    content->from = SG_NO_NUMBER;
    if (window != NULL) {
        content->comm = window->comm;
        content->from = window->number;
    }
    if (places->peers[0] != SG_NO_WORD)
        content->to = (int)words[places->peers[0]];
    if (places->lock != SG_NO_WORD)
        content->to_tag =
            (int)words[places->lock] == MPI_LOCK_EXCLUSIVE ? SG_WINDOW_EXCLUSIVE : SG_WINDOW_SHARED;
    else if (places->op != SG_NO_WORD)
        content->to_tag = operation_of((MPI_Op)words[places->op]);
}

static int take(_Atomic int *group)
{
    return atomic_exchange_explicit(group, SG_NO_NUMBER, memory_order_relaxed);
}

/* The group that a call synchronises with: that of its begin, where it ends such a time. */
static int group_of(enum sg_function function, const sg_word *words, struct sg_window *window)
{
    _Atomic int *keeps =
        function == SG_FUNCTION_Win_post ? &window->exposure_group : &window->access_group;
    int group;

    if (function == SG_FUNCTION_Win_complete)
        return take(&window->access_group);
    if (function == SG_FUNCTION_Win_wait || function == SG_FUNCTION_Win_test)
        return sg_event_content_found(function, words) ? take(&window->exposure_group)
                                                       : SG_NO_NUMBER;
    if (sg_places[function].group == SG_NO_WORD)
        return SG_NO_NUMBER;
    group = sg_group_number((MPI_Group)words[sg_places[function].group]);
    atomic_store_explicit(keeps, group, memory_order_relaxed);
    return group;
}

static bool is_collective(enum sg_function function)
{
    return sg_places[function].made_win != SG_NO_WORD || function == SG_FUNCTION_Win_fence;
}

void sg_window_content_add(struct sg_event_content *content, enum sg_function function,
                           const sg_word *words, struct sg_window *window, uint32_t number)
{
    const struct sg_argument_places *places = &sg_places[function];

    sg_window_content_asked(content, function, words, window);
    if (window == NULL)
        return;
    if (!sg_window_content_makes(function))
        sg_window_define(window,
                         places->win != SG_NO_WORD ? (MPI_Win)words[places->win] : MPI_WIN_NULL);
    if ((content->flags & SG_EVENT_FAILED) != 0)
        return;
    if (is_collective(function)) {
        content->flags |= SG_EVENT_ORDERED;
        content->from_tag = (int)number;
    } else if (places->peers[0] == SG_NO_WORD) {
        content->to = group_of(function, words, window);
    }
}
