/* Types, operations and operands of reductions, and bytes of messages (operands.h).
 *
 * MPICH's predefined handles contain their kind, size and number: 0x4c00SSNN (SS the size in bytes,
 * NN the number), 0x8c00000N for pairs with padding, 0x5800000N for operations. The number finds
 * the entry; comparing the whole handle decides whether it is the entry's, as the same type with
 * another size has another handle. Handle bits are also read where a call of MPICH would reach the
 * wrong error handler.
 */
#include "mpi/operands.h"

#include "mpi/real.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- types and operations of MPI ---- */

#define ENTRIES 256u

struct type_entry {
    MPI_Datatype handle;
    uint8_t element;
};

/* One bit for the kind, seven for the number. */
#define INDEX(handle) (((uint32_t)(handle) >> 24 & 0x80u) | ((uint32_t)(handle)&0x7fu))
#define ENTRY(type, name) [INDEX(type)] = {type, SG_ELEMENT_##name},

_Static_assert(sizeof(short) == 2 && sizeof(int) == 4 && sizeof(long) == 8 &&
                   sizeof(long long) == 8 && sizeof(long double) == 16,
               "the table below holds for x86-64 and 64-bit Arm");
_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Offset) == 8 && sizeof(MPI_Count) == 8,
               "the table below holds for x86-64 and 64-bit Arm");
/* Characters are unsigned on Arm; sg_types_init finds out how MPICH treats them. */
#define SG_ELEMENT_CHARACTER (CHAR_MIN < 0 ? SG_ELEMENT_INT8 : SG_ELEMENT_UINT8)

/* clang-format off */
static struct type_entry types[ENTRIES] = {
    ENTRY(MPI_CHAR, CHARACTER)
    ENTRY(MPI_SIGNED_CHAR, INT8)
    ENTRY(MPI_UNSIGNED_CHAR, UINT8)
    ENTRY(MPI_BYTE, BYTE)
    ENTRY(MPI_SHORT, INT16)
    ENTRY(MPI_UNSIGNED_SHORT, UINT16)
    ENTRY(MPI_INT, INT32)
    ENTRY(MPI_UNSIGNED, UINT32)
    ENTRY(MPI_LONG, INT64)
    ENTRY(MPI_UNSIGNED_LONG, UINT64)
    ENTRY(MPI_LONG_LONG, INT64)
    ENTRY(MPI_UNSIGNED_LONG_LONG, UINT64)
    ENTRY(MPI_INT8_T, INT8)
    ENTRY(MPI_INT16_T, INT16)
    ENTRY(MPI_INT32_T, INT32)
    ENTRY(MPI_INT64_T, INT64)
    ENTRY(MPI_UINT8_T, UINT8)
    ENTRY(MPI_UINT16_T, UINT16)
    ENTRY(MPI_UINT32_T, UINT32)
    ENTRY(MPI_UINT64_T, UINT64)
    ENTRY(MPI_AINT, INT64)
    ENTRY(MPI_OFFSET, INT64)
    ENTRY(MPI_COUNT, INT64)
    ENTRY(MPI_FLOAT, FLOAT)
    ENTRY(MPI_DOUBLE, DOUBLE)
    ENTRY(MPI_LONG_DOUBLE, LONG_DOUBLE)
    ENTRY(MPI_C_BOOL, BOOL)
    ENTRY(MPI_C_FLOAT_COMPLEX, C_COMPLEX_FLOAT)
    ENTRY(MPI_C_DOUBLE_COMPLEX, C_COMPLEX_DOUBLE)
    ENTRY(MPI_C_LONG_DOUBLE_COMPLEX, C_COMPLEX_LONG_DOUBLE)
    ENTRY(MPI_FLOAT_INT, FLOAT_INT)
    ENTRY(MPI_DOUBLE_INT, DOUBLE_INT)
    ENTRY(MPI_LONG_INT, LONG_INT)
    ENTRY(MPI_2INT, INT_INT)
    ENTRY(MPI_SHORT_INT, SHORT_INT)
    ENTRY(MPI_LONG_DOUBLE_INT, LONG_DOUBLE_INT)

    ENTRY(MPI_CXX_BOOL, BOOL)
    ENTRY(MPI_CXX_FLOAT_COMPLEX, COMPLEX_FLOAT)
    ENTRY(MPI_CXX_DOUBLE_COMPLEX, COMPLEX_DOUBLE)
    ENTRY(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX_LONG_DOUBLE)

