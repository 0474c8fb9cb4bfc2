/* Tests the parser of rules: all forms are read, and each fault is named with its column. */
#include "rule/rule_support.h"

/* True when the rules parse without a word and are printed as expected (which lacks the sources).
 */
static bool reads(const char *text, const char *expected)
{
    char *log;
    struct sg_ruleset *rules = rules_of(text, &log);
    char *print = printed(rules);
    char wanted[1000] = "";

    for (const char *at = expected; *at != '\0';) {
        size_t length = strcspn(at, "\n");

        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%.*s # STAGGER_RULES\n",
                 (int)length, at);
        at += length + (at[length] != '\0');
    }
    bool same = *log == '\0' && strcmp(print, wanted) == 0;
    if (!same)
        printf("# said: %s# got: %s# not: %s", log, print, wanted);
    free(print);
    free(log);
    sg_ruleset_destroy(rules);
    return same;
}

/* True when the one rule is left out with exactly this message. */
static bool says(const char *text, int column, const char *message)
{
    char *log;
    struct sg_ruleset *rules = rules_of(text, &log);
    char *print = printed(rules);
    char wanted[1000];

    snprintf(wanted, sizeof wanted, "stagger: STAGGER_RULES, column %d: %s; ignored: %s\n", column,
             message, text);
    bool same = strcmp(log, wanted) == 0 && *print == '\0';
    if (!same)
        printf("# got: %s# not: %s# rules: %s", log, wanted, print);
    free(print);
    free(log);
    sg_ruleset_destroy(rules);
    return same;
}

/* ---- forms -----------------------------------------------------------------------------------*/

TEST("every operation is read")
{
    EXPECT(reads("barrier=mpich", "barrier=mpich"), reads("reduce=bypass", "reduce=bypass"),
           reads("allreduce=mpich", "allreduce=mpich"), reads("*=bypass", "*=bypass"));
}

TEST("every form of call site is read")
{
    EXPECT(reads("reduce@solver.c:88=mpich", "reduce@solver.c:88=mpich"),
           reads("reduce@./src/*.c:4294967295=mpich", "reduce@src/*.c:4294967295=mpich"),
           reads("reduce@solve*=mpich", "reduce@solve*=mpich"),
           reads("reduce@ns::Solver<double>::step(int, int)=mpich",
                 "reduce@ns::Solver<double>::step(int, int)=mpich"),
           reads("reduce@operator\\=\\==mpich", "reduce@operator\\=\\==mpich"),
           reads("reduce@\\~Solver~8=mpich", "reduce@\\~Solver~8-8=mpich"),
           reads("reduce@a\\;b=mpich", "reduce@a\\;b=mpich"),
           reads("reduce@[ab]*[!]c]x=mpich", "reduce@[ab]*[!]c]x=mpich"),
           reads("reduce@libsolver.so+0x11c4=mpich", "reduce@libsolver.so+0x11c4=mpich"),
           reads("reduce@g++-cg+0X0fFfFfFfFfFfFfFf=mpich", "reduce@g++-cg+0xfffffffffffffff=mpich"),
           reads("reduce@3f2A9c1B=mpich", "reduce@3f2a9c1b=mpich"),
           reads("reduce@deadbeef=mpich", "reduce@deadbeef=mpich"),
           reads("reduce@deadbeef1=mpich", "reduce@deadbeef1=mpich"),
           reads("reduce@*=mpich", "reduce=mpich"));
}

TEST("every form of communicator is read")
{
    EXPECT(reads("reduce~ocean*=mpich", "reduce~ocean*=mpich"),
           reads("reduce@*~ocean model =mpich", "reduce~ocean model=mpich"),
           reads("reduce~2-64=mpich", "reduce~2-64=mpich"),
           reads("reduce~8=mpich", "reduce~8-8=mpich"),
           reads("reduce~16-=mpich", "reduce~16-2147483647=mpich"),
           reads("reduce~-4=mpich", "reduce~0-4=mpich"), reads("reduce~*=mpich", "reduce=mpich"),
           reads("reduce~a\\@b\\~c=mpich", "reduce~a\\@b\\~c=mpich"),
           reads("reduce~comm 0.1=mpich", "reduce~comm 0.1=mpich"));
}

