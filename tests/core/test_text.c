/* Tests text utilities: excerpts, columns, shell words, distances of names, and numbers. */
#include "core/text.h"
#include "lib/unit.h"

static const char *excerpt(const char *text)
{
    static char out[SG_EXCERPT_BYTES];

    return sg_text_excerpt(text, strlen(text), out, sizeof out);
}

TEST("an excerpt shows text as it is, UTF-8 included")
{
    EXPECT(text_is(excerpt(""), ""), text_is(excerpt("a b~c"), "a b~c"),
           text_is(excerpt("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xb2"),
                   "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xb2"));
}

TEST("an excerpt replaces control characters and malformed UTF-8")
{
    EXPECT(text_is(excerpt("a\033[2Jb\nc\x7f"), "a?[2Jb?c?"),
           text_is(excerpt("\xff\xfe x"), "?? x"), text_is(excerpt("cut \xe2\x82"), "cut ??"),
           text_is(excerpt("\xc2\x9b"), "??"), text_is(excerpt("\xc0\xaf"), "??"),
           text_is(excerpt("\xe2"
                           "a\xac"),
                   "?a?"));
}

TEST("an excerpt that does not fit ends in three dots, never within a character")
{
    char out[8];

    EXPECT(text_is(sg_text_excerpt("abcd", 4, out, sizeof out), "abcd"),
           text_is(sg_text_excerpt("abcdefgh", 8, out, sizeof out), "abcd..."),
           text_is(sg_text_excerpt("abc\xe2\x82\xac", 6, out, sizeof out), "abc..."),
           text_is(sg_text_excerpt("abcdefgh", 3, out, sizeof out), "abc"));
}

TEST("an excerpt of any bytes fits and is safe for a terminal")
{
    unsigned seed = 7;

    for (int round = 0; round < 100000; round++) {
        size_t length = (size_t)rand_r(&seed) % 40;
        size_t room = 8 + (size_t)rand_r(&seed) % 24;
        char *text = malloc(length + 1);
        char *out = malloc(room);

        for (size_t i = 0; i < length; i++)
            text[i] = (char)rand_r(&seed);
        sg_text_excerpt(text, length, out, room);
        if (strlen(out) >= room || strpbrk(out, "\n\033\x7f") != NULL) {
            CU_FAIL("an excerpt holds no control character and fits");
            round = 100000;
        }
        free(text);
        free(out);
    }
    CU_PASS("all fit");
}

TEST("columns count characters, from 1")
{
    EXPECT(sg_text_column("abc", 0) == 1, sg_text_column("abc", 2) == 3,
           sg_text_column("\xc3\xbcx", 2) == 2);
}

static bool number_is(const char *text, bool suffixes, uint64_t expected, const char *rest)
{
    uint64_t value = 12345;
    const char *end = sg_text_number(text, text + strlen(text), suffixes, &value);

    return end != NULL && value == expected && strcmp(end, rest) == 0;
}

static bool no_number(const char *text)
{
    uint64_t value = 12345;

    return sg_text_number(text, text + strlen(text), true, &value) == NULL && value == 12345;
}

TEST("numbers accept k, m and g and do not overflow")
{
    EXPECT(number_is("0", true, 0, ""), number_is("17x", true, 17, "x"),
           number_is("4k", true, 4096, ""), number_is("4Kb", true, 4096, "b"),
           number_is("3M-", true, UINT64_C(3) << 20, "-"),
           number_is("2g", true, UINT64_C(2) << 30, ""), number_is("2g", false, 2, "g"),
           number_is("18446744073709551615", true, UINT64_MAX, ""),
           number_is("17179869183g", true, UINT64_C(17179869183) << 30, ""), no_number(""),
           no_number("k"), no_number("-1"), no_number("18446744073709551616"),
           no_number("99999999999999999999999"), no_number("17179869184g"));
}

/* True if bash reads the word back as the text. */
static bool shell_reads_back(const char *text)
{
    char word[SG_WORD_BYTES], command[SG_WORD_BYTES + 50], read_back[1000] = "";

    snprintf(command, sizeof command, "exec bash -c \"$(cat <<'E'\nprintf %%s %s\nE\n)\"",
             sg_text_word(text, word, sizeof word));
    FILE *shell = popen(command, "r");
    ASSERT(shell != NULL);
    read_back[fread(read_back, 1, sizeof read_back - 1, shell)] = '\0';
    return pclose(shell) == 0 &&
           strcmp(read_back + (text[0] == '-' && strncmp(read_back, "./", 2) == 0 ? 2 : 0), text) ==
               0;
}

TEST("the shell reads a quoted word back as the text")
{
    char word[SG_WORD_BYTES], all[256], small[8];
    size_t used = 0;

    EXPECT(text_is(sg_text_word("/a/stagger-cg_2+x.y", word, sizeof word), "/a/stagger-cg_2+x.y"),
           text_is(sg_text_word("my run", word, sizeof word), "'my run'"),
           text_is(sg_text_word("it's", word, sizeof word), "'it'\\''s'"),
           text_is(sg_text_word("", word, sizeof word), "''"),
           text_is(sg_text_word("-x", word, sizeof word), "'./-x'"),
           text_is(sg_text_word("\xc2\x9b\x9b\xc3\xa4", word, sizeof word),
                   "$'\\xc2\\x9b\\x9b\xc3\xa4'"),
           text_is(sg_text_word("a b c d", small, sizeof small), "a b c d"));
    for (int byte = 1; byte < 128; byte++)
        all[used++] = (char)byte;
    strcpy(all + used, "\xc3\xa4\xff");
    EXPECT(shell_reads_back(all), shell_reads_back("$HOME `ls` \"*\" ; & | > ~ {a,b} !x \\"),
           shell_reads_back("a'b\\c\nd"), shell_reads_back("-rf"));
}

TEST("the distance of names is their number of edits")
{
    EXPECT(sg_text_distance("MPI_Waitall", "MPI_Waitall") == 0,
           sg_text_distance("MPI_Watall", "MPI_Waitall") == 1,
           sg_text_distance("MPI_Send", "MPI_Recv") == 3, sg_text_distance("", "abc") == 3,
           sg_text_distance("abc", "") == 3);
}
