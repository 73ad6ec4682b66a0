# runnel_library(<room> [NO_THREADS] SOURCES ... [TESTS ...] [DEPENDS ...]): the library runnel::<room>, and its tests,
# which become part of the one test binary. NO_THREADS says that no test of the room starts a thread, so ThreadSanitizer
# has nothing to watch there and its preset leaves them out. The preset tidy has no precompiled header and compiles each
# file alone, so it finds missing includes.
function(runnel_library name)
  cmake_parse_arguments(ARG "NO_THREADS" "" "SOURCES;TESTS;DEPENDS" ${ARGN})
  if(ARG_NO_THREADS AND RUNNEL_SANITIZER STREQUAL "thread")
    set(ARG_TESTS)
  endif()
  add_library(runnel_${name} STATIC ${ARG_SOURCES})
  add_library(runnel::${name} ALIAS runnel_${name})
  target_link_libraries(runnel_${name} PUBLIC runnel_options ${ARG_DEPENDS})
  if(RUNNEL_PCH)
    target_precompile_headers(runnel_${name} REUSE_FROM runnel_pch)
  endif()
  list(TRANSFORM ARG_TESTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY RUNNEL_TEST_SOURCES ${ARG_TESTS})
  set_property(GLOBAL APPEND PROPERTY RUNNEL_TEST_LIBRARIES runnel::${name})
  # The tests of this room only, for work on it: cmake --build --preset dev --target runnel_flow_tests.
  if(RUNNEL_TESTS AND ARG_TESTS)
    add_executable(runnel_${name}_tests EXCLUDE_FROM_ALL ${ARG_TESTS} ${CMAKE_SOURCE_DIR}/tests/support/run_async.cc)
    target_link_libraries(runnel_${name}_tests PRIVATE runnel::${name} GTest::gmock GTest::gtest_main)
    target_compile_definitions(runnel_${name}_tests PRIVATE RUNNEL_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  endif()
endfunction()

# runnel_embed_as(<library> <namespace> <name> <file>): makes the file's text the constant `<name>` of
# runnel::<namespace>, in "<name>.inc".
function(runnel_embed_as library room name file)
  cmake_path(ABSOLUTE_PATH file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded.inc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.inc @ONLY)
  target_include_directories(runnel_${library} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# runnel_embed(<room> <name> <file>): the same, in the room's own namespace.
function(runnel_embed room name file)
  runnel_embed_as(${room} ${room} ${name} ${file})
endfunction()

# runnel_module(<folder> SOURCES ... TESTS ...): the library of a module, with its OpenAPI part and its first schema
# embedded, and its tests. A module without routes needs no openapi.json, and one without rows needs no schema.
function(runnel_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;DEPENDS" ${ARGN})
  runnel_library(${name}_module SOURCES ${ARG_SOURCES} TESTS ${ARG_TESTS}
    DEPENDS runnel::core runnel::base runnel::store runnel::api ${ARG_DEPENDS})
  target_link_libraries(runnel_modules INTERFACE runnel::${name}_module)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/openapi.json)
    runnel_embed_as(${name}_module modules::${name} kOpenApi openapi.json)
  endif()
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/001_${name}.sqlite.sql)
    runnel_embed_as(${name}_module modules::${name} kSqliteSchema 001_${name}.sqlite.sql)
    runnel_embed_as(${name}_module modules::${name} kPostgresSchema 001_${name}.postgres.sql)
  endif()
  if(RUNNEL_TESTS AND ARG_TESTS)
    runnel_store_testing(runnel_${name}_module_tests)
  endif()
endfunction()

# runnel_store_testing(<target>): adds what tests of both database engines need, for the test binary of one room.
function(runnel_store_testing target)
  set(testing ${CMAKE_SOURCE_DIR}/src/runnel/store/testing)
  target_sources(${target} PRIVATE ${testing}/ledger_contract.cc ${testing}/postgres_under_test.cc
    ${testing}/query_plan.cc ${testing}/sqlite_under_test.cc ${testing}/store_contract.cc ${CMAKE_SOURCE_DIR}/tests/support/postgres_server.cc)
endfunction()