TEST("every form of byte range is read")
{
    EXPECT(reads("reduce[0-4k]=mpich", "reduce[0-4k]=mpich"),
           reads("reduce[4097-]=mpich", "reduce[4097-]=mpich"),
           reads("reduce[-1M]=mpich", "reduce[0-1m]=mpich"),
           reads("reduce[ 2G ]=mpich", "reduce[2g-2g]=mpich"),
           reads("reduce[18446744073709551615]=mpich", "reduce[18446744073709551615-]=mpich"),
           reads("reduce@f[0-4]=mpich", "reduce@f[0-4]=mpich"),
           reads("reduce@f[0-4][8]=mpich", "reduce@f[0-4][8-8]=mpich"),
           reads("allreduce @ solver.c:88 ~ ocean* [1k-2k] = mpich",
                 "allreduce@solver.c:88~ocean*[1k-2k]=mpich"));
}

TEST("parameters are read, and the others get their defaults")
{
    const char *defaults = "reduce=adaptive(degree=auto,wait=block,limit=4096)";

    EXPECT(reads("reduce=adaptive", defaults), reads("reduce=adaptive()", defaults),
           reads("reduce = adaptive ( ) ", defaults),
           reads("reduce=adaptive(degree=2)", "reduce=adaptive(degree=2,wait=block,limit=4096)"),
           reads("reduce=adaptive( limit = 1m , degree=64,wait=spin )",
                 "reduce=adaptive(degree=64,wait=spin,limit=1048576)"),
           reads("reduce=adaptive(degree=none,limit=-8)",
                 "reduce=adaptive(degree=none,wait=block,limit=-8)"),
           reads("*=mpich()", "*=mpich"));
}

TEST("semicolons and line ends separate rules, and empty rules are skipped")
{
    EXPECT(reads("", ""), reads(" ; ;\n\n;", ""),
           reads("reduce=mpich;barrier=mpich\n allreduce=mpich ;",
                 "reduce=mpich\nbarrier=mpich\nallreduce=mpich"));
}

TEST("printed rules parse to the same rules")
{
    static const char text[] = "reduce@a b[0]*:7~x\\~y*[1k-]=adaptive(degree=none,wait=spin)\n"
                               "*@lib?.so+0x1f~2-=bypass\nallreduce@\\;f[-5]=adaptive(limit=7)\n"
                               "barrier@0000000a=mpich";
    char *log;
    struct sg_ruleset *rules = rules_of(text, &log);
    char *first = printed(rules);
    char *copy = strdup(first);

    EXPECT(text_is(log, ""));
    sg_ruleset_destroy(rules);
    free(log);
    /* The sources are comments of the file's form. */
    for (char *at = copy; (at = strstr(at, " # ")) != NULL;)
        memset(at, ' ', strcspn(at, "\n"));
    rules = rules_of(copy, &log);
    char *again = printed(rules);
    EXPECT(text_is(log, ""), text_is(first, again));
    sg_ruleset_destroy(rules);
    free(log);
    free(first);
    free(again);
    free(copy);
}

/* ---- faults ----------------------------------------------------------------------------------*/

TEST("a fault in the operation is reported with its column")
{
    EXPECT(
        says("gather=mpich", 1, "expected barrier, reduce, allreduce, bcast or *, found 'gather'"),
        says("Reduce=mpich", 1, "expected barrier, reduce, allreduce, bcast or *, found 'Reduce'"),
        says("=mpich", 1, "expected barrier, reduce, allreduce, bcast or *, found '=mpich'"),
        says("reduce", 7, "expected '=' and an algorithm, found the end"),
        says("reduce@f\\=mpich", 16, "expected '=' and an algorithm, found the end"),
        says("reduce!=mpich", 7,
             "expected '@' and a call site, '~' and a communicator, '[' and bytes, or '=', "
             "found '!'"),
        says("reduce f=mpich", 8,
             "expected '@' and a call site, '~' and a communicator, '[' and bytes, or '=', "
             "found 'f'"));
}

