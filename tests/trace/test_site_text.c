/* Tests the text of call sites: written, cut, and parsed back. */
#include "lib/unit.h"
#include "trace/site_text.h"

static void formats(const struct sg_site_text *site, const char *expected)
{
    char text[200];

    EXPECT(sg_site_format(site, text, sizeof text) == (int)strlen(expected),
           text_is(text, expected));
}

TEST("a call site is written with all its parts")
{
    struct sg_site_text site = {0x3f2a9c1b, 88, 0x11c4, "solve", "solver.c", "cg"};

    formats(&site, "solve (solver.c:88) [cg+0x11c4] #3f2a9c1b");
}

TEST("brackets that do not match are written so that the parts can be told apart")
{
    struct sg_site_text site = {1, 88, 0x10, "solve", "a(b.c", "solver[v2"};

    formats(&site, "solve (a\\x28b.c:88) [solver\\x5bv2+0x10] #00000001");
}

TEST("unknown parts of a call site are left out")
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

TEST("a call site's text is cut to the buffer and its length returned")
{
    struct sg_site_text site = {.id = 1, .function = "long_name"};
    char text[6] = "xxxxx";

    EXPECT(sg_site_format(&site, text, sizeof text) == 19, text_is(text, "long_"),
           sg_site_format(&site, NULL, 0) == 19);
}

static void same_text(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        EXPECT(a == b);
    else
        EXPECT(text_is(a, b));
}

static void survives(struct sg_site_text site)
{
    struct sg_site_text back;
    char text[400];

    sg_site_format(&site, text, sizeof text);
    ASSERT(sg_site_parse(text, &back) == SG_OK);
    EXPECT(back.id == site.id, back.line == site.line, back.offset == site.offset);
    same_text(back.function, site.function);
    same_text(back.file, site.file);
    same_text(back.module, site.module);
}

TEST("a call site's text is parsed back to the same parts")
{
    static const char *const functions[] = {NULL, "f", "ns::T<int (*)(double)>::operator()",
                                            "(anonymous namespace)::f [x]", "a (b) [c] #1"};
    static const char *const files[] = {
        NULL, "a.c", "/tmp/dir (1)/b [2].f90", "c:d.c", "e(f.c", "dir (g/h).c)", "\\x28(\\"};
    static const char *const modules[] = {NULL,    "cg",   "lib a+0x1[2].so", "solver[v2", "my [v2",
                                          "b]c [", "\\x5b"};

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

TEST("a text without an id is not a call site")
{
    static const char *const texts[] = {
        "",           "f",          "#12345",   "f #1234567g",
        "f#12345678", "#123456789", "12345678", "f (a.c:1) [m+0x1]"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct sg_site_text site = {.id = 7};
        char text[64];

        strcpy(text, texts[i]);
        EXPECT(sg_site_parse(text, &site) == SG_ERR_SYNTAX, site.id == 7);
    }
}

TEST("brackets with other content belong to the function")
{
    struct sg_site_text site;
    char text[] = "f(int) (no line) [no offset] #00000001";

    ASSERT(sg_site_parse(text, &site) == SG_OK);
    EXPECT(text_is(site.function, "f(int) (no line) [no offset]"), site.file == NULL,
           site.module == NULL);
}
