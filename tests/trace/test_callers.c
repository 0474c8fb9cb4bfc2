/* Tests the paths of callers. */
#include "lib/unit.h"
#include "trace/export/logread_all.h"

#include <string.h>

/* The functions, joined by '|'. */
static void take_apart(const char *name, char *out)
{
    struct sg_callers_frame frame;

    out[0] = '\0';
    while (sg_callers_next(&name, &frame)) {
        if (out[0] != '\0')
            strcat(out, "|");
        strncat(out, frame.function, frame.length);
    }
}

static void paths(void)
{
    static const char *const of[][2] = {
        {"dot", "dot"},
        {"main cg.c:200 > step cg.c:120 > dot", "main|step|dot"},
        {"app+0x12 > app+0x3 > lib.so+0xff", "app+0x12|app+0x3|lib.so+0xff"},
        {"void run<a, b>(int) x.cc:7 > go", "void run<a, b>(int)|go"},
        {"operator() 12 > go:1 > f:2", "operator() 12|go:1|f:2"},
        {":3 > f", ":3|f"},
    };
    char found[256];

    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        take_apart(of[i][0], found);
        CU_ASSERT_STRING_EQUAL(found, of[i][1]);
        CU_ASSERT_EQUAL(sg_callers_are_named(of[i][0]), i > 0);
    }
}

const struct unit_test unit_tests[] = {
    {"a path is its functions, without the places of the calls", paths},
    {NULL, NULL},
};
