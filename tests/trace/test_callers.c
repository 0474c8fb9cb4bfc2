/* Tests the paths of callers. */
#include "lib/unit.h"
#include "trace/export/logread_all.h"

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

TEST("a path consists of its functions, without the call sites")
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
        EXPECT(text_is(found, of[i][1]), sg_callers_are_named(of[i][0]) == (i > 0));
    }
}
