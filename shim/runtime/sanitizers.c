/* A program that is built with AddressSanitizer and links its runtime dynamically wants this
 * runtime to be the first library of the process, and ends at its start where another one is
 * preloaded before it. The check is for libraries that replace malloc or what else the runtime
 * intercepts, which this one does not. The runtime asks for a program's defaults by this symbol,
 * before anything else of the process runs; ASAN_OPTIONS comes after them.
 */
const char *__asan_default_options(void)
    __attribute__((visibility("default"), no_sanitize("address", "undefined", "thread"),
                   no_profile_instrument_function));

const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
