/* Tests figures with units, and names of any bytes. */
#include "lib/unit.h"
#include "output/format.h"

#include <stdlib.h>
#include <string.h>

static void test_ns(void)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {
        {0, "0ns"},         {999, "999ns"},      {1000, "1.00us"},       {9994, "9.99us"},
        {9996, "10.0us"},   {99940, "99.9us"},   {99960, "100us"},       {999499, "999us"},
        {999500, "1.00ms"}, {1234567, "1.23ms"}, {45600000000, "45.6s"}, {12345000000000, "12345s"},
    };
    char text[SG_FORMAT_BYTES];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sg_format_ns(cases[i].ns, text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
    }
}

static void test_bytes(void)
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
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
    }
}

static void test_share(void)
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
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
    }
}

static void expect_clean(const char *text, bool controls, const char *expected)
{
    char *clean = sg_format_clean(text, controls);

    CU_ASSERT_STRING_EQUAL(clean, expected);
    free(clean);
}

static void test_clean(void)
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

static void test_shorten(void)
{
    char text[64];

    strcpy(text, "abcdefghij");
    sg_format_shorten(text, 10);
    CU_ASSERT_STRING_EQUAL(text, "abcdefghij");
    sg_format_shorten(text, 7);
    CU_ASSERT_STRING_EQUAL(text, "abc..ij");
    strcpy(text, "abcdefghij");
    sg_format_shorten(text, 2);
    CU_ASSERT_STRING_EQUAL(text, "ab");
    /* Never inside a character. */
    strcpy(text, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x84\xc3\x96\xc3\x9c");
    CU_ASSERT_EQUAL(sg_format_columns(text), 6);
    sg_format_shorten(text, 5);
    CU_ASSERT_STRING_EQUAL(text, "\xc3\xa4\xc3\xb6..\xc3\x9c");
}

const struct unit_test unit_tests[] = {
    {"durations have three digits and a unit", test_ns},
    {"sizes have three digits and a unit", test_bytes},
    {"shares are percentages, and none of nothing", test_share},
    {"bytes that are not UTF-8 and controls are escaped", test_clean},
    {"texts are shortened in the middle, between characters", test_shorten},
    {NULL, NULL},
};
