#include "intercept/sliced.h"

#include <stdint.h>

/* ---- arguments ---- */

/* NULL: its messages are MPICH's. */
static const struct sg_comm *find(sg_word handle)
{
    const struct sg_comm *comm = sg_comm_find((MPI_Comm)handle);

    return comm != NULL && comm->is_sliced ? comm : NULL;
}

/* A message goes there, or comes from there. */
static bool is_member(const struct sg_comm *comm, sg_word rank)
{
    return comm != NULL && (int)rank >= 0 && (int)rank < comm->size;
}

static bool is_source(const struct sg_comm *comm, sg_word rank)
{
    return is_member(comm, rank) || (comm != NULL && (int)rank == MPI_ANY_SOURCE);
}

/* The words of MPI_Send. */
#define BUFFER ((void *)words[0])
#define TYPE ((MPI_Datatype)words[2])
#define PEER ((int)words[3])
#define TAG ((int)words[4])
#define COMM ((MPI_Comm)words[5])

/* MPICH's own function with MPI_PROC_NULL finds what is wrong with the other arguments. */
#define SEND(name, length, is_synchronous)                                                         \
    bool sg_sliced_##name(const sg_word *words, int *error)                                        \
    {                                                                                              \
        const struct sg_comm *comm = find(words[5]);                                               \
        bool goes = is_member(comm, words[3]);                                                     \
                                                                                                   \
        if (comm == NULL)                                                                          \
            return false;                                                                          \
        *error =                                                                                   \
            sg_real.name(BUFFER, (length)words[1], TYPE, goes ? MPI_PROC_NULL : PEER, TAG, COMM);  \
        if (*error == MPI_SUCCESS && goes)                                                         \
            *error =                                                                               \
                sg_sliced_send(comm, BUFFER, (length)words[1], TYPE, PEER, TAG, is_synchronous);   \
        return true;                                                                               \
    }

/* The request of what MPICH has checked is complete, and makes place for ours. */
#define ISEND(name, length, is_synchronous)                                                        \
    bool sg_sliced_##name(const sg_word *words, int *error)                                        \
    {                                                                                              \
        const struct sg_comm *comm = find(words[5]);                                               \
        MPI_Request *request = (MPI_Request *)words[6];                                            \
        bool goes = is_member(comm, words[3]);                                                     \
                                                                                                   \
        if (comm == NULL)                                                                          \
            return false;                                                                          \
        *error = sg_real.name(BUFFER, (length)words[1], TYPE, goes ? MPI_PROC_NULL : PEER, TAG,    \
                              COMM, request);                                                      \
        if (*error != MPI_SUCCESS || !goes)                                                        \
            return true;                                                                           \
        sg_real.Request_free(request);                                                             \
        *error = sg_sliced_isend(comm, BUFFER, (length)words[1], TYPE, PEER, TAG, is_synchronous,  \
                                 request);                                                         \
        return true;                                                                               \
    }

#define RECEIVE(length, c)                                                                         \
    bool sg_sliced_Recv##c(const sg_word *words, int *error)                                       \
    {                                                                                              \
        const struct sg_comm *comm = find(words[5]);                                               \
        bool comes = is_source(comm, words[3]);                                                    \
        MPI_Status *status = (MPI_Status *)words[6], nothing;                                      \
                                                                                                   \
        if (comm == NULL)                                                                          \
            return false;                                                                          \
        *error = sg_real.Recv##c(BUFFER, (length)words[1], TYPE, comes ? MPI_PROC_NULL : PEER,     \
                                 TAG, COMM, comes ? &nothing : status);                            \
        if (*error == MPI_SUCCESS && comes)                                                        \
            *error = sg_sliced_receive(comm, BUFFER, (length)words[1], TYPE, PEER, TAG, status);   \
        return true;                                                                               \
    }                                                                                              \
    bool sg_sliced_Irecv##c(const sg_word *words, int *error)                                      \
    {                                                                                              \
        const struct sg_comm *comm = find(words[5]);                                               \
        MPI_Request *request = (MPI_Request *)words[6];                                            \
        bool comes = is_source(comm, words[3]);                                                    \
                                                                                                   \
        if (comm == NULL)                                                                          \
            return false;                                                                          \
        *error = sg_real.Irecv##c(BUFFER, (length)words[1], TYPE, comes ? MPI_PROC_NULL : PEER,    \
                                  TAG, COMM, request);                                             \
        if (*error != MPI_SUCCESS || !comes)                                                       \
            return true;                                                                           \
        sg_real.Request_free(request);                                                             \
        *error = sg_sliced_ireceive(comm, BUFFER, (length)words[1], TYPE, PEER, TAG, request);     \
        return true;                                                                               \
    }