    ENTRY(MPI_CHARACTER, CHARACTER)
    ENTRY(MPI_LOGICAL, LOGICAL)
    ENTRY(MPI_INTEGER, INT32)
    ENTRY(MPI_INTEGER1, INT8)
    ENTRY(MPI_INTEGER2, INT16)
    ENTRY(MPI_INTEGER4, INT32)
    ENTRY(MPI_INTEGER8, INT64)
    ENTRY(MPI_REAL, REAL4)
    ENTRY(MPI_DOUBLE_PRECISION, REAL8)
    ENTRY(MPI_REAL4, REAL4)
    ENTRY(MPI_REAL8, REAL8)
    ENTRY(MPI_REAL16, REAL16)
    ENTRY(MPI_COMPLEX, COMPLEX_FLOAT)
    ENTRY(MPI_DOUBLE_COMPLEX, COMPLEX_DOUBLE)
    ENTRY(MPI_COMPLEX8, COMPLEX_FLOAT)
    ENTRY(MPI_COMPLEX16, COMPLEX_DOUBLE)
    ENTRY(MPI_2INTEGER, INT_INT)
    ENTRY(MPI_2REAL, FLOAT_FLOAT)
    ENTRY(MPI_2DOUBLE_PRECISION, DOUBLE_DOUBLE)
};

#define OPERATION(name) [MPI_##name & 0xf] = SG_REDUCTION_##name,
static const uint8_t reductions[] = {SG_REDUCTIONS(OPERATION)};
/* clang-format on */

/* Returns the signed type of the same size. */
static uint8_t signed_element(uint8_t element)
{
    bool is_unsigned = element >= SG_ELEMENT_UINT8 && element <= SG_ELEMENT_UINT64;

    return is_unsigned ? (uint8_t)(element - SG_ELEMENT_UINT8 + SG_ELEMENT_INT8) : element;
}

/* MPICH 4.0 treats MPI_REAL16 as sixteen signed characters, later ones as a number. */
static bool real16_is_characters(sg_reduce_local reduce_local)
{
    signed char from[16], into[16];
    bool is_alike = true;

    for (int i = 0; i < 16; i++) {
        from[i] = (signed char)(i + 1);
        into[i] = 2;
    }
    if (reduce_local(from, into, 1, MPI_REAL16, MPI_SUM) != MPI_SUCCESS)
        return false;
    for (int i = 0; i < 16; i++)
        is_alike = is_alike && into[i] == i + 3;
    return is_alike;
}

static bool is_complex(uint8_t element)
{
    return element == SG_ELEMENT_COMPLEX_FLOAT || element == SG_ELEMENT_COMPLEX_DOUBLE ||
           element == SG_ELEMENT_C_COMPLEX_FLOAT || element == SG_ELEMENT_C_COMPLEX_DOUBLE;
}

/* True if MPICH's compiler fused products of complex numbers as the kernels do; that depends on
 * MPICH's build options (-march=native). The square of a third is inexact, so its rounding
 * shows. */
static bool multiplies_alike(sg_reduce_local reduce_local, const struct type_entry *entry)
{
    const float singles[] = {1.0f / 3, 1.0f / 3};
    const double doubles[] = {1.0 / 3, 1.0 / 3};
    const size_t bytes = sg_element_size_bytes(entry->element);
    const void *thirds = bytes == sizeof singles ? (const void *)singles : (const void *)doubles;
    unsigned char own[sizeof doubles], of_mpich[sizeof doubles];

    memcpy(of_mpich, thirds, bytes);
    if (reduce_local(thirds, of_mpich, 1, entry->handle, MPI_PROD) != MPI_SUCCESS)
        return true;
    sg_kernel_find(SG_REDUCTION_PROD, entry->element)(thirds, thirds, own, 1);
    return memcmp(own, of_mpich, bytes) == 0;
}

void sg_types_init(sg_reduce_local reduce_local)
{
    for (struct type_entry *entry = types; entry < types + ENTRIES; entry++)
        if (entry->handle != 0 && is_complex(entry->element) &&
            !multiplies_alike(reduce_local, entry))
            entry->handle = 0;
    if (!real16_is_characters(reduce_local))
        types[INDEX(MPI_REAL16)].handle = 0;
    for (struct type_entry *entry = types; entry < types + ENTRIES; entry++) {
        const uint64_t largest = UINT64_MAX;
        uint64_t result = 1;

        if (signed_element(entry->element) == entry->element || entry->handle == 0)
            continue;
        if (reduce_local(&largest, &result, 1, entry->handle, MPI_MAX) == MPI_SUCCESS &&
            result == 1)
            entry->element = signed_element(entry->element);
    }
}

bool sg_type_of(MPI_Datatype datatype, enum sg_element *out)
{
    const struct type_entry *entry = &types[INDEX(datatype)];

    /* An unused entry has handle 0, which is no datatype but may be passed. */
    if (entry->handle != datatype || datatype == 0)
        return false;
    *out = entry->element;
    return true;
}