TEST("a fault in the call site is reported with its column")
{
    EXPECT(
        says("reduce@=mpich", 8,
             "expected a call site: file:line, a function, module+0xoffset, an id of 8 hex "
             "digits or *"),
        says("reduce@ ~8=mpich", 9,
             "expected a call site: file:line, a function, module+0xoffset, an id of 8 hex "
             "digits or *"),
        says("reduce@a.c:0=mpich", 12, "expected a line from 1 to 4294967295"),
        says("reduce@a.c:4294967296=mpich", 12, "expected a line from 1 to 4294967295"),
        says("reduce@a.c:1-9=mpich", 12, "expected a line from 1 to 4294967295"),
        says("reduce@:9=mpich", 8, "expected a file before ':'"),
        says("reduce@cg+0x=mpich", 13, "expected 1 to 16 hex digits after '+0x'"),
        says("reduce@cg+0x12g=mpich", 13, "expected 1 to 16 hex digits after '+0x'"),
        says("reduce@cg+0x12345678123456789=mpich", 13, "expected 1 to 16 hex digits after '+0x'"),
        says("reduce@+0x12=mpich", 8, "expected a module before '+0x'"),
        says("reduce@f[a*=mpich", 9, "expected ']' to close '['"),
        says("reduce@f\\ =mpich", 9, "expected a character after '\\', found the end"));
}

TEST("a fault in the communicator is reported with its column")
{
    EXPECT(says("reduce~=mpich", 8,
                "expected a communicator: a name, a range of sizes such as 2-64 or *"),
           says("reduce~ocean@f=mpich", 13,
                "expected the call site before the communicator, or '\\@' in a name"),
           says("reduce~ocean~f=mpich", 13, "expected one communicator, or '\\~' in a name"),
           says("reduce~2147483648=mpich", 8,
                "expected a range of sizes such as 2-64, 8, 16- or -4, found '2147483648'"),
           says("reduce~2-3-4=mpich", 8,
                "expected a range of sizes such as 2-64, 8, 16- or -4, found '2-3-4'"),
           says("reduce~-=mpich", 8,
                "expected a range of sizes such as 2-64, 8, 16- or -4, found '-'"),
           says("reduce~64-2=mpich", 8,
                "expected a range whose first number is no greater than its last, found '64-2'"),
           says("reduce~[a=mpich", 8, "expected ']' to close '['"));
}

TEST("a fault in the bytes is reported with its column")
{
    const char *form = "expected bytes such as [0-4k], [1m-], [-64] or [8] before '='";
    char message[200];

    snprintf(message, sizeof message, "%s, found the end", form);
    EXPECT(says("reduce[]=mpich", 8, message));
    snprintf(message, sizeof message, "%s, found '-'", form);
    EXPECT(says("reduce[-]=mpich", 8, message));
    snprintf(message, sizeof message, "%s, found 'ab'", form);
    EXPECT(says("reduce@f[ab]=mpich", 10, message));
    snprintf(message, sizeof message, "%s, found '0-4kb'", form);
    EXPECT(says("reduce[0-4kb]=mpich", 8, message));
    snprintf(message, sizeof message, "%s, found '18446744073709551616'", form);
    EXPECT(says("reduce[18446744073709551616]=mpich", 8, message),
           says("reduce[4k-4]=mpich", 8,
                "expected a range whose first number is no greater than its last, found '4k-4'"),
           says("reduce[0-4k=mpich", 12, "expected ']' before '='"),
           says("reduce 0-4k]=mpich", 12, "expected '[' before ']'"));
}

TEST("a fault in the algorithm is reported with its column and the known names")
{
    EXPECT(
        says("reduce=", 8, "expected an algorithm (mpich, bypass, adaptive), found the end"),
        says("reduce= (x)", 9, "expected an algorithm (mpich, bypass, adaptive), found '(x)'"),
        says("reduce=bypas", 8,
             "unknown algorithm 'bypas', expected one of: mpich, bypass, adaptive"),
        says("barrier=bypass", 9, "bypass does not support barrier, only reduce"),
        says("barrier@f=adaptive", 11, "adaptive does not support barrier, only reduce, allreduce"),
        says("reduce=mpich x", 14, "expected the end of the rule, found 'x'"),
        says("reduce=mpich=x", 13, "expected the end of the rule, found '=x'"),
        says("reduce=mpich() x", 16, "expected the end of the rule, found 'x'"));
}

