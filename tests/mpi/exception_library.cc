// The shared library of exception.cc.
#include <stdexcept>
#include <string>

static void down(int level, int depth)
{
    std::string local = "thrown at depth ";

    if (level == depth)
        throw std::runtime_error(local + std::to_string(depth));
    down(level + 1, depth);
    throw std::logic_error("not reached");
}

void throw_from_library(int depth);

void throw_from_library(int depth)
{
    down(0, depth);
}
