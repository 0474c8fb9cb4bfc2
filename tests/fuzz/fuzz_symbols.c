/* Fuzzes a file that should be a program or a library, broken in any way: names of call sites in
 * it, and the checks of `stagger run` before it starts one. The first two bytes are the offset
 * asked for. */
#include "fuzz/fuzz.h"

#include "cli/elf.h"
#include "trace/export/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};
    uint64_t offset = fuzz_take(&bytes, 2);
    struct fuzz_file file = fuzz_file(bytes.at, (size_t)(bytes.end - bytes.at));
    struct sg_symbols *symbols;
    struct sg_symbol symbol;

    if (sg_symbols_open(&symbols) == SG_OK) {
        sg_symbols_lookup(symbols, file.path, "", offset, &symbol);
        if (symbol.function != NULL)
            fuzz_holds(strlen(symbol.function) < SIZE_MAX, "a name ends");
        sg_symbols_lookup(symbols, file.path, "0123456789abcdef", offset + 1, &symbol);
        sg_symbols_close(symbols);
    }
    sg_elf_inspect(file.path);
    close(file.file);
    return 0;
}