/* Predefined operations have consecutive numbers from MPI_MAX to MPI_MAXLOC. */
bool sg_reduction_of(MPI_Op op, enum sg_reduction *out)
{
    if (op < MPI_MAX || op > MPI_MAXLOC)
        return false;
    *out = reductions[op & 0xf];
    return true;
}

/* ---- reductions and their buffers ---- */

/* MPICH's handles of predefined objects have this mark. */
#define HANDLE_IS_BUILTIN(handle) (((unsigned)(handle)&0xc0000000u) == 0x40000000u)

/* MPICH's handles of operations that a program made have this mark. */
#define HANDLE_IS_USERS(handle)                                                                    \
    (((unsigned)(handle)&0x80000000u) != 0 && ((unsigned)(handle)&0x3c000000u) == 0x18000000u)

bool sg_operation_is_users(MPI_Op op)
{
    return HANDLE_IS_USERS(op);
}

bool sg_operation_is_commutative(MPI_Op op)
{
    int commutes = 1;

    sg_real.Op_commutative(op, &commutes);
    return commutes != 0;
}

bool sg_operation_is_predefined(MPI_Op op)
{
    return HANDLE_IS_BUILTIN(op);
}

/* MPI forbids these pairs, but MPICH neither refuses nor computes them: each rank keeps its data,
 * which only MPICH can repeat. */
static bool is_left_alone(enum sg_reduction reduction, enum sg_element element)
{
    return (element == SG_ELEMENT_REAL4 || element == SG_ELEMENT_REAL8) &&
           (reduction == SG_REDUCTION_LAND || reduction == SG_REDUCTION_LOR ||
            reduction == SG_REDUCTION_LXOR);
}

bool sg_operands_of(const struct sg_call *call, struct sg_operands *operands)
{
    if (!sg_type_of(call->datatype, &operands->element) ||
        !sg_reduction_of(call->op, &operands->reduction) ||
        is_left_alone(operands->reduction, operands->element))
        return false;
    operands->kernel = sg_kernel_find(operands->reduction, operands->element);
    operands->copy = sg_copy_find(operands->element);
    return operands->kernel != NULL;
}

void sg_operands_fold(void *kernel, const void *left, const void *right, void *out, size_t count)
{
    ((sg_kernel)(void (*)(void))kernel)(left, right, out, count);
}

void *sg_operands_fold_context(const struct sg_operands *operands)
{
    return (void *)(void (*)(void))operands->kernel;
}

static void copy_right(const struct sg_user_fold *user, void *to, const void *right, size_t count)
{
    if (user->copy != NULL)
        user->copy(to, right, count);
    else
        memcpy(to, right, count * user->extent_bytes);
}

/* A user's operation works in place: right becomes left (op) right. */
void sg_user_fold(void *context, const void *left, const void *right, void *out, size_t count)
{
    struct sg_user_fold *user = context;
    size_t room = out == left ? user->scratch_bytes / user->extent_bytes : count;

    for (size_t done = 0; done < count; done += room) {
        size_t piece = count - done < room ? count - done : room;
        size_t offset_bytes = done * user->extent_bytes;
        const char *from = (const char *)left + offset_bytes;
        char *to = (char *)out + offset_bytes;
        int error;

        if (out == left)
            from = memcpy(user->scratch, from, piece * user->extent_bytes);
        if (out != right)
            copy_right(user, to, (const char *)right + offset_bytes, piece);
        error = sg_real.Reduce_local(from, to, (int)piece, user->datatype, user->op);
        if (user->error == MPI_SUCCESS)
            user->error = error;
    }
}

int sg_user_fold_error(const struct sg_user_fold *user, MPI_Comm comm)
{
    if (user->error != MPI_SUCCESS && comm != MPI_COMM_WORLD)
        sg_real.Comm_call_errhandler(comm, user->error);
    return user->error;
}

bool sg_call_is_in_place(const struct sg_call *call)
{
    return call->operation == SG_OPERATION_ALLREDUCE && call->send == MPI_IN_PLACE;
}

bool sg_buffers_of(const struct sg_call *call, int rank, const void **own, void **result)
{
    bool receives = call->operation == SG_OPERATION_ALLREDUCE || rank == call->root;
    bool in_place = call->send == MPI_IN_PLACE;

    if (in_place && !receives)
        return false;
    if (receives &&
        (call->receive == NULL || call->receive == MPI_IN_PLACE || call->receive == call->send))
        return false;
    *own = in_place ? call->receive : call->send;
    *result = receives ? call->receive : NULL;
    return *own != NULL;
}

/* ---- data of a message as bytes ---- */

static MPI_Comm self;

void sg_bytes_start(MPI_Comm own)
{
    self = own;
}

