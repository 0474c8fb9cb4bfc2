/* Tests each kernel of each instruction set against the operation written out for one element. */
#include "algos/kernels/kernel.h"
#include "algos/one_element.h"
#include "lib/operands.h"
#include "lib/unit.h"

static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 65537};
#define LENGTH(array) (int)(sizeof(array) / sizeof((array)[0]))
#define LARGEST 65537
#define EXTENT_BYTES 32
#define GUARD_BYTES 64
#define ROOM_BYTES (LARGEST * EXTENT_BYTES + 3 * GUARD_BYTES)

static unsigned char in[ROOM_BYTES], inout[ROOM_BYTES], expected[ROOM_BYTES], out[ROOM_BYTES];

/* Placement of the result: separate, over in, over inout, or separate with all three at odd
 * addresses. */
enum placing { APART, OVER_IN, OVER_INOUT, ODD, PLACINGS };

static void complain(enum sg_kernel_set set, enum sg_reduction reduction, enum sg_element element,
                     enum placing placing, size_t count, long at)
{
    printf("# set %d, %s on %s, placing %d, %zu elements: element %ld differs\n", (int)set,
           sg_reduction_names[reduction], sg_element_names[element], (int)placing, count, at);
}

/* Beyond what the widest kernel does at once, the sanitizers have nothing new to see. */
static size_t most(void)
{
    return unit_step() > 1 ? 1000 : LARGEST;
}

/* Whether one kernel over count elements gives the expected values and writes nothing else: not
 * the holes of pairs, either. */
static bool kernel_agrees(sg_kernel kernel, enum sg_element element, bool exact,
                          enum placing placing, size_t count, long *at)
{
    const size_t bytes = count * sg_element_extent_bytes(element);
    const size_t shift = placing == ODD ? 1 : 0;
    unsigned char *first = out + GUARD_BYTES + shift;
    static unsigned char left[ROOM_BYTES], right[ROOM_BYTES];
    unsigned char *left_at = left + 3 * shift, *right_at = right + 5 * shift;
    const bool out_is_apart = placing == APART || placing == ODD;
    bool whole = true;

    memcpy(left_at, in, bytes);
    memcpy(right_at, inout, bytes);
    memset(out, 0xa5, shift + bytes + 2 * GUARD_BYTES);
    if (placing == OVER_IN)
        memcpy(left_at = first, in, bytes);
    if (placing == OVER_INOUT)
        memcpy(right_at = first, inout, bytes);
    kernel(left_at, right_at, first, count);

    *at = operands_differ(element, exact, expected, first, count);
    for (size_t i = 0; i < GUARD_BYTES; i++)
        whole = whole && out[i] == 0xa5 && first[bytes + i] == 0xa5;
    for (size_t i = 0; i < bytes && out_is_apart; i++)
        whole = whole && (first[i] == 0xa5 ||
                          operand_has_byte(element, i % sg_element_extent_bytes(element)));
    return *at < 0 && whole;
}

static bool pair_agrees(enum sg_kernel_set set, enum sg_reduction reduction,
                        enum sg_element element, enum operand_values values, enum placing placing)
{
    sg_kernel kernel = sg_kernel_find_in(set, reduction, element);
    long at = -1;

    for (int k = 0; k < LENGTH(counts) && counts[k] <= most(); k++) {
        if (!kernel_agrees(kernel, element, operands_exact(reduction, values), placing, counts[k],
                           &at)) {
            complain(set, reduction, element, placing, counts[k], at);
            return false;
        }
    }
    return true;
}

/* Expected values of all elements for one pair; false where the pair is none. */
static bool write_out(enum sg_reduction reduction, enum sg_element element)
{
    const size_t extent_bytes = sg_element_extent_bytes(element);

    for (size_t i = 0; i < most() * extent_bytes; i += extent_bytes)
        if (!one[element](reduction, in + i, inout + i, expected + i))
            return false;
    return true;
}

