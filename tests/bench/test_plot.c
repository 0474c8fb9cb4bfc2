/* Tests figures drawn from given rows. A quantity that may be negative is drawn, too. */
#include "bench/bench_output.h"
#include "lib/unit.h"

#include <unistd.h>

/* Counts the figure's lines that have the text. */
static int count_in(const char *path, const char *text)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    int count = 0;

    ASSERT(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        count += strstr(line, text) != NULL;
    fclose(file);
    return count;
}

TEST("a hidden part below 0 is drawn")
{
    char path[] = "/tmp/stagger-test-XXXXXX.svg";
    int file = mkstemps(path, 4);
    json_t *root = json_pack("{s:s, s:i, s:[{s:s, s:i, s:f}, {s:s, s:i, s:f}]}", "command",
                             "overlap", "ranks", 2, "results", "op", "allreduce", "bytes", 8,
                             "overlap", -0.25, "op", "allreduce", "bytes", 64, "overlap", -0.125);

    ASSERT(file >= 0);
    close(file);
    ASSERT(root != NULL);
    EXPECT(sg_bench_plot(root, path) == SG_OK);

    EXPECT(count_in(path, "<use xlink:href='#gpPt0' transform") >= 2);
    json_decref(root);
    unlink(path);
}

static void draw(json_t *root, char path[])
{
    int file = mkstemps(path, 4);

    ASSERT(file >= 0);
    close(file);
    ASSERT(root != NULL);
    EXPECT(sg_bench_plot(root, path) == SG_OK);
    json_decref(root);
}

/* One operation at two sizes: its own name, and MPICH's beside it. */
TEST("a single operation is named, and the other side of the comparison is drawn")
{
    char path[] = "/tmp/stagger-test-XXXXXX.svg";

    draw(json_pack("{s:s, s:i, s:[{s:s, s:s, s:s, s:i, s:f, s:f}, {s:s, s:s, s:s, s:i, s:f, s:f}]}",
                   "command", "latency", "ranks", 2, "results", "op", "allreduce", "algorithm",
                   "rules", "vs", "mpich", "bytes", 8, "time_us", 0.25, "vs_us", 0.5, "op",
                   "allreduce", "algorithm", "rules", "vs", "mpich", "bytes", 64, "time_us", 0.5,
                   "vs_us", 1.0),
         path);
    EXPECT(count_in(path, ">allreduce rules<") == 1,
           count_in(path, ">mpich, compared with allreduce rules<") == 1);
    unlink(path);
}

/* A value that a row lacks is not drawn. */
TEST("a curve without figures is not drawn")
{
    char path[] = "/tmp/stagger-test-XXXXXX.svg";

    draw(json_pack("{s:s, s:i, s:[{s:s, s:s, s:i, s:f, s:f, s:n}, {s:s, s:s, s:i, s:f, s:f, s:n}]}",
                   "command", "cpu", "ranks", 2, "results", "op", "reduce", "algorithm", "rules",
                   "skew_us", 0, "cpu_us", 0.25, "mpich_cpu_us", 0.5, "tree_cpu_us", "op", "reduce",
                   "algorithm", "rules", "skew_us", 10, "cpu_us", 0.5, "mpich_cpu_us", 1.0,
                   "tree_cpu_us"),
         path);
    EXPECT(count_in(path, ">mpich, compared with reduce rules<") == 1, count_in(path, "tree") == 0);
    unlink(path);
}

/* Over the number of ranks where that varies, a series a size; rows at another speed are told. */
TEST("time is drawn over the number of ranks if rows differ in it")
{
    static const char format[] = "{s:s, s:s, s:i, s:i, s:f, s:b}";
    char path[] = "/tmp/stagger-test-XXXXXX.svg";
    json_t *rows = json_array();

    for (int i = 0; i < 6; i++)
        json_array_append_new(rows, json_pack(format, "op", "bcast", "algorithm", "rules", "bytes",
                                              i % 2 == 0 ? 8 : 4096, "processes", 2 << i / 2,
                                              "time_us", 1.0 + i, "speed_changed", i == 5));
    draw(json_pack("{s:s, s:i, s:o}", "command", "latency", "ranks", 8, "results", rows), path);
    EXPECT(count_in(path, ">bytes 8<") == 1, count_in(path, ">bytes 4096<") == 1,
           count_in(path, ">processes<") == 1,
           count_in(path, "changed their speed in 1 of 6 rows") == 1);
    unlink(path);
}