static int move(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *into,
                MPI_Count into_count, MPI_Datatype into_type)
{
    if (sg_real.Sendrecv_c != NULL)
        return sg_real.Sendrecv_c(from, from_count, from_type, 0, 0, into, into_count, into_type, 0,
                                  0, self, MPI_STATUS_IGNORE);
    if (from_count > INT_MAX || into_count > INT_MAX)
        return MPI_ERR_COUNT;
    return sg_real.Sendrecv(from, (int)from_count, from_type, 0, 0, into, (int)into_count,
                            into_type, 0, 0, self, MPI_STATUS_IGNORE);
}

static int convert(bool gives, struct sg_bytes *bytes)
{
    MPI_Datatype type = bytes->type;
    int error = sg_real.Type_dup(type, &bytes->type);

    if (error != MPI_SUCCESS)
        return error;
    bytes->is_converted = true;
    bytes->at = malloc((size_t)bytes->size_bytes + 1);
    if (bytes->at == NULL)
        error = MPI_ERR_NO_MEM;
    else if (gives)
        error =
            move(bytes->buffer, bytes->count, bytes->type, bytes->at, bytes->size_bytes, MPI_BYTE);
    if (error != MPI_SUCCESS)
        sg_bytes_end(bytes);
    return error;
}

int sg_bytes_begin(void *buffer, MPI_Count count, MPI_Datatype type, bool gives,
                   struct sg_bytes *bytes)
{
    MPI_Count size = 0;
    int error;

    *bytes = (struct sg_bytes){.at = buffer, .buffer = buffer, .count = count, .type = type};
    if (count == 0)
        return MPI_SUCCESS;
    error = sg_real.Type_size_x(type, &size);
    if (error != MPI_SUCCESS)
        return error;
    bytes->size_bytes = count * size;
    return sg_type_is_builtin(type) ? MPI_SUCCESS : convert(gives, bytes);
}

/* Returns the predefined elements in the bytes of the type; -1: MPICH reports that they end within
 * one. */
static MPI_Count elements_in(MPI_Count bytes, MPI_Datatype type)
{
    MPI_Status status = {0};
    MPI_Count elements = -1;

    if (bytes < 0 || sg_real.Status_set_elements_x(&status, MPI_BYTE, bytes) != MPI_SUCCESS ||
        sg_real.Get_elements_x(&status, type, &elements) != MPI_SUCCESS || elements < 0)
        return -1;
    return elements;
}

/* Returns the bytes without a partial element at their end. For mixed elements MPICH counts only
 * whole ones. */
static MPI_Count whole(MPI_Count bytes, MPI_Datatype type)
{
    while (bytes > 0 && elements_in(bytes, type) <= elements_in(bytes - 1, type))
        bytes--;
    return bytes;
}

/* Moves whole instances only: MPICH drops the end of a partial one, or ends the process. The last
 * instance is completed with the bytes that the buffer already has after the message. */
static int put_in(const struct sg_bytes *bytes, MPI_Count received, MPI_Count size,
                  MPI_Count extent)
{
    MPI_Count part = received % size, before = received - part;
    char *into = (char *)bytes->buffer + before / size * extent, *last;
    int error = move(bytes->at, before, MPI_BYTE, bytes->buffer, bytes->count, bytes->type);

    if (error != MPI_SUCCESS || part == 0)
        return error;
    last = malloc((size_t)size);
    error = last == NULL ? MPI_ERR_NO_MEM : move(into, 1, bytes->type, last, size, MPI_BYTE);
    if (error == MPI_SUCCESS) {
        memcpy(last, (char *)bytes->at + before, (size_t)part);
        error = move(last, size, MPI_BYTE, into, 1, bytes->type);
    }
    free(last);
    return error;
}

int sg_bytes_put(const struct sg_bytes *bytes, uint32_t *received)
{
    MPI_Count size = 0, low = 0, extent = 0, all = (MPI_Count)*received, put;
    int error;

    if (!bytes->is_converted || all == 0)
        return MPI_SUCCESS;
    error = sg_real.Type_size_x(bytes->type, &size);
    if (error == MPI_SUCCESS)
        error = sg_real.Type_get_extent_x(bytes->type, &low, &extent);
    if (error != MPI_SUCCESS)
        return error;
    put = size == extent || all % size == 0 ? all : whole(all, bytes->type);
    error = put_in(bytes, put, size, extent);
    *received = (uint32_t)put;
    return error == MPI_SUCCESS && put < all ? MPI_ERR_TRUNCATE : error;
}

void sg_bytes_end(struct sg_bytes *bytes)
{
    if (!bytes->is_converted)
        return;
    sg_real.Type_free(&bytes->type);
    free(bytes->at);
    bytes->is_converted = false;
}
