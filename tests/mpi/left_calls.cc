// A call that an error handler leaves for good, by an exception or by longjmp, and what the same
// thread calls next: from a deeper frame, from the same depth, from a shallower one. The last rank
// alone makes the wrong call; the right ones, which all ranks make, must meet.
//
// left_calls HOW CALL[,CALL]... DEPTH [thread]: HOW is throw, jump, or handle: the handler calls
// collectives, which the other ranks call outside of any handler, and returns. CALL is of `calls`
// below, DEPTH deeper, same or shallower; "thread": not on the thread that called MPI_Init.
#include "mpi_test.h"

#include <csetjmp>
#include <cstring>
#include <thread>

namespace
{

enum class ending { exception, jump, none };

struct left {
};

ending how;
jmp_buf back;
int rank, size;
int handled;
own_counts counts;
MPI_Comm comm;

// What all ranks call.
__attribute__((noinline)) void use(MPI_Comm on)
{
    int mine = rank + 1, sum = 0;

    COUNTED(counts.allreduce, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, on));
    REQUIRE(sum == size * (size + 1) / 2);
    COUNTED(counts.barrier, MPI_Barrier(on));
    COUNTED(counts.reduce, MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_MAX, size - 1, on));
    REQUIRE(rank != size - 1 || sum == size);
}

// ... and what no archive has: requests.
__attribute__((noinline)) void use_requests(MPI_Comm on)
{
    int mine = rank + 1, sum = 0;
    MPI_Request request;

    MUST(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, on, &request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    REQUIRE(sum == size * (size + 1) / 2);
}

// The frame is larger than any that the library or MPICH has, and mostly not written: what was
// there when the call was left is there still.
__attribute__((noinline)) void use_deeper()
{
    volatile char frame[65536];

    frame[0] = 1;
    use(comm);
    use(MPI_COMM_WORLD);
    use_requests(comm);
    frame[65535] = frame[0];
}

__attribute__((noinline)) void use_here()
{
    use(comm);
    use(MPI_COMM_WORLD);
    use_requests(comm);
}

void leave()
{
    handled++;
    if (how == ending::exception)
        throw left{};
    if (how == ending::jump)
        longjmp(back, 1);
}

void on_error(MPI_Comm *, int *, ...)
{
    leave();
    use_here();
}

int refuse(MPI_Comm, int, void *, void *)
{
    return MPI_ERR_OTHER;
}

int leave_delete(MPI_Comm, int, void *, void *)
{
    leave();
    return MPI_ERR_OTHER;
}

// ---- the wrong calls: buffers that are one, which every MPICH looks at ----

int wrong_reduce()
{
    int mine = 1;

    return MPI_Reduce(&mine, &mine, 1, MPI_INT, MPI_SUM, rank, comm);
}

int wrong_allreduce()
{
    int mine = 1;

    return MPI_Allreduce(&mine, &mine, 1, MPI_INT, MPI_SUM, comm);
}

int wrong_ireduce()
{
    int mine = 1;
    MPI_Request request;

    return MPI_Ireduce(&mine, &mine, 1, MPI_INT, MPI_SUM, rank, comm, &request);
}

int wrong_iallreduce()
{
    int mine = 1;
    MPI_Request request;

    return MPI_Iallreduce(&mine, &mine, 1, MPI_INT, MPI_SUM, comm, &request);
}

int wrong_reduce_c()
{
    int mine = 1;

    return MPI_Reduce_c(&mine, &mine, 1, MPI_INT, MPI_SUM, rank, comm);
}

// A communicator of its own, whose attribute is not to be deleted.
int free_with(MPI_Comm_delete_attr_function *on_delete)
{
    MPI_Comm own;
    int keyval;

    MUST(MPI_Comm_dup(MPI_COMM_SELF, &own));
    MUST(MPI_Barrier(own));
    counts.barrier++;
    MUST(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, nullptr));
    MUST(MPI_Comm_set_attr(own, keyval, nullptr));
    return MPI_Comm_free(&own);
}

int wrong_free()
{
    return free_with(refuse);
}

int wrong_delete()
{
    return free_with(leave_delete);
}

const struct {
    const char *name;
    int (*call)();
} calls[] = {
    {"reduce", wrong_reduce},   {"allreduce", wrong_allreduce},   {"reduce_c", wrong_reduce_c},
    {"ireduce", wrong_ireduce}, {"iallreduce", wrong_iallreduce}, {"comm_free", wrong_free},
    {"delete", wrong_delete},
};

__attribute__((noinline)) void make_wrong_call(int (*call)())
{
    if (how == ending::exception) {
        try {
            call();
            REQUIRE(!"left");
        } catch (const left &) {
        }
    } else if (how == ending::jump) {
        if (setjmp(back) == 0) {
            call();
            REQUIRE(!"left");
        }
    } else {
        REQUIRE(call() != MPI_SUCCESS);
    }
}

__attribute__((noinline)) void make_wrong_call_deeper(int (*call)())
{
    volatile char frame[65536];

    frame[0] = 1;
    make_wrong_call(call);
    frame[65535] = frame[0];
}

void run_one(int (*call)(), const char *depth)
{
    for (int i = 0; i < 3; i++) {
        int before = handled;

        if (rank == size - 1 && strcmp(depth, "shallower") == 0)
            make_wrong_call_deeper(call);
        else if (rank == size - 1)
            make_wrong_call(call);
        REQUIRE(handled == before + (rank == size - 1));
        // The handler of the last rank has called all this.
        if (how == ending::none && rank == size - 1)
            continue;
        if (strcmp(depth, "deeper") == 0)
            use_deeper();
        else
            use_here();
    }
}

int (*last_call)();

void run(const char *names, const char *depth)
{
    char list[256];

    snprintf(list, sizeof list, "%s", names);
    for (const char *name = strtok(list, ","); name != nullptr; name = strtok(nullptr, ",")) {
        last_call = nullptr;
        for (const auto &entry : calls) {
            if (strcmp(name, entry.name) == 0)
                last_call = entry.call;
        }
        REQUIRE(last_call != nullptr);
        run_one(last_call, depth);
    }
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    int provided;

    REQUIRE(argc >= 4);
    how = strcmp(argv[1], "throw") == 0  ? ending::exception
          : strcmp(argv[1], "jump") == 0 ? ending::jump
                                         : ending::none;
    MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
    REQUIRE(provided >= MPI_THREAD_SERIALIZED);
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(MPI_Comm_size(MPI_COMM_WORLD, &size));
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_create_errhandler(on_error, &handler));
    MUST(MPI_Comm_set_errhandler(comm, handler));
    MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)); // MPI_Comm_free's errors
    use_here();                                             // sets the communicator up
    if (argc > 4) {
        std::thread thread(run, argv[2], argv[3]);

        thread.join();
    } else {
        run(argv[2], argv[3]);
    }
    // The last call of all is left, too.
    if (rank == size - 1 && how != ending::none)
        make_wrong_call(last_call);
    MUST(MPI_Finalize());
    print_counts(rank, &counts);
    return 0;
}
