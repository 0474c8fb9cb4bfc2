/* Tests symbols of programs compiled here. Each program prints the return addresses of its own
 * calls, which the library records at run time. */
#include "lib/unit.h"
#include "trace/export/symbols.h"

#include <inttypes.h>
#include <stdarg.h>
#include <unistd.h>

/* probe() prints the link-time address that it returns to. */
static const char probe_source[] = //
    "#define _GNU_SOURCE\n"
    "#include <link.h>\n"
    "#include <stdint.h>\n"
    "#include <stdio.h>\n"
    "static int find(struct dl_phdr_info *info, size_t size, void *data)\n"
    "{\n"
    "    uintptr_t at = *(uintptr_t *)data;\n"
    "    for (int i = 0; i < info->dlpi_phnum; i++) {\n"
    "        uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;\n"
    "        if (info->dlpi_phdr[i].p_type == 1 && at - from < info->dlpi_phdr[i].p_memsz)\n"
    "            printf(\"0x%lx\\n\", (unsigned long)(at - info->dlpi_addr));\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "__attribute__((noinline)) void probe(void)\n"
    "{\n"
    "    uintptr_t at = (uintptr_t)__builtin_return_address(0);\n"
    "    dl_iterate_phdr(find, &at);\n"
    "}\n";

static const char caller_source[] = //
    "#ifdef __cplusplus\n"
    "extern \"C\"\n"
    "#endif\n"
    "void probe(void);\n"
    "static inline __attribute__((always_inline)) void inner(void)\n"
    "{\n"
    "    probe();\n" /* line 7 */
    "    __asm__ volatile(\"\");\n"
    "}\n"
    "__attribute__((noinline, visibility(\"default\"))) void outer(void)\n"
    "{\n"
    "    probe();\n" /* line 12 */
    "    __asm__ volatile(\"\");\n"
    "    inner();\n"
    "}\n";

static const char main_source[] = "void outer(void);\nint main(void) { outer(); return 0; }\n";

static const char class_source[] = //
    "extern \"C\" void probe(void);\n"
    "namespace ocean {\n"
    "template <class T> struct Solver {\n"
    "    __attribute__((noinline)) void step(T)\n"
    "    {\n"
    "        probe();\n" /* line 6 */
    "        __asm__ volatile(\"\");\n"
    "    }\n"
    "};\n"
    "}\n"
    "int main() { ocean::Solver<double>().step(1); return 0; }\n";

/* A function whose name is a string of the file that ALT names: at offset 1 of its .debug_str. */
static const char alternate_user_source[] = //
    "__asm__(\".section .debug_abbrev,\\\"\\\",@progbits\\n\"\n"
    "\".uleb128 1, 0x11\\n.byte 1\\n.uleb128 3, 0x1f21, 0x11, 1, 0x12, 7, 0, 0\\n\"\n"
    "\".uleb128 2, 0x2e\\n.byte 0\\n.uleb128 3, 0x1f21, 0x11, 1, 0x12, 7, 0, 0\\n.byte 0\\n\"\n"
    "\".section .debug_info,\\\"\\\",@progbits\\n\"\n"
    "\".long 2f - 1f\\n1: .short 4\\n.long .debug_abbrev\\n.byte 8\\n\"\n"
    "\".uleb128 1\\n.long 1\\n.quad main, 64\\n.uleb128 2\\n.long 1\\n.quad main, 64\\n\"\n"
    "\".byte 0\\n2: .section .debug_aranges,\\\"\\\",@progbits\\n.long 4f - 3f\\n\"\n"
    "\"3: .short 2\\n.long .debug_info\\n.byte 8, 0\\n.long 0\\n.quad main, 64, 0, 0\\n4:\\n\"\n"
    "\".section .gnu_debugaltlink,\\\"\\\",@progbits\\n.asciz \\\"\" ALT \"\\\"\\n\"\n"
    "\".fill 20, 1, 0x11\\n.text\");\n"
    "int main(void) { return 0; }\n";

