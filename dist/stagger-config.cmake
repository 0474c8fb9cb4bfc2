# find_package(stagger): where the library and the commands are. Nothing links to them: programs are run under
# the library.
#
#     find_package(stagger 0.1 REQUIRED)
#     stagger_test_environment(my_test)     # this test of CTest runs under the library, and records nothing
#
# Sets stagger_LIBRARY (to be preloaded), stagger_EXECUTABLE, stagger_BENCH_EXECUTABLE, and the imported
# executables stagger::stagger and stagger::bench.
get_filename_component(stagger_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(stagger_LIBRARY "${stagger_PREFIX}/lib/stagger/libstagger.so")
set(stagger_EXECUTABLE "${stagger_PREFIX}/bin/stagger")
set(stagger_BENCH_EXECUTABLE "${stagger_PREFIX}/bin/stagger-bench")

foreach(stagger_file IN ITEMS "${stagger_LIBRARY}" "${stagger_EXECUTABLE}" "${stagger_BENCH_EXECUTABLE}")
    if(NOT EXISTS "${stagger_file}")
        set(stagger_FOUND FALSE)
        set(stagger_NOT_FOUND_MESSAGE "${stagger_file} is missing")
        return()
    endif()
endforeach()

foreach(stagger_name IN ITEMS stagger bench)
    if(NOT TARGET stagger::${stagger_name})
        add_executable(stagger::${stagger_name} IMPORTED)
    endif()
endforeach()
set_target_properties(stagger::stagger PROPERTIES IMPORTED_LOCATION "${stagger_EXECUTABLE}")
set_target_properties(stagger::bench PROPERTIES IMPORTED_LOCATION "${stagger_BENCH_EXECUTABLE}")

# More variables may follow the test: STAGGER_WAIT=yield.
function(stagger_test_environment test)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "LD_PRELOAD=${stagger_LIBRARY}" "STAGGER_TRACE=off" ${ARGN})
endfunction()
