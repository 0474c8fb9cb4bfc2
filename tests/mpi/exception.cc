// C++ exceptions through several frames and across a shared library, before, between and after MPI
// calls. Prints which library the unwinder's entry point resolves to in the application's scope:
// it must stay libgcc's whatever a preloaded library brings with it.
#include "mpi_test.h"

#include <dlfcn.h>
#include <exception>
#include <stdexcept>
#include <string>

void throw_from_library(int depth);

struct counter {
    int &value;
    ~counter()
    {
        value++;
    }
};

static int destroyed;

static void rethrow(int depth)
{
    counter guard{destroyed};

    try {
        throw_from_library(depth);
    } catch (const std::runtime_error &) {
        throw;
    }
}

static void catch_some()
{
    for (int depth = 0; depth < 20; depth++) {
        bool caught = false;

        destroyed = 0;
        try {
            rethrow(depth);
        } catch (const std::exception &error) {
            caught = std::string(error.what()) == "thrown at depth " + std::to_string(depth);
        }
        REQUIRE(caught && destroyed == 1);
        try {
            throw std::make_exception_ptr(depth);
        } catch (...) {
            caught = false;
        }
        REQUIRE(!caught);
    }
}

static void print_owner(const char *symbol)
{
    void *address = dlsym(RTLD_DEFAULT, symbol);
    Dl_info info = {};

    REQUIRE(address != nullptr && dladdr(address, &info) != 0);
    std::string path = info.dli_fname;
    printf("%s is in %s\n", symbol, path.substr(path.rfind('/') + 1).c_str());
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rank;

    catch_some();
    MUST(MPI_Init(&argc, &argv));
    MUST(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    catch_some();
    for (int i = 0; i < 3; i++) {
        MUST(MPI_Barrier(MPI_COMM_WORLD));
        catch_some();
    }
    print_owner("_Unwind_RaiseException");
    print_owner("_Unwind_Resume");
    MUST(MPI_Finalize());
    catch_some();
    return 0;
}
