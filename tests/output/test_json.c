/* Tests that JSON printed part by part equals JSON printed as a whole. */
#include "lib/unit.h"
#include "output/column.h"
#include "output/json_output.h"
#include "output/section.h"

#include <math.h>

struct row {
    const char *text;
    uint32_t rank;
    uint64_t bytes, unknown;
    int64_t since_ns;
    double mean_ns, none_ns;
    uint32_t word;
    const char *nothing;
};

static bool knows_nothing(const void *row)
{
    return row == NULL;
}

#define IS(which, member) .kind = SG_COLUMN_##which, .offset = offsetof(struct row, member)
static const char *const words[] = {[7] = "seven"};
static const struct sg_column inner_columns[] = {{"text", IS(TEXT, text)},
                                                 {"rank", IS(COUNT32, rank)}};
static const struct sg_columns inner = SG_COLUMNS(inner_columns);
static const struct sg_column columns[] = {
    {"text", IS(TEXT, text)},
    {"rank", IS(COUNT32, rank)},
    {NULL, "shown", "shown", IS(COUNT32, rank)},
    {"id", IS(ID, rank)},
    {"bytes", IS(BYTES, bytes)},
    {"since_ns", IS(INTEGER, since_ns)},
    {"unknown", IS(COUNT, unknown), .known = knows_nothing},
    {"mean_ns", IS(REAL_NS, mean_ns)},
    {"none_ns", IS(REAL_NS, none_ns)},
    {"size.bytes", IS(BYTES, bytes)},
    {"size.text", IS(TEXT, text)},
    {"time.mean_ns", IS(REAL_NS, mean_ns)},
    {"same", IS(OBJECT, text), .inner = &inner},
    {"none", IS(OBJECT, nothing), .inner = &inner},
    {"word", IS(WORD, word), .words = words},
};
static const struct sg_columns all = SG_COLUMNS(columns);
static const struct sg_section section = {.member = "rows", .json = {&all}};

static const struct row rows[] = {
    {.text = "a \"b\"\n{[,",
     .rank = 7,
     .word = 7,
     .bytes = UINT64_C(1) << 40,
     .since_ns = -3,
     .mean_ns = 1.0 / 3,
     .none_ns = NAN},
    {.text = "\xce\xbb\xff",
     .rank = UINT32_MAX,
     .word = 7,
     .bytes = UINT64_MAX,
     .mean_ns = 1e300,
     .none_ns = NAN},
};

/* The members before the list. */
static json_t *head(void)
{
    return json_pack("{s:s, s:[i, {s:[]}, [[f]]], s:{}}", "name", "x\ny", "nested", 1, "empty", 0.1,
                     "object");
}

static char *text_of(void (*print)(FILE *out))
{
    return PRINTED(print(stream));
}

static void print_whole(FILE *out)
{
    json_t *root = head();

    sg_json_set(&root, "rows", sg_section_list(&section, &SG_ROWS(rows, 2, NULL)));
    sg_json_set(&root, "none", json_array());
    sg_json_set(&root, "inside", json_pack("{s:{}, s:i}", "nothing", "last", 3));
    EXPECT(sg_json_print(root, 9, "test", out) == SG_OK);
}

static void print_parts(FILE *out)
{
    struct sg_json_writer writer = {.out = out, .digits = 9};

    sg_json_begin(&writer, NULL, '{');
    sg_json_put_members(&writer, head());
    sg_section_put(&section, &SG_ROWS(rows, 2, NULL), &writer);
    sg_json_begin(&writer, "none", '[');
    sg_json_end(&writer, ']');
    sg_json_begin(&writer, "inside", '{');
    sg_json_begin(&writer, "nothing", '{');
    sg_json_end(&writer, '}');
    sg_json_put_count(&writer, "last", 3);
    sg_json_end(&writer, '}');
    sg_json_end(&writer, '}');
    CU_ASSERT_EQUAL(sg_json_finish(&writer, "test"), SG_OK);
}

TEST("an object printed in parts equals the one printed as a whole")
{
    char *whole = text_of(print_whole), *parts = text_of(print_parts);

    EXPECT(text_is(whole, parts),
           contains(parts, "\n   \"text\": \"a \\\"b\\\"\\n{[,\",\n   \"rank\": 7,\n"),
           contains(parts, "\"since_ns\": -3,\n"),
           contains(parts, "\"bytes\": 9223372036854775807,\n"));
    free(whole);
    free(parts);
}
