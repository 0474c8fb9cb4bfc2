#include "intercept/finalize.h"

#include "mpi/real.h"

#include <stddef.h>

static int keyval = MPI_KEYVAL_INVALID;
static void (*stop)(void);

static int on_delete(MPI_Comm handle, int key, void *value, void *extra)
{
    stop();
    return MPI_SUCCESS;
}

void sg_finalize_expect(void (*to_stop)(void))
{
    stop = to_stop;
    if (sg_real.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL) == MPI_SUCCESS)
        sg_real.Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
}

void sg_finalize_forget(void)
{
    if (keyval == MPI_KEYVAL_INVALID)
        return;
    sg_real.Comm_delete_attr(MPI_COMM_SELF, keyval);
    sg_real.Comm_free_keyval(&keyval);
}
