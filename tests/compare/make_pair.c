/* Writes the runs of pair.h: make_pair DIRECTORY-A DIRECTORY-B. */
#include "compare/pair.h"

int main(int argc, char **argv)
{
    static struct archive archive;

    for (int run = 0; run < 2 && argc == 3; run++) {
        pair_run(&archive, run, PAIR_A);
        archive_write(&archive, argv[1 + run]);
    }
    return argc == 3 ? 0 : 2;
}