/* What is not sent or received here is MPICH's part of it. */
#define EXCHANGE(length, c)                                                                        \
    bool sg_sliced_Sendrecv##c(const sg_word *words, int *error)                                   \
    {                                                                                              \
        const struct sg_comm *comm = find(words[10]);                                              \
        bool goes = is_member(comm, words[3]), comes = is_source(comm, words[8]);                  \
        MPI_Status *status = (MPI_Status *)words[11], nothing;                                     \
                                                                                                   \
        if (comm == NULL)                                                                          \
            return false;                                                                          \
        *error = sg_real.Sendrecv##c(                                                              \
            BUFFER, (length)words[1], TYPE, goes ? MPI_PROC_NULL : PEER, TAG, (void *)words[5],    \
            (length)words[6], (MPI_Datatype)words[7], comes ? MPI_PROC_NULL : (int)words[8],       \
            (int)words[9], (MPI_Comm)words[10], comes ? &nothing : status);                        \
        if (*error == MPI_SUCCESS)                                                                 \
            *error = sg_sliced_exchange(                                                           \
                comm, &(struct sg_sliced_side){BUFFER, (length)words[1], TYPE, PEER, TAG, goes},   \
                &(struct sg_sliced_side){(void *)words[5], (length)words[6],                       \
                                         (MPI_Datatype)words[7], (int)words[8], (int)words[9],     \
                                         comes},                                                   \
                status);                                                                           \
        return true;                                                                               \
    }                                                                                              \
    bool sg_sliced_Sendrecv_replace##c(const sg_word *words, int *error)                           \
    {                                                                                              \
        const struct sg_comm *comm = find(words[7]);                                               \
        bool goes = is_member(comm, words[3]), comes = is_source(comm, words[5]);                  \
        MPI_Status *status = (MPI_Status *)words[8], nothing;                                      \
                                                                                                   \
        if (comm == NULL)                                                                          \
            return false;                                                                          \
        *error = sg_real.Sendrecv_replace##c(BUFFER, (length)words[1], TYPE,                       \
                                             goes ? MPI_PROC_NULL : PEER, TAG,                     \
                                             comes ? MPI_PROC_NULL : (int)words[5], (int)words[6], \
                                             (MPI_Comm)words[7], comes ? &nothing : status);       \
        if (*error == MPI_SUCCESS)                                                                 \
            *error = sg_sliced_replace(                                                            \
                comm, &(struct sg_sliced_side){BUFFER, (length)words[1], TYPE, PEER, TAG, goes},   \
                (int)words[5], (int)words[6], comes, status);                                      \
        return true;                                                                               \
    }

SEND(Send, int, false)
SEND(Send_c, MPI_Count, false)
SEND(Rsend, int, false)
SEND(Rsend_c, MPI_Count, false)
SEND(Ssend, int, true)
SEND(Ssend_c, MPI_Count, true)
ISEND(Isend, int, false)
ISEND(Isend_c, MPI_Count, false)
ISEND(Irsend, int, false)
ISEND(Irsend_c, MPI_Count, false)
ISEND(Issend, int, true)
ISEND(Issend_c, MPI_Count, true)
RECEIVE(int, )
RECEIVE(MPI_Count, _c)
EXCHANGE(int, )
EXCHANGE(MPI_Count, _c)