TEST("a fault in the parameters is reported with its column")
{
    EXPECT(
        says("reduce=mpich(x=1)", 14, "mpich takes no parameters"),
        says("reduce=adaptive(depth=1)", 17,
             "adaptive has no parameter 'depth', only degree, wait, limit"),
        says("reduce=adaptive(degree)", 23, "expected '=' and a value for degree, found the end"),
        says("reduce=adaptive(degree 3)", 24, "expected '=' and a value for degree, found '3'"),
        says("reduce=adaptive(degree=2", 25, "expected ')', found the end"),
        says("reduce=adaptive(degree=2,)", 26, "expected a parameter of adaptive, found the end"),
        says("reduce=adaptive(,)", 17, "expected a parameter of adaptive, found the end"),
        says("reduce=adaptive(degree=2,degree=3)", 26, "degree appears twice"),
        says("reduce=adaptive(degree=1)", 24,
             "expected degree from 2 to 64 or auto|none, found '1'"),
        says("reduce=adaptive(degree=65)", 24,
             "expected degree from 2 to 64 or auto|none, found '65'"),
        says("reduce=adaptive(degree=aut)", 24,
             "expected degree from 2 to 64 or auto|none, found 'aut'"),
        says("reduce=adaptive(degree=)", 24,
             "expected degree from 2 to 64 or auto|none, found the end"),
        says("reduce=adaptive(limit=9223372036854775808)", 23,
             "expected limit from -8 to 1048576, found '9223372036854775808'"),
        says("reduce=adaptive(wait=3)", 22, "expected wait to be one of spin|block, found '3'"));
}

TEST("a fault drops only its own rule, with one line that is safe to print")
{
    char *log;
    struct sg_ruleset *rules =
        rules_of("reduce=mpich; nonsense ;gr\xc3\xbc\xc3\x9f@\033=x;barrier=mpich", &log);
    char *print = printed(rules);

    EXPECT(text_is(log, "stagger: STAGGER_RULES, column 15: expected barrier, reduce, allreduce, "
                        "bcast or *, found "
                        "'nonsense'; ignored: nonsense\n"
                        "stagger: STAGGER_RULES, column 25: expected barrier, reduce, allreduce, "
                        "bcast or *, found "
                        "'gr'; ignored: gr\xc3\xbc\xc3\x9f@?=x\n"),
           text_is(print, "reduce=mpich # STAGGER_RULES\nbarrier=mpich # STAGGER_RULES\n"));
    free(print);
    free(log);
    sg_ruleset_destroy(rules);
}

TEST("columns count characters")
{
    EXPECT(says("reduce@gr\xc3\xbc\xc3\x9f=x", 13,
                "unknown algorithm 'x', expected one of: mpich, bypass, adaptive"));
}

