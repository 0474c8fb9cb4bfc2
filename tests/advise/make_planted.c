/* Writes runs for the tests of stagger advise: make_planted KIND DIRECTORY. */
#include "advise/planted.h"

/* Names that a terminal, a file of rules and JSON must survive. */
static void odd_names(struct archive *archive)
{
    planted_pair(archive);
    archive->program = "cg <b>\x1b[31m";
    for (int i = 0; i < 2; i++)
        archive->calls[i].site =
            "</script>\"\xce\xbb\" '\xff\n*=mpich (a#b\n;c.c:7) [cg+0x3000] #0000000c";
}

static void one_rank(struct archive *archive)
{
    planted_begin(archive, 1);
    planted_call(archive, 0, SG_OPERATION_BARRIER, 0, 100, "mpich");
}

static void partial(struct archive *archive)
{
    planted_pair(archive);
    archive->partial = "1";
    archive->dropped = "7";
}

/* Twice the cost that the model estimates. */
static void missed(struct archive *archive)
{
    planted_pair(archive);
    archive->calls[0].end_ns += 2800;
}

static const struct {
    const char *name;
    void (*plant)(struct archive *archive);
} kinds[] = {
    {"pair", planted_pair},
    {"late-rank", planted_late_rank},
    {"small-skew", planted_small_skew},
    {"late-root", planted_late_root},
    {"odd-names", odd_names},
    {"one-rank", one_rank},
    {"partial", partial},
    {"missed", missed},
};

int main(int argc, char **argv)
{
    static struct archive archive;

    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(argv[1], kinds[i].name) == 0) {
            kinds[i].plant(&archive);
            archive_write(&archive, argv[2]);
            return 0;
        }
    }
    return 2;
}
