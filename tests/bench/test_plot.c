/* Figures of rows that are given: what may be below 0 is drawn, too. */
#include "bench/output_impl.h"
#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often the figure has the text. */
static int count_in(const char *path, const char *text)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    int count = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    while (fgets(line, sizeof line, file) != NULL)
        count += strstr(line, text) != NULL;
    fclose(file);
    return count;
}

static void test_below_zero(void)
{
    char path[] = "/tmp/stagger-test-XXXXXX.svg";
    int file = mkstemps(path, 4);
    json_t *root = json_pack("{s:s, s:i, s:[{s:s, s:i, s:f}, {s:s, s:i, s:f}]}", "command",
                             "overlap", "ranks", 2, "results", "op", "allreduce", "bytes", 8,
                             "overlap", -0.25, "op", "allreduce", "bytes", 64, "overlap", -0.125);

    CU_ASSERT_FATAL(file >= 0);
    close(file);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    CU_ASSERT_EQUAL(sg_bench_plot(root, path), SG_OK);

    CU_ASSERT(count_in(path, "<use xlink:href='#gpPt0' transform") >= 2);
    json_decref(root);
    unlink(path);
}

const struct unit_test unit_tests[] = {
    {"a part hidden that is below 0 is drawn", test_below_zero},
    {NULL, NULL},
};