TEST("very many faults are counted, and only the first are printed")
{
    char text[101];
    char *log;
    int lines = 0;

    for (int i = 0; i < 50; i++)
        memcpy(text + (ptrdiff_t)i * 2, "x;", 3);
    struct sg_ruleset *rules = rules_of(text, &log);
    for (const char *at = log; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    EXPECT(lines == 21, strstr(log, "stagger: 30 more invalid rules are ignored\n") != NULL);
    free(log);
    sg_ruleset_destroy(rules);
}

TEST("rules of the command line are checked separately")
{
    struct capture capture;

    capture_begin(&capture);
    EXPECT(sg_rule_check("--rule", "reduce@f=mpich; barrier=mpich") == SG_OK,
           sg_rule_check("--rule", "reduce=x; y") == SG_ERR_SYNTAX,
           sg_rule_check("--rule", " ;") == SG_ERR_SYNTAX);
    char *log = capture_end(&capture);
    EXPECT(text_is(
        log,
        "stagger: --rule, column 8: unknown algorithm 'x', expected one of: mpich, handoff, srm, "
        "bypass, adaptive, tree, dissemination, pairwise, bcs, auto\n"
        "stagger: --rule, column 1: expected a rule, found the end\n"));
    free(log);
}

static const char *pick(const char *const *texts, unsigned *seed)
{
    int count = 0;

    while (texts[count] != NULL)
        count++;
    return texts[rand_r(seed) % count];
}

/* Rules put together of good and bad parts, with some bytes changed. */
static void make_text(char *text, size_t size_bytes, unsigned *seed)
{
    static const char *const heads[] = {"reduce",   "barrier", "allreduce", "*",
                                        " reduce ", "x",       NULL};
    static const char *const sites[] = {"", "@f", "@a.c:7", "@l+0x1", "@3f2a9c1b", "@[", "@", NULL};
    static const char *const comms[] = {"", "~o*", "~2-4", "~9-1", "~\xff\\~", "~", NULL};
    static const char *const bytes[] = {"", "[0-4k]", "[-]", "[9-", "[18446744073709551615]", NULL};
    static const char *const targets[] = {
        "=mpich",   "=adaptive(degree=3)", "=adaptive(wait=spin,limit=1k)",
        "=bypass(", "=adaptive(degree=,)", "",
        NULL};
    static const char *const ends[] = {"", ";", "\n", ";;", "\\", NULL};

    *text = '\0';
    for (int i = rand_r(seed) % 4; i > 0; i--) {
        size_t used = strlen(text);

        snprintf(text + used, size_bytes - used, "%s%s%s%s%s%s", pick(heads, seed),
                 pick(sites, seed), pick(comms, seed), pick(bytes, seed), pick(targets, seed),
                 pick(ends, seed));
    }
    for (int i = rand_r(seed) % 4; i > 0 && *text != '\0'; i--)
        text[(size_t)rand_r(seed) % strlen(text)] = (char)(1 + rand_r(seed) % 255);
}

TEST("any text is safe to parse")
{
    unsigned seed = 1;
    int rules = 0;
    int faults = 0;

    for (int round = 0; round < 100000; round++) {
        char text[400];
        struct sg_ruleset set = {.table = test_table};
        struct sg_rule_reader reader = {.table = test_table, .source = "random"};

        make_text(text, sizeof text, &seed);
        ASSERT(sg_rule_parse_list(&reader, text, &set) == SG_OK);
        rules += set.count;
        faults += reader.faults;
        for (int i = 0; i < set.count; i++)
            sg_rule_clear(&set.rules[i]);
        free(set.rules);
    }
    /* The texts are near enough to rules that both happen. */
    EXPECT(rules > 1000, faults > 1000);
}

/* ---- messages ---------------------------------------------------------------------------------*/

TEST("a rule for messages may name mpich")
{
    EXPECT(reads("p2p=mpich", "p2p=mpich"),
           reads("p2p~2-64 = mpich; barrier=mpich", "p2p~2-64=mpich\nbarrier=mpich"),
           reads("p2p~MPI_COMM_WORLD=mpich", "p2p~MPI_COMM_WORLD=mpich"),
           says("p2p=bcs", 5, "unknown algorithm 'bcs', expected one of: mpich, bypass, adaptive"));
}

/* With the algorithms that there are. */
TEST("a rule for messages may name bcs, and no other algorithm of the library")
{
    struct capture capture;

    capture_begin(&capture);
    EXPECT(sg_rule_check("--rule", "p2p~2-=mpich") == SG_OK,
           sg_rule_check("--rule", "p2p=bcs") == SG_OK,
           sg_rule_check("--rule", "p2p~MPI_COMM_WORLD = bcs(slice=250,send=rendezvous)") == SG_OK,
           sg_rule_check("--rule", "p2p=bcs(slice=1)") == SG_ERR_SYNTAX,
           sg_rule_check("--rule", "p2p=srm") == SG_ERR_SYNTAX);
    char *log = capture_end(&capture);
    EXPECT(text_is(log,
                   "stagger: --rule, column 15: expected slice from 100 to 1000000, found '1'\n"
                   "stagger: --rule, column 5: expected mpich or bcs, found 'srm'\n"));
    free(log);
}

TEST("a rule for messages covers all of them")
{
    EXPECT(
        says("p2p@main=mpich", 4, "expected no call site: messages match across call sites"),
        says("p2p[0-4k]=mpich", 4, "expected no bytes: messages of all sizes match in order"),
        says("p2p~8[0-4k]=mpich", 11, "expected no bytes: messages of all sizes match in order"),
        says("p2p~rows=mpich", 5,
             "expected a range of sizes or MPI_COMM_WORLD: other communicators have no name "
             "when they are made"),
        says("p2p", 4, "expected '=' and an algorithm, found the end"),
        says("p2p_x=mpich", 1, "expected barrier, reduce, allreduce, bcast or *, found 'p2p_x'"));
}
