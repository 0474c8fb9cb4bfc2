/* Forks between collectives, through the C library and past it, in every way a child may go on:
 * exit, _exit, execve of another program; system(), popen(). The parent goes on with its
 * collectives.
 */
#include "mpi_test.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct own_counts counts;

static void collectives(void)
{
    int mine = 1, sum = 0, size;

    MUST(MPI_Comm_size(MPI_COMM_WORLD, &size));
    COUNTED(counts.barrier, MPI_Barrier(MPI_COMM_WORLD));
    COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REQUIRE(sum == size);
}

static void child(int way)
{
    if (way == 0)
        exit(0); /* runs atexit handlers and destructors */
    if (way == 1)
        _exit(0);
    execlp("sh", "sh", "-c", ":", (char *)NULL);
    _exit(9);
}

int main(int argc, char **argv)
{
    int rank, status;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    collectives();
    for (int way = 0; way < 6; way++) {
        pid_t pid = way < 3 ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

        REQUIRE(pid >= 0);
        if (pid == 0)
            child(way % 3);
        collectives();
        REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
        collectives();
    }
    REQUIRE(system(":") == 0);
    FILE *pipe = popen("echo word", "r");
    REQUIRE(pipe != NULL && fgetc(pipe) == 'w');
    REQUIRE(pclose(pipe) == 0);
    collectives();
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
