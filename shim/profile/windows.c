/* Follows windows and files, writes windows to the log, fills the contents of events by the class
 * of their function, and numbers the groups that synchronise with windows (windows.h).
 */
#include "profile/windows.h"

#include "profile/entries.h"
#include "profile/handles.h"
#include "profile/module.h"
#include "runtime/settings.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int sg_group_number(MPI_Group group);

struct known {
    struct sg_handle handle;
    struct sg_window window;
    uint32_t ordinal; /* among its communicator's windows */
    atomic_bool is_defined;
};

static struct sg_handles windows = {.none = MPI_WIN_NULL};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

/* Adds a window that was made on a communicator. */
static void sg_window_made(MPI_Win handle, struct sg_profile_comm *comm)
{
    struct known *known;

    if (handle == MPI_WIN_NULL)
        return;
    pthread_mutex_lock(&lock);
    known = sg_handles_take(&windows, handle, sizeof *known);
    if (known != NULL) {
        sg_handles_set(known, MPI_WIN_NULL);
        known->window.number = count++;
        known->window.comm = comm != NULL ? comm->index : 0;
        known->ordinal =
            comm != NULL ? atomic_fetch_add_explicit(&comm->windows, 1, memory_order_relaxed) : 0;
        atomic_store_explicit(&known->window.collectives, 1, memory_order_relaxed);
        atomic_store_explicit(&known->window.access_group, SG_NO_NUMBER, memory_order_relaxed);
        atomic_store_explicit(&known->window.exposure_group, SG_NO_NUMBER, memory_order_relaxed);
        atomic_store_explicit(&known->is_defined, false, memory_order_relaxed);
        sg_handles_set(known, handle);
    }
    pthread_mutex_unlock(&lock);
}

struct sg_window *sg_window_of(MPI_Win handle)
{
    struct known *known = handle != MPI_WIN_NULL ? sg_handles_find(&windows, handle) : NULL;

    return known != NULL ? &known->window : NULL;
}

void sg_window_forget(MPI_Win handle)
{
    struct known *known;

    pthread_mutex_lock(&lock);
    known = handle != MPI_WIN_NULL ? sg_handles_find(&windows, handle) : NULL;
    if (known != NULL)
        sg_handles_set(known, MPI_WIN_NULL);
    pthread_mutex_unlock(&lock);
}

/* ---- the log ---- */

/* Call with the lock. */
static void record(struct known *known, MPI_Win handle)
{
    struct sg_record_window *entry;
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    size_t text_bytes;
    int length;

    if (handle != MPI_WIN_NULL && sg_real.Win_get_name(handle, name, &length) != MPI_SUCCESS)
        name[0] = '\0';
    text_bytes = strlen(name) + 1;
    entry = sg_log_definition(sg_process.log, name, text_bytes);
    if (entry == NULL)
        return;
    entry->index = (uint32_t)known->window.number;
    entry->comm = known->window.comm;
    entry->ordinal = known->ordinal;
    entry->text_bytes = (uint32_t)text_bytes;
    sg_log_publish(entry, SG_RECORD_WINDOW);
}

