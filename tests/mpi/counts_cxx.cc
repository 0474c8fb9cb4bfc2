// A C++ program: through MPICH's C++ bindings where mpi.h brings them, and through C calls made
// from templates, lambdas and destructors.
#include "mpi_test.h"

#include <vector>

static own_counts counts;

struct barrier_at_exit {
    MPI_Comm comm;
    ~barrier_at_exit()
    {
        COUNTED(counts.barrier, MPI_Barrier(comm));
    }
};

template <typename T> T sum_over(MPI_Comm comm, MPI_Datatype type, T mine)
{
    T sum;

    COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, type, MPI_SUM, comm));
    return sum;
}

#ifdef MPIX_CALLREF // mpi.h brought mpicxx.h, the C++ bindings
static void bindings(int size)
{
    int mine = 1, sum = 0;

    MPI::COMM_WORLD.Barrier();
    counts.barrier++;
    MPI::COMM_WORLD.Allreduce(&mine, &sum, 1, MPI::INT, MPI::SUM);
    counts.allreduce++;
    REQUIRE(sum == size);
    MPI::Intracomm copy = MPI::COMM_WORLD.Dup();
    copy.Barrier();
    counts.barrier++;
    copy.Reduce(&mine, &sum, 1, MPI::INT, MPI::SUM, 0);
    counts.reduce++;
    copy.Free();
}
#else
static void bindings(int)
{
}
#endif

int main(int argc, char **argv)
{
    int rank, size;

    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &size));
    {
        barrier_at_exit last{MPI_COMM_WORLD};
        REQUIRE(sum_over<int>(MPI_COMM_WORLD, MPI_INT, 2) == 2 * size);
        REQUIRE(sum_over<double>(MPI_COMM_WORLD, MPI_DOUBLE, 0.5) == 0.5 * size);
    }
    auto reduce = [&](int root) {
        std::vector<long> mine(7, rank), sum(7);

        COUNTED(counts.reduce,
                MPI_Reduce(mine.data(), sum.data(), 7, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD));
        REQUIRE(rank != root || sum[6] == static_cast<long>(size) * (size - 1) / 2);
    };
    for (int root = 0; root < size; root++)
        reduce(root);
    bindings(size);
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
