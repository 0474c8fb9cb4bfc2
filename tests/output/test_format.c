/* Tests figures with units, and names of any bytes. */
#include "lib/unit.h"
#include "output/format.h"

TEST("durations have three digits and a unit")
{
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {
        {0, "0ns"},
        {999, "999ns"},
        {1000, "1.00us"},
        {9994, "9.99us"},
        {9996, "10.0us"},
        {99940, "99.9us"},
        {99960, "100us"},
        {999499, "999us"},
        {999500, "1.00ms"},
        {1234567, "1.23ms"},
        {45600000000, "45.6s"},
        {5000000000000, "5000s"},
        {12345000000000, "3h25m"},
        {183600000000000, "2d3h"},
    };
    char text[SG_FORMAT_BYTES];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sg_format_ns(cases[i].ns, text);
        EXPECT(text_is(text, cases[i].text));
    }
}

TEST("sizes have three digits and a unit")
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0B"},         {1023, "1023B"},          {1024, "1.00KiB"},
        {1536, "1.50KiB"}, {1048576 - 1, "1.00MiB"}, {UINT64_MAX, "16.0EiB"},
    };
    char text[SG_FORMAT_BYTES];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sg_format_bytes(cases[i].bytes, text);
        EXPECT(text_is(text, cases[i].text));
    }
}

TEST("shares are percentages, and absent if the whole is zero")
{
    static const struct {
        uint64_t part, whole;
        const char *text;
    } cases[] = {
        {1, 0, "-"}, {0, 5, "0%"}, {1, 2000, "0.05%"}, {1, 8, "12.5%"}, {9999, 10000, "100%"},
    };
    char text[SG_FORMAT_BYTES];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sg_format_share(cases[i].part, cases[i].whole, text);
        EXPECT(text_is(text, cases[i].text));
    }
}

static void expect_clean(const char *text, bool controls, const char *expected)
{
    char *clean = sg_format_clean(text, controls);

    EXPECT(text_is(clean, expected));
    free(clean);
}

TEST("control characters and bytes that are not UTF-8 are escaped")
{
    expect_clean("plain", true, "plain");
    expect_clean("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8d\x8e", true,
                 "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8d\x8e");
    /* A lone continuation, a cut character, an overlong slash, a surrogate, past U+10FFFF. */
    expect_clean("\x80", false, "\\x80");
    expect_clean("a\xe2\x82", false, "a\\xe2\\x82");
    expect_clean("\xc0\xaf", false, "\\xc0\\xaf");
    expect_clean("\xe0\x80\xaf", false, "\\xe0\\x80\\xaf");
    expect_clean("\xed\xa0\x80", false, "\\xed\\xa0\\x80");
    expect_clean("\xf4\x90\x80\x80", false, "\\xf4\\x90\\x80\\x80");
    expect_clean("a\x1b[2J\n\t\x7f\xc2\x9b", true, "a\\x1b[2J\\n\\t\\x7f\\xc2\\x9b");
    expect_clean("a\n", false, "a\n");
}

TEST("an interval keeps its end, and the lines of a file")
{
    char functions[] = "computing CommRecv -> CommSend",
         lines[] = "asleep sparse_alltoallv.c:7 -> 9";
    char end[] = "-> CommSend";

    sg_format_shorten_interval(functions, 30);
    CU_ASSERT_STRING_EQUAL(functions, "computing CommRecv -> CommSend");
    sg_format_shorten_interval(functions, 26);
    CU_ASSERT_STRING_EQUAL(functions, "computing -> CommSend");
    sg_format_shorten_interval(lines, 26);
    CU_ASSERT_STRING_EQUAL(lines, "asleep sparse..lv.c:7 -> 9");
    sg_format_shorten_interval(lines, 5);
    CU_ASSERT_EQUAL(sg_format_columns(lines), 5);
    sg_format_shorten_interval(end, 10);
    CU_ASSERT_STRING_EQUAL(end, "-> C..Send");
}

TEST("texts are shortened in the middle, between characters")
{
    char text[64];

    strcpy(text, "abcdefghij");
    sg_format_shorten(text, 10);
    EXPECT(text_is(text, "abcdefghij"));
    sg_format_shorten(text, 7);
    EXPECT(text_is(text, "abc..ij"));
    strcpy(text, "abcdefghij");
    sg_format_shorten(text, 2);
    EXPECT(text_is(text, "ab"));
    /* Never inside a character. */
    strcpy(text, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x84\xc3\x96\xc3\x9c");
    EXPECT(sg_format_columns(text) == 6);
    sg_format_shorten(text, 5);
    EXPECT(text_is(text, "\xc3\xa4\xc3\xb6..\xc3\x9c"));
}
