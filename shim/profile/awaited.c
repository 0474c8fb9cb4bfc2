#include "profile/awaited.h"

#include "profile/entries.h"
#include "profile/moved.h"
#include "profile/requests.h"

#include <string.h>

/* One request, or one of several. */
static void begin_one(struct sg_awaited *awaited, const struct sg_argument_places *places,
                      sg_word *words)
{
    const MPI_Request *handle = (const MPI_Request *)words[places->request];

    if (handle == NULL)
        return;
    awaited->one = *handle;
    awaited->handles = &awaited->one;
    awaited->count = 1;
}

static void begin_several(struct sg_awaited *awaited, const struct sg_argument_places *places,
                          sg_word *words)
{
    const MPI_Request *handles = (const MPI_Request *)words[places->requests];
    int count = (int)words[places->number];
    size_t handle_bytes, status_bytes = 0;
    char *scratch;

    if (count <= 0 || handles == NULL)
        return;
    handle_bytes = (size_t)count * sizeof *handles;
    if (places->statuses != SG_NO_WORD && words[places->statuses] == (sg_word)MPI_STATUSES_IGNORE)
        status_bytes = (size_t)count * sizeof(MPI_Status);
    scratch = sg_profile_scratch(status_bytes + handle_bytes);
    if (scratch == NULL)
        return;
    if (status_bytes > 0)
        words[places->statuses] = (sg_word)scratch;
    memcpy(scratch + status_bytes, handles, handle_bytes);
    awaited->handles = (const MPI_Request *)(void *)(scratch + status_bytes);
    awaited->count = count;
}

void sg_awaited_begin(struct sg_awaited *awaited, enum sg_function function, sg_word *words)
{
    const struct sg_argument_places *places = &sg_places[function];

    awaited->handles = NULL;
    if (places->request != SG_NO_WORD)
        begin_one(awaited, places, words);
    else if (places->requests != SG_NO_WORD)
        begin_several(awaited, places, words);
    if (awaited->handles != NULL && places->status != SG_NO_WORD &&
        words[places->status] == (sg_word)MPI_STATUS_IGNORE)
        words[places->status] = (sg_word)&awaited->status;
}

/* ---- what was found ---- */

static int value_at(const sg_word *words, int word)
{
    return *(const int *)words[word];
}

static void complete(const struct sg_awaited *awaited, const struct sg_awaited_call *call,
                     int index, const MPI_Status *status)
{
    if (index >= 0 && index < awaited->count)
        sg_requests_complete(awaited->handles[index], status, call->end_ns, call->is_recorded);
}

static void complete_all(const struct sg_awaited *awaited, const struct sg_awaited_call *call,
                         const MPI_Status *statuses)
{
    bool some = call->error == MPI_ERR_IN_STATUS;

    for (int i = 0; i < awaited->count; i++) {
        const MPI_Status *status = &statuses[i];

        if (!some)
            complete(awaited, call, i, status);
        else if (status->MPI_ERROR != MPI_ERR_PENDING)
            complete(awaited, call, i, status->MPI_ERROR == MPI_SUCCESS ? status : NULL);
    }
}

/* What MPICH's Fortran 2008 counts indices from: 1, as it should, but 0 in MPICH 4.0. A request
 * that is complete is none afterwards, unless it persists. */
static int first_index(const struct sg_awaited *awaited, const MPI_Request *after,
                       const int *indices, int count)
{
    for (int i = 0; i < count; i++) {
        int index = indices[i] - 1;

        if (index < 0 || awaited->handles[index] == MPI_REQUEST_NULL ||
            (after[index] != MPI_REQUEST_NULL && !sg_requests_persists(awaited->handles[index])))
            return 0;
    }
    return 1;
}

static void complete_some(const struct sg_awaited *awaited, const struct sg_awaited_call *call)
{
    const struct sg_argument_places *places = &sg_places[call->function];
    const sg_word *words = call->words;
    bool are_several = places->indices != SG_NO_WORD;
    const int *indices = (const int *)words[are_several ? places->indices : places->index];
    const MPI_Status *statuses =
        (const MPI_Status *)words[are_several ? places->statuses : places->status];
    int done = are_several ? value_at(words, places->done) : indices[0] != MPI_UNDEFINED;
    int first;

    if (done == MPI_UNDEFINED || done <= 0)
        return;
    first = call->is_f08
                ? first_index(awaited, (const MPI_Request *)words[places->requests], indices, done)
                : 0;
    for (int i = 0; i < done; i++) {
        bool failed =
            call->error != MPI_SUCCESS && (!are_several || statuses[i].MPI_ERROR != MPI_SUCCESS);

        complete(awaited, call, indices[i] - first, failed ? NULL : &statuses[i]);
    }
}

void sg_awaited_end(const struct sg_awaited *awaited, const struct sg_awaited_call *call)
{
    const struct sg_argument_places *places = &sg_places[call->function];
    const sg_word *words = call->words;
    bool is_one = places->request != SG_NO_WORD;
    int error = call->error;

    if (awaited->handles == NULL || (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS && !is_one))
        return;
    if (places->flag != SG_NO_WORD && error == MPI_SUCCESS && value_at(words, places->flag) == 0)
        return;
    if (is_one)
        complete(awaited, call, 0,
                 error == MPI_SUCCESS ? (const MPI_Status *)words[places->status] : NULL);
    else if (places->indices != SG_NO_WORD || places->index != SG_NO_WORD)
        complete_some(awaited, call);
    else
        complete_all(awaited, call, (const MPI_Status *)words[places->statuses]);
}