static void check_all(enum operand_values values, enum placing placing)
{
    int pairs = 0, failures = 0;

    for (enum sg_element element = 0; element < SG_ELEMENT_COUNT; element++) {
        operands_fill(element, values, 2 * element + 1, in, LARGEST);
        operands_fill(element, values, 2 * element + 2, inout, LARGEST);
        for (enum sg_reduction reduction = 0; reduction < SG_REDUCTION_COUNT; reduction++) {
            if (!write_out(reduction, element))
                continue;
            pairs++;
            for (enum sg_kernel_set set = 0; set < SG_KERNEL_SET_COUNT; set++)
                if (sg_kernel_set_available(set))
                    failures += !pair_agrees(set, reduction, element, values, placing);
        }
    }
    EXPECT(pairs > 0, failures == 0);
}

TEST("every pair that MPICH supports has a kernel in every instruction set")
{
    unsigned char a[EXTENT_BYTES] = {0}, b[EXTENT_BYTES] = {0}, c[EXTENT_BYTES];

    for (enum sg_element element = 0; element < SG_ELEMENT_COUNT; element++) {
        for (enum sg_reduction reduction = 0; reduction < SG_REDUCTION_COUNT; reduction++) {
            const bool is_pair = one[element](reduction, a, b, c);

            for (enum sg_kernel_set set = 0; set < SG_KERNEL_SET_COUNT; set++)
                if (sg_kernel_set_available(set))
                    EXPECT((sg_kernel_find_in(set, reduction, element) != NULL) == is_pair);
            EXPECT((sg_kernel_find(reduction, element) != NULL) == is_pair);
        }
    }
}

TEST("the plain kernels serve until the instruction set is chosen, then the best ones")
{
    enum sg_kernel_set best = SG_KERNEL_PLAIN;

    EXPECT(sg_kernel_find(SG_REDUCTION_SUM, SG_ELEMENT_DOUBLE) ==
           sg_kernel_find_in(SG_KERNEL_PLAIN, SG_REDUCTION_SUM, SG_ELEMENT_DOUBLE));
    for (enum sg_kernel_set set = 0; set < SG_KERNEL_SET_COUNT; set++)
        if (sg_kernel_set_available(set))
            best = set;
    sg_kernel_init();
    for (enum sg_kernel_set set = 0; set < SG_KERNEL_SET_COUNT; set++)
        EXPECT((sg_kernel_find(SG_REDUCTION_SUM, SG_ELEMENT_DOUBLE) ==
                sg_kernel_find_in(set, SG_REDUCTION_SUM, SG_ELEMENT_DOUBLE)) == (set == best));
}

TEST("each kernel computes the operation's result for ordinary values")
{
    check_all(OPERANDS_ORDINARY, APART);
}

TEST("each kernel treats infinities, denormals, zeros, extremes and NaN as C does")
{
    check_all(OPERANDS_HARD, APART);
}

TEST("each kernel gives NaN if any kind of NaN makes one")
{
    check_all(OPERANDS_NANS, APART);
}

TEST("each kernel may overwrite in")
{
    check_all(OPERANDS_HARD, OVER_IN);
}

TEST("each kernel may overwrite inout")
{
    check_all(OPERANDS_HARD, OVER_INOUT);
}

TEST("each kernel works at unaligned addresses")
{
    check_all(OPERANDS_HARD, ODD);
}

TEST("an element's extent covers its values")
{
    for (enum sg_element element = 0; element < SG_ELEMENT_COUNT; element++) {
        const struct operand_field *last = operand_fields[element];

        if (last[1].kind != OPERAND_NONE)
            last++;
        EXPECT(last->offset_bytes + last->size_bytes <= sg_element_extent_bytes(element),
               sg_element_size_bytes(element) <= sg_element_extent_bytes(element),
               sg_element_extent_bytes(element) <= EXTENT_BYTES);
    }
}
