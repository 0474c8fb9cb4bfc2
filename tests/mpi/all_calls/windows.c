/* One-sided communication in windows, and files. */
#include "all_calls.h"

#include <stdlib.h>
#include <string.h>

void try_windows(void)
{
    int room[RANKS_MAX] = {0}, value = 100 + rank, right = (rank + 1) % size;
    int left = (rank + size - 1) % size, got = -1;
    MPI_Group all, to, from;
    MPI_Win window;

    tell("win_create",
         MPI_Win_create(room, sizeof room, sizeof *room, MPI_INFO_NULL, MPI_COMM_WORLD, &window),
         NULL, 0);
    MUST(MPI_Win_fence(0, window));
    MUST(MPI_Put(&value, 1, MPI_INT, right, rank, 1, MPI_INT, window));
    tell("win_fence", MPI_Win_fence(0, window), room, sizeof room);
    MPI_Barrier(MPI_COMM_WORLD); /* none writes before all have read */
    MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window));
    MUST(MPI_Accumulate(&value, 1, MPI_INT, right, rank, 1, MPI_INT, MPI_SUM, window));
    MUST(MPI_Win_flush(right, window));
    tell("win_unlock", MPI_Win_unlock(right, window), NULL, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MUST(MPI_Win_lock_all(0, window));
    MUST(MPI_Get(&got, 1, MPI_INT, right, rank, 1, MPI_INT, window));
    MUST(MPI_Win_flush_all(window));
    tell("win_flush_all", MPI_SUCCESS, NULL, 0); /* 4.0.2 may have fetched nothing */
    MUST(MPI_Win_unlock_all(window));
    MPI_Barrier(MPI_COMM_WORLD);
    if (size > 1) {
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_incl(all, 1, &right, &to);
        MPI_Group_incl(all, 1, &left, &from);
        MUST(MPI_Win_post(from, 0, window));
        MUST(MPI_Win_start(to, 0, window));
        MUST(MPI_Put(&value, 1, MPI_INT, right, size + rank, 1, MPI_INT, window));
        MUST(MPI_Win_complete(window));
        tell("win_wait", MPI_Win_wait(window), room, sizeof room);
        MPI_Group_free(&all);
        MPI_Group_free(&to);
        MPI_Group_free(&from);
    }
    tell("win_free", MPI_Win_free(&window), NULL, 0);
}

void try_files(void)
{
    const char *directory = getenv("TMPDIR");
    char name[4096];
    int from[COUNT], into[COUNT] = {0};
    MPI_File file;
    MPI_Request request;
    MPI_Status status;

    snprintf(name, sizeof name, "%s/all_calls.data", directory ? directory : "/tmp");
    fill(from, COUNT, rank, 50);
    tell("file_open",
         MPI_File_open(MPI_COMM_WORLD, name,
                       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                       &file),
         NULL, 0);
    MUST(MPI_File_set_view(file, rank * (MPI_Offset)sizeof from, MPI_INT, MPI_INT, "native",
                           MPI_INFO_NULL));
    tell("file_write_all", MPI_File_write_all(file, from, COUNT, MPI_INT, &status), NULL, 0);
    MUST(MPI_File_sync(file));
    tell("file_read_at_all", MPI_File_read_at_all(file, 0, into, COUNT, MPI_INT, &status), into,
         sizeof into);
    memset(into, 0, sizeof into);
    MUST(MPI_File_iread_at(file, 0, into, COUNT, MPI_INT, &request));
    tell("file_iread_at, waitall", MPI_Waitall(1, &request, &status), into, sizeof into);
    memset(into, 0, sizeof into);
    MUST(MPI_File_iread_at_all(file, 0, into, COUNT, MPI_INT, &request));
    tell("file_iread_at_all, wait", MPI_Wait(&request, &status), into, sizeof into);
    tell("file_close", MPI_File_close(&file), NULL, 0);
}
