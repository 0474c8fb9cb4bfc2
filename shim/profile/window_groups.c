/* The groups that windows are synchronised with, by their members: handles are given again. */
#include "profile/windows.h"

#include "mpi/real.h"
#include "profile/entries.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Group world = MPI_GROUP_NULL;

/* Under the lock. */
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

int sg_group_number(MPI_Group group)
{
    bool is_known;
    int *members;
    int size;

    if (sg_real.Group_size(group, &size) != MPI_SUCCESS || size < 1)
        return SG_NO_NUMBER;
    members = sg_profile_scratch(2 * (size_t)size * sizeof *members);
    if (members == NULL)
        return SG_NO_NUMBER;
    pthread_mutex_lock(&lock);
    is_known = translate(group, size, members + size, members);
    pthread_mutex_unlock(&lock);
    return is_known ? sg_group_of_members(members, size) : SG_NO_NUMBER;
}