/* ---- probes ---- */

bool sg_sliced_Probe(const sg_word *words, int *error)
{
    const struct sg_comm *comm = find(words[2]);
    MPI_Status *status = (MPI_Status *)words[3], nothing;
    int flag;

    if (comm == NULL)
        return false;
    if (!is_source(comm, words[0])) {
        /* At once. */
        *error = sg_real.Iprobe((int)words[0], (int)words[1], (MPI_Comm)words[2], &flag, status);
        return true;
    }
    *error = sg_real.Iprobe(MPI_PROC_NULL, (int)words[1], (MPI_Comm)words[2], &flag, &nothing);
    if (*error == MPI_SUCCESS)
        sg_sliced_probe(comm, (int)words[0], (int)words[1], status);
    return true;
}

bool sg_sliced_Iprobe(const sg_word *words, int *error)
{
    const struct sg_comm *comm = find(words[2]);
    MPI_Status *status = (MPI_Status *)words[4], nothing;
    bool comes = is_source(comm, words[0]);

    if (comm == NULL)
        return false;
    *error = sg_real.Iprobe(comes ? MPI_PROC_NULL : (int)words[0], (int)words[1],
                            (MPI_Comm)words[2], (int *)words[3], comes ? &nothing : status);
    if (*error == MPI_SUCCESS && comes)
        *(int *)words[3] = sg_sliced_look(comm, (int)words[0], (int)words[1], status);
    return true;
}

/* ---- what is not carried ---- */

bool sg_sliced_refuses(enum sg_function function, const sg_word *words, int *error)
{
    const struct sg_function_facts *facts = &sg_functions[function];

    for (int i = 0; i < facts->words; i++) {
        const struct sg_comm *comm =
            facts->arguments[i] == SG_ARGUMENT_COMM ? find(words[i]) : NULL;

        if (comm == NULL)
            continue;
        sg_sliced_say_refused(comm, facts->name);
        sg_real.Comm_call_errhandler((MPI_Comm)words[i], MPI_ERR_UNSUPPORTED_OPERATION);
        *error = MPI_ERR_UNSUPPORTED_OPERATION;
        return true;
    }
    return false;
}

/* ---- statuses ---- */

static int number_of(const struct sg_function_facts *facts, bool is_f08, const sg_word *words)
{
    for (int i = 0; i < facts->words; i++) {
        if (facts->arguments[i] == SG_ARGUMENT_DONE)
            return *(const int *)words[i];
    }
    return is_f08 ? *(const int *)words[0] : (int)words[0];
}

static void mend(enum sg_function function, bool is_f08, const sg_word *words)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    bool was_cut = sg_sliced_take_cut();

    for (int i = 0; was_cut && i < facts->words; i++) {
        MPI_Status *statuses = (MPI_Status *)words[i];

        if (facts->arguments[i] != SG_ARGUMENT_STATUSES || statuses == MPI_STATUSES_IGNORE)
            continue;
        for (int at = 0; at < number_of(facts, is_f08, words); at++) {
            int class = MPI_SUCCESS;

            sg_real.Error_class(statuses[at].MPI_ERROR, &class);
            if (class == MPI_ERR_OTHER)
                statuses[at].MPI_ERROR = MPI_ERR_TRUNCATE;
        }
    }
}

/* ---- behind other functions ---- */

void sg_sliced_behind(enum sg_function function, bool is_f08, const sg_word *words, int error)
{
    const struct sg_function_facts *facts = &sg_functions[function];

    if (error != MPI_SUCCESS) {
        mend(function, is_f08, words);
        return;
    }
    /* Behind a nonblocking one messages may go before all ranks know of the communicator. */
    for (int i = 0; facts->mode == SG_MODE_WAIT && i < facts->words; i++) {
        if (facts->arguments[i] == SG_ARGUMENT_NEW && facts->class == SG_CLASS_COMMUNICATOR)
            sg_sliced_begin(*(const MPI_Comm *)words[i]);
    }
}
