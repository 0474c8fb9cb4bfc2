/* Tests the text of call sites: written, cut, and parsed back. */
#include "lib/unit.h"
#include "trace/site_text.h"

#include <string.h>

static void formats(const struct sg_site_text *site, const char *expected)
{
    char text[200];

    CU_ASSERT_EQUAL(sg_site_format(site, text, sizeof text), (int)strlen(expected));
    CU_ASSERT_STRING_EQUAL(text, expected);
}

static void all_parts(void)
{
    struct sg_site_text site = {0x3f2a9c1b, 88, 0x11c4, "solve", "solver.c", "cg"};

    formats(&site, "solve (solver.c:88) [cg+0x11c4] #3f2a9c1b");
}

static void unknown_parts(void)
{
    struct sg_site_text site = {.id = 0xab, .offset = 0x10, .module = "cg", .function = ""};

    formats(&site, "[cg+0x10] #000000ab");
    site.module = NULL;
    formats(&site, "#000000ab");
    site.function = "f";
    formats(&site, "f #000000ab");
    site.file = "a.c";
    formats(&site, "f (a.c:0) #000000ab");
}

static void cuts_and_tells_length(void)
{
    struct sg_site_text site = {.id = 1, .function = "long_name"};
    char text[6] = "xxxxx";

    CU_ASSERT_EQUAL(sg_site_format(&site, text, sizeof text), 19);
    CU_ASSERT_STRING_EQUAL(text, "long_");
    CU_ASSERT_EQUAL(sg_site_format(&site, NULL, 0), 19);
}

static void same_text(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        CU_ASSERT_PTR_EQUAL(a, b)
    else
        CU_ASSERT_STRING_EQUAL(a, b)
}

static void survives(struct sg_site_text site)
{
    struct sg_site_text back;
    char text[400];

    sg_site_format(&site, text, sizeof text);
    CU_ASSERT_EQUAL_FATAL(sg_site_parse(text, &back), SG_OK);
    CU_ASSERT_EQUAL(back.id, site.id);
    CU_ASSERT_EQUAL(back.line, site.line);
    CU_ASSERT_EQUAL(back.offset, site.offset);
    same_text(back.function, site.function);
    same_text(back.file, site.file);
    same_text(back.module, site.module);
}

static void parses_what_it_formats(void)
{
    static const char *const functions[] = {NULL, "f", "ns::T<int (*)(double)>::operator()",
                                            "(anonymous namespace)::f [x]", "a (b) [c] #1"};
    static const char *const files[] = {NULL, "a.c", "/tmp/dir (1)/b [2].f90", "c:d.c"};
    static const char *const modules[] = {NULL, "cg", "lib a+0x1[2].so"};

    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        for (size_t n = 0; n < sizeof files / sizeof files[0]; n++) {
            for (size_t m = 0; m < sizeof modules / sizeof modules[0]; m++) {
                struct sg_site_text site = {.id = 0xdeadbeef, .function = functions[f]};

                site.file = files[n];
                site.line = files[n] != NULL ? 4294967295u : 0;
                site.module = modules[m];
                site.offset = modules[m] != NULL ? UINT64_MAX : 0;
                survives(site);
            }
        }
    }
}

static void refuses_without_id(void)
{
    static const char *const texts[] = {
        "",           "f",          "#12345",   "f #1234567g",
        "f#12345678", "#123456789", "12345678", "f (a.c:1) [m+0x1]"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct sg_site_text site = {.id = 7};
        char text[64];

        strcpy(text, texts[i]);
        CU_ASSERT_EQUAL(sg_site_parse(text, &site), SG_ERR_SYNTAX);
        CU_ASSERT_EQUAL(site.id, 7);
    }
}

static void brackets_that_are_not_parts(void)
{
    struct sg_site_text site;
    char text[] = "f(int) (no line) [no offset] #00000001";

    CU_ASSERT_EQUAL_FATAL(sg_site_parse(text, &site), SG_OK);
    CU_ASSERT_STRING_EQUAL(site.function, "f(int) (no line) [no offset]");
    CU_ASSERT_PTR_NULL(site.file);
    CU_ASSERT_PTR_NULL(site.module);
}

const struct unit_test unit_tests[] = {
    {"a call site is written with all its parts", all_parts},
    {"parts of a call site that are not known are left out", unknown_parts},
    {"a call site's text is cut to the buffer and its length told", cuts_and_tells_length},
    {"a call site's text is parsed back to the same parts", parses_what_it_formats},
    {"a text without an id is no call site", refuses_without_id},
    {"brackets of other content belong to the function", brackets_that_are_not_parts},
    {NULL, NULL},
};
