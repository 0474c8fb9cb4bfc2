/* Late contributions in a known order, for programs of four ranks, one per node. In a reduce by
 * `bypass` to root r, rank r + 2 is the parent of r + 3 (modulo 4); it leaves its call before r + 3
 * arrives, and computes. Ranks publish their progress in words of plain memory, in a file that the
 * caller names, so that nobody is in an MPI call meanwhile.
 *
 * Another rank's action ends every wait here; the script's time limit ends a hang.
 */
#ifndef SG_TESTS_LATE_H
#define SG_TESTS_LATE_H

#include "mpi_test.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define LATE_RANKS 4

struct late_words {
    _Alignas(64) _Atomic int left;            /* rounds whose parent has left its call */
    _Alignas(64) _Atomic int free;            /* rounds whose leaf may arrive */
    _Alignas(64) _Atomic int sent;            /* rounds whose leaf has left its call */
    _Alignas(64) _Atomic int result;          /* rounds whose root has its result */
    _Alignas(64) _Atomic int process, thread; /* the parent's */
};

static struct late_words *late;
static int late_rank;

/* Call after MPI_Init. */
static inline void late_start(const char *file)
{
    int ranks, descriptor = open(file, O_RDWR | O_CREAT, 0600);

    MUST(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &late_rank));
    REQUIRE(ranks == LATE_RANKS && descriptor >= 0);
    REQUIRE(ftruncate(descriptor, sizeof *late) == 0);
    late = mmap(NULL, sizeof *late, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    REQUIRE(late != MAP_FAILED);
    REQUIRE(close(descriptor) == 0);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

static inline void late_await(_Atomic int *word, int round)
{
    while (atomic_load(word) <= round)
        sched_yield();
}

enum late_place { LATE_ROOT, LATE_CHILD, LATE_PARENT, LATE_LEAF };

static inline enum late_place late_place(int root)
{
    return (enum late_place)((late_rank - root + LATE_RANKS) % LATE_RANKS);
}

/* Called before and after a round's reduces. Only the parent calls compute, once it has left its
 * calls; compute lets the leaf arrive through late->free and may return at any time. Rounds are
 * numbered from 0. */
static inline void late_begin(int round, int root)
{
    if (late_place(root) == LATE_LEAF)
        late_await(&late->free, round);
}

static inline void late_end(int round, int root, void (*compute)(int round))
{
    enum late_place place = late_place(root);

    if (place == LATE_LEAF)
        atomic_store(&late->sent, round + 1);
    if (place == LATE_ROOT)
        atomic_store(&late->result, round + 1);
    if (place == LATE_PARENT) {
        atomic_store(&late->left, round + 1);
        compute(round);
    }
}

static inline void late_reduce(int round, int root, const void *mine, void *out, MPI_Datatype type,
                               void (*compute)(int round))
{
    late_begin(round, root);
    MUST(MPI_Reduce(mine, out, 1, type, MPI_SUM, root, MPI_COMM_WORLD));
    late_end(round, root, compute);
}

/* Makes a reduce, checks its result, and makes a barrier. */
static inline void late_round(int round, int root, void (*compute)(int round))
{
    int mine = round * 10 + late_rank, sum = -1;

    late_reduce(round, root, &mine, &sum, MPI_INT, compute);
    REQUIRE(late_place(root) != LATE_ROOT || sum == LATE_RANKS * round * 10 + 6);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* The parent computes until the root has its result, for which the parent still lacks the leaf's
 * contribution when it starts. */
static inline void late_compute(int round)
{
    atomic_store(&late->free, round + 1);
    late_await(&late->result, round);
}

#endif
