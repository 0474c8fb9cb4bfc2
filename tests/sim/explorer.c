/* `stagger sim explore` alone, for bugs.sh, which builds it of protocols with errors. */
#include "sim/sim_commands.h"

int main(int argc, char **argv)
{
    return sg_explore_command(argc, argv);
}