/* Such a file, which may name another one itself. */
static const char alternate_source[] = //
    "__asm__(\".section .debug_str,\\\"\\\",@progbits\\n.byte 0\\n.asciz \\\"shared\\\"\\n\"\n"
    "\".section .debug_abbrev,\\\"\\\",@progbits\\n.byte 0\\n\"\n"
    "\".section .debug_info,\\\"\\\",@progbits\\n.long 8\\n.short 4\\n.long 0\\n.byte 8, 0\\n\"\n"
    "#ifdef ALT\n"
    "\".section .gnu_debugaltlink,\\\"\\\",@progbits\\n.asciz \\\"\" ALT \"\\\"\\n.fill 20\\n\"\n"
    "#endif\n"
    "\".text\");\n";

static __attribute__((format(printf, 1, 2))) int run(const char *format, ...)
{
    char command[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return system(command);
}

static void write_file(const char *name, const char *text)
{
    unit_write(text, "%s/%s", unit_directory(), name);
}

/* Runs a program that prints offsets; returns how many. */
static int read_offsets(const char *program, uint64_t offsets[4])
{
    char command[512];
    int count = 0;

    snprintf(command, sizeof command, "cd %s && LD_LIBRARY_PATH=. ./%s", unit_directory(), program);
    FILE *output = popen(command, "r");
    ASSERT(output != NULL);
    while (count < 4 && fscanf(output, "%" SCNx64, &offsets[count]) == 1)
        count++;
    EXPECT(pclose(output) == 0);
    return count;
}

static void write_sources(void)
{
    write_file("probe.c", probe_source);
    write_file("caller.c", caller_source);
    write_file("main.c", main_source);
    write_file("class.cc", class_source);
}

/* Expects a function, and file and line where file is not NULL. */
static void finds(struct sg_symbols *symbols, const char *module, uint64_t offset,
                  const char *function, const char *file, uint32_t line)
{
    struct sg_symbol symbol;
    char path[256];

    snprintf(path, sizeof path, "%s/%s", unit_directory(), module);
    ASSERT(sg_symbols_lookup(symbols, path, "", offset, &symbol) == SG_OK);
    if (function == NULL) {
        EXPECT(symbol.function == NULL);
    } else {
        ASSERT(symbol.function != NULL);
        EXPECT(text_is(symbol.function, function));
    }
    if (file == NULL) {
        EXPECT(symbol.file == NULL, symbol.line == 0);
    } else {
        ASSERT(symbol.file != NULL);
        EXPECT(contains(symbol.file, file), symbol.line == line);
    }
}

static void finds_both_calls(const char *program, const char *module)
{
    struct sg_symbols *symbols;
    uint64_t offsets[4];

    ASSERT(read_offsets(program, offsets) == 2, sg_symbols_open(&symbols) == SG_OK);
    finds(symbols, module, offsets[0], "outer", "caller.c", 12);
    finds(symbols, module, offsets[1], "inner", "caller.c", 7);
    sg_symbols_close(symbols);
}

TEST("calls in an optimised position-independent program are found, including inlined ones")
{
    write_sources();
    ASSERT(run("cd %s && gcc -O2 -g -fPIE -pie main.c caller.c probe.c -o pie", unit_directory()) ==
           0);
    finds_both_calls("pie", "pie");
}

TEST("calls in a program at a fixed position are found")
{
    write_sources();
    ASSERT(run("cd %s && gcc -O2 -g -no-pie main.c caller.c probe.c -o fixed", unit_directory()) ==
           0);
    finds_both_calls("fixed", "fixed");
}

TEST("calls in a shared library are found")
{
    write_sources();
    ASSERT(run("cd %s && gcc -O2 -g -fPIC -shared caller.c probe.c -o libc.so.x && "
               "gcc -O2 main.c ./libc.so.x -o user",
               unit_directory()) == 0);
    finds_both_calls("user", "libc.so.x");
}

TEST("a stripped library gives its dynamic symbols, a stripped program nothing")
{
    struct sg_symbols *symbols;
    uint64_t offsets[4];

    write_sources();
    ASSERT(
        run("cd %s && gcc -O2 -g -fPIC -shared -fvisibility=hidden caller.c probe.c -o libs.so && "
            "gcc -O2 main.c ./libs.so -o suser && strip libs.so && "
            "gcc -O2 -fPIE -pie main.c caller.c probe.c -o bare && strip bare",
            unit_directory()) == 0,
        sg_symbols_open(&symbols) == SG_OK, read_offsets("suser", offsets) == 2);
    finds(symbols, "libs.so", offsets[0], "outer", NULL, 0);
    ASSERT(read_offsets("bare", offsets) == 2);
    finds(symbols, "bare", offsets[0], NULL, NULL, 0);
    sg_symbols_close(symbols);
}

TEST("a separate debug file is found beside the program, without the network")
{
    write_sources();
    ASSERT(
        run("cd %s && gcc -O2 -g -Wl,--build-id main.c caller.c probe.c -o apart && mkdir .debug "
            "&& "
            "objcopy --only-keep-debug apart .debug/apart.debug && strip apart && "
            "objcopy --add-gnu-debuglink=.debug/apart.debug apart",
            unit_directory()) == 0);
    /* Unreachable: a look-up that asked it would fail or take its time. */
    setenv("DEBUGINFOD_URLS", "http://192.0.2.1/", 1);
    finds_both_calls("apart", "apart");
    unsetenv("DEBUGINFOD_URLS");
}

/* Finds the function in alternate_user.c, with this file as its alternate. */
static void finds_alternate(const char *alternate, const char *function)
{
    struct sg_symbols *symbols;
    uint64_t offset;
    char program[300];

    ASSERT(run("cd %s && gcc -DALT='\"%s\"' alternate_user.c -o alternate_user", unit_directory(),
               alternate) == 0);
    snprintf(program, sizeof program, "nm %s/alternate_user | grep ' main$'", unit_directory());
    FILE *output = popen(program, "r");
    ASSERT(output != NULL, fscanf(output, "%" SCNx64, &offset) == 1);
    pclose(output);
    ASSERT(sg_symbols_open(&symbols) == SG_OK);
    alarm(60); /* which ends a look-up that waits */
    finds(symbols, "alternate_user", offset + 1, function, NULL, 0);
    alarm(0);
    sg_symbols_close(symbols);
}

TEST("an alternate debug file needs the right build id, and nothing else is opened")
{
    char path[300];

    write_file("alternate_user.c", alternate_user_source);
    write_file("alternate.c", alternate_source);
    ASSERT(run("cd %s && id=-Wl,--build-id=0x$(printf '11%%.0s' $(seq 20)) && mkfifo fifo && "
               "gcc -shared $id alternate.c -o alternate && "
               "gcc -shared $id -DALT=\"\\\"$PWD/fifo\\\"\" alternate.c -o further && "
               "gcc -shared alternate.c -o other",
               unit_directory()) == 0);
    snprintf(path, sizeof path, "%s/alternate", unit_directory());
    finds_alternate(path, "shared");
    finds_alternate("alternate", "shared");
    finds_alternate("other", "main");
    finds_alternate("nowhere", "main");
    finds_alternate("fifo", "main");
    snprintf(path, sizeof path, "%s/fifo", unit_directory());
    finds_alternate(path, "main");
    finds_alternate("further", "main");
}

/* A few bytes may unpack to any number. */
TEST("a compressed module is not unpacked")
{
    struct sg_symbols *symbols;
    struct sg_symbol symbol;
    char path[300];

    write_sources();
    ASSERT(run("cd %s && gcc -g main.c caller.c probe.c -o plain && gzip plain",
               unit_directory()) == 0);
    snprintf(path, sizeof path, "%s/plain.gz", unit_directory());
    ASSERT(sg_symbols_open(&symbols) == SG_OK);
    EXPECT(sg_symbols_lookup(symbols, path, "", 16, &symbol) == SG_ERR_MISSING);
    sg_symbols_close(symbols);
}

TEST("C++ functions have their namespaces and classes as prefixes")
{
    struct sg_symbols *symbols;
    uint64_t offsets[4];

    write_sources();
    ASSERT(run("cd %s && gcc -c probe.c && g++ -O2 -g class.cc probe.o -o class && "
               "cp class symbols_only && strip -g symbols_only",
               unit_directory()) == 0,
           read_offsets("class", offsets) == 1, sg_symbols_open(&symbols) == SG_OK);
    finds(symbols, "class", offsets[0], "ocean::Solver<double>::step", "class.cc", 6);
    finds(symbols, "symbols_only", offsets[0], "ocean::Solver<double>::step", NULL, 0);
    sg_symbols_close(symbols);
}

TEST("another build of a module is not read")
{
    struct sg_symbols *symbols;
    struct sg_symbol symbol;
    uint64_t offsets[4];
    char path[256];

    write_sources();
    ASSERT(run("cd %s && gcc -g -Wl,--build-id=0xabcdef0123456789 main.c caller.c probe.c "
               "-o built",
               unit_directory()) == 0,
           read_offsets("built", offsets) == 2, sg_symbols_open(&symbols) == SG_OK);
    snprintf(path, sizeof path, "%s/built", unit_directory());
    EXPECT(sg_symbols_lookup(symbols, path, "abcdef0123456789", offsets[0], &symbol) == SG_OK,
           symbol.function != NULL,
           sg_symbols_lookup(symbols, path, "abcdef0123456788", offsets[0], &symbol) ==
               SG_ERR_MISSING,
           symbol.function == NULL, symbol.file == NULL);
    sg_symbols_close(symbols);
}

TEST("a path without a module is missing, an address outside code is unknown")
{
    struct sg_symbols *symbols;
    struct sg_symbol symbol;
    char path[256];

    ASSERT(sg_symbols_open(&symbols) == SG_OK);
    EXPECT(sg_symbols_lookup(symbols, "/nonexistent", "", 16, &symbol) == SG_ERR_MISSING,
           sg_symbols_lookup(symbols, "", "", 16, &symbol) == SG_ERR_MISSING,
           sg_symbols_lookup(symbols, "/", "", 16, &symbol) == SG_ERR_MISSING);
    write_file("text", "no module\n");
    snprintf(path, sizeof path, "%s/text", unit_directory());
    EXPECT(sg_symbols_lookup(symbols, path, "", 16, &symbol) == SG_ERR_MISSING,
           symbol.function == NULL);
    /* Offsets outside any code are found nowhere. */
    EXPECT(sg_symbols_lookup(symbols, "/proc/self/exe", "", 0, &symbol) == SG_OK,
           symbol.function == NULL,
           sg_symbols_lookup(symbols, "/proc/self/exe", "", UINT64_MAX, &symbol) == SG_OK,
           symbol.function == NULL);
    sg_symbols_close(symbols);
}

TEST("linker names are shown as users write them")
{
    static const char *const pairs[][2] = {
        {"main", "main"},
        {"solve_", "solve_"},
        {"step.constprop.0", "step"},
        {"step.part.3.isra.0", "step"},
        {"_Z4stepi", "step"},
        {"_ZN5ocean6SolverIdE4stepEd", "ocean::Solver<double>::step"},
        {"_Z6freefnIdEiT_", "freefn<double>"},
        {"_ZN12_GLOBAL__N_14funcEv", "(anonymous namespace)::func"},
        {"_ZNK1AclEi", "A::operator()"},
        {"_ZN1AcvdEv", "A::operator double"},
        {"_Z4stepi.part.0", "step"},
        {"_Zbroken", "_Zbroken"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char *name = sg_symbol_name(pairs[i][0]);

        ASSERT(name != NULL);
        EXPECT(text_is(name, pairs[i][1]));
        free(name);
    }
}
