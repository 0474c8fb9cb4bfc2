/* Runs `stagger sim explore` alone. bugs.sh builds it with faulty protocols. */
#include "sim/sim_commands.h"

int main(int argc, char **argv)
{
    return sg_explore_command(argc, argv);
}
