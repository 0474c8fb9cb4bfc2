#include "profile/function.h"

/* The names of arguments as numbers. */
#define A(argument) SG_ARGUMENT_##argument
#define ARGUMENTS_OF_1(a) A(a)
#define ARGUMENTS_OF_2(a, ...) A(a), ARGUMENTS_OF_1(__VA_ARGS__)
#define ARGUMENTS_OF_3(a, ...) A(a), ARGUMENTS_OF_2(__VA_ARGS__)
#define ARGUMENTS_OF_4(a, ...) A(a), ARGUMENTS_OF_3(__VA_ARGS__)
#define ARGUMENTS_OF_5(a, ...) A(a), ARGUMENTS_OF_4(__VA_ARGS__)
#define ARGUMENTS_OF_6(a, ...) A(a), ARGUMENTS_OF_5(__VA_ARGS__)
#define ARGUMENTS_OF_7(a, ...) A(a), ARGUMENTS_OF_6(__VA_ARGS__)
#define ARGUMENTS_OF_8(a, ...) A(a), ARGUMENTS_OF_7(__VA_ARGS__)
#define ARGUMENTS_OF_9(a, ...) A(a), ARGUMENTS_OF_8(__VA_ARGS__)
#define ARGUMENTS_OF_10(a, ...) A(a), ARGUMENTS_OF_9(__VA_ARGS__)
#define ARGUMENTS_OF_11(a, ...) A(a), ARGUMENTS_OF_10(__VA_ARGS__)
#define ARGUMENTS_OF_12(a, ...) A(a), ARGUMENTS_OF_11(__VA_ARGS__)
#define ARGUMENTS_OF_13(a, ...) A(a), ARGUMENTS_OF_12(__VA_ARGS__)
#define ARGUMENTS_OF_14(a, ...) A(a), ARGUMENTS_OF_13(__VA_ARGS__)
#define JOINED(a, b) a##b
#define ARGUMENTS(count, ...) JOINED(ARGUMENTS_OF_, count)(__VA_ARGS__)

#define ENDS_WIDE(name)                                                                            \
    (sizeof(name) > 3 && (name)[sizeof(name) - 3] == '_' && (name)[sizeof(name) - 2] == 'c')

#define ROW(function, symbol, in_mode, in_class, in_flow, form, ...)                               \
    {.name = "MPI_" #function,                                                                     \
     .mode = SG_MODE_##in_mode,                                                                    \
     .class = SG_CLASS_##in_class,                                                                 \
     .flow = SG_FLOW_##in_flow,                                                                    \
     .counts_wide = ENDS_WIDE(#function),                                                          \
     .words = SG_FUNCTION_WORDS(__VA_ARGS__),                                                      \
     .arguments = {ARGUMENTS(SG_FUNCTION_WORDS(__VA_ARGS__), __VA_ARGS__)}},

const struct sg_function_facts sg_functions[SG_FUNCTION_COUNT] = {SG_FUNCTIONS(ROW)};