/* Writes the window to the log if it is not there. handle: MPI_WIN_NULL once it is freed. */
static void sg_window_define(struct sg_window *window, MPI_Win handle)
{
    struct known *known =
        (struct known *)(void *)((unsigned char *)window - offsetof(struct known, window));

    if (atomic_load_explicit(&known->is_defined, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    if (!atomic_exchange_explicit(&known->is_defined, true, memory_order_relaxed))
        record(known, handle);
    pthread_mutex_unlock(&lock);
}

static void switch_off(void *of, void *context)
{
    struct known *known = of;

    (void)context;
    atomic_store_explicit(&known->window.access_group, SG_NO_NUMBER, memory_order_relaxed);
    atomic_store_explicit(&known->window.exposure_group, SG_NO_NUMBER, memory_order_relaxed);
}

void sg_windows_switch(void)
{
    sg_handles_each(&windows, switch_off, NULL);
}

static void define(void *of, void *context)
{
    struct known *known = of;

    (void)context;
    sg_window_define(&known->window, sg_handles_of(known));
}

void sg_windows_stop(void)
{
    sg_handles_each(&windows, define, NULL);
}

/* ---- files ---- */

struct file {
    MPI_File handle;
    struct sg_file_part last; /* its latest call */
    struct file *next;
};

static struct file *files;
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;

/* Call with files_lock. Returns the link to the file, or the list's end. */
static struct file **find_file(MPI_File handle)
{
    struct file **link = &files;

    while (*link != NULL && (*link)->handle != handle)
        link = &(*link)->next;
    return link;
}

/* Call with files_lock. A handle may be that of a file whose end was not seen. */
static void open_file(MPI_File handle, const struct sg_profile_comm *comm, uint32_t number)
{
    struct file **link = find_file(handle);

    if (*link == NULL)
        *link = calloc(1, sizeof **link);
    if (*link == NULL)
        return;
    (*link)->handle = handle;
    (*link)->last = (struct sg_file_part){comm->index, (int)number, 0};
}

/* Call with files_lock. */
static struct sg_file_part count_on_file(MPI_File handle, bool closes)
{
    struct file **link = find_file(handle), *file = *link;
    struct sg_file_part part;

    if (file == NULL)
        return (struct sg_file_part){0};
    file->last.number++;
    part = file->last;
    if (closes) {
        *link = file->next;
        free(file);
    }
    return part;
}

struct sg_file_part sg_file_note(enum sg_function function, const sg_word *words, MPI_File closed,
                                 const struct sg_profile_comm *comm, uint32_t number)
{
    const struct sg_argument_places *places = &sg_places[function];
    struct sg_file_part part = {0};

    pthread_mutex_lock(&files_lock);
    if (function == SG_FUNCTION_File_open && comm != NULL)
        open_file(*(const MPI_File *)words[places->made_file], comm, number);
    else if (closed != MPI_FILE_NULL)
        part = count_on_file(closed, true);
    else if (places->file != SG_NO_WORD)
        part = count_on_file((MPI_File)words[places->file], false);
    pthread_mutex_unlock(&files_lock);
    return part;
}

/* Returns a rank; SG_NOBODY on the other ranks of the root's group in an intercommunicator. */
static int root_of(int root)
{
    return root == MPI_ROOT ? SG_EVENT_ROOT_HERE : root >= 0 ? root : SG_NOBODY;
}

void sg_event_content_asked(struct sg_event_content *content, enum sg_function function,
                            const sg_word *words)
{
    const struct sg_argument_places *places = &sg_places[function];
    bool sends = sg_functions[function].flow == SG_FLOW_SEND;
    bool exchanges = places->peers[1] != SG_NO_WORD;

    *content = (struct sg_event_content){
        .to = SG_NOBODY, .to_tag = SG_NOBODY, .from = SG_NOBODY, .from_tag = SG_NOBODY};
    if (places->root != SG_NO_WORD)
        content->to = root_of((int)words[places->root]);
    if (places->peers[0] == SG_NO_WORD)
        return;
    if (sends || exchanges) {
        content->to = (int)words[places->peers[0]];
        if (places->tags[0] != SG_NO_WORD)
            content->to_tag = (int)words[places->tags[0]];
    }
    if (!sends && places->tags[0] != SG_NO_WORD) {
        content->from = (int)words[places->peers[exchanges]];
        content->from_tag = (int)words[places->tags[exchanges]];
    }
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

/* A probe that found a message stands for the receive to come. */
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

/* Returns the group of the ranks whose data a collective brings; SG_NOBODY: all, or not known. */
static int sources_of(enum sg_function function, const sg_word *words,
                      const struct sg_profile_comm *comm)
{
    int number, group = SG_NOBODY;
    int *sources = sg_moved_sources(function, words, comm, &number);

    if (sources != NULL)
        group = sg_profile_comm_group((MPI_Comm)words[sg_places[function].comm], sources, number);
    free(sources);
    return group;
}

static void collective(struct sg_event_content *content, enum sg_function function,
                       const sg_word *words, const struct sg_event_done *done)
{
    const struct sg_argument_places *places = &sg_places[function];

    content->flags = SG_EVENT_ORDERED | (places->request != SG_NO_WORD ? SG_EVENT_POSTS : 0);
    content->from_tag = (int)done->number;
    if (places->root != SG_NO_WORD)
        content->flags |= SG_EVENT_ROOTED;
    content->from = sources_of(function, words, done->comm);
}

/* True if the members of the communicator that it makes call it, not those of its argument. */
static bool is_of_made(enum sg_function function)
{
    return function == SG_FUNCTION_Comm_create_group || function == SG_FUNCTION_Intercomm_create;
}

static void on_file(struct sg_event_content *content, const struct sg_file_part *part)
{
    content->flags |= SG_EVENT_ORDERED;
    content->comm = part->comm;
    content->from_tag = part->opened;
    content->to_tag = part->number;
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
    if (facts->mode == SG_MODE_PREPARE) {
        content->from = sources_of(function, words, done->comm);
        return;
    }
    content->sent_bytes = moved->sent_bytes;
    content->received_bytes = moved->received_bytes;
    if (facts->class != SG_CLASS_COLLECTIVE && posts && sg_places[function].request != SG_NO_WORD)
        content->flags = SG_EVENT_POSTS;
    if (done->file->number > 0)
        on_file(content, done->file);
    else if (sg_function_is_numbered(function) && done->comm != NULL)
        collective(content, function, words, done);
    if (is_of_made(function))
        content->sent_bytes =
            sg_identity_of(*(const MPI_Comm *)words[sg_places[function].made]).created_ns;
    if (moved->target != SG_NOBODY)
        content->flags |= SG_EVENT_TARGETS;
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

/* Returns the group that a call synchronises with; for a call that ends an epoch, the group of the
 * epoch's begin. */
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

/* ---- groups that synchronise with windows, by members: handles are reused ---- */

static pthread_mutex_t window_groups_lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Group world = MPI_GROUP_NULL;

/* Call with window_groups_lock. */
static bool translate(MPI_Group group, int size, int *ranks, int *members)
{
    if (world == MPI_GROUP_NULL && sg_real.Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
        return false;
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    if (sg_real.Group_translate_ranks(group, size, ranks, world, members) != MPI_SUCCESS)
        return false;
    for (int i = 0; i < size; i++) {
        if (members[i] < 0)
            return false;
    }
    return true;
}

/* Returns a group's number in this rank's log, and writes a new one. SG_NO_NUMBER: the group is
 * empty, has members outside MPI_COMM_WORLD, or cannot be written. */
static int sg_group_number(MPI_Group group)
{
    bool is_known;
    int *members;
    int size;

    if (sg_real.Group_size(group, &size) != MPI_SUCCESS || size < 1)
        return SG_NO_NUMBER;
    members = sg_profile_scratch(2 * (size_t)size * sizeof *members);
    if (members == NULL)
        return SG_NO_NUMBER;
    pthread_mutex_lock(&window_groups_lock);
    is_known = translate(group, size, members + size, members);
    pthread_mutex_unlock(&window_groups_lock);
    return is_known ? sg_group_of_members(members, size) : SG_NO_NUMBER;
}
