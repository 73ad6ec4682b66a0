# runnel_library(<room> SOURCES ... [TESTS ...] [DEPENDS ...]): the library runnel::<room>, and its tests,
# which join the one test binary. The release preset has no precompiled header, so it finds missing includes.
function(runnel_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;DEPENDS" ${ARGN})
  add_library(runnel_${name} STATIC ${ARG_SOURCES})
  add_library(runnel::${name} ALIAS runnel_${name})
  target_link_libraries(runnel_${name} PUBLIC runnel_options ${ARG_DEPENDS})
  if(RUNNEL_PCH)
    target_precompile_headers(runnel_${name} REUSE_FROM runnel_pch)
  endif()
  list(TRANSFORM ARG_TESTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY RUNNEL_TEST_SOURCES ${ARG_TESTS})
  set_property(GLOBAL APPEND PROPERTY RUNNEL_TEST_LIBRARIES runnel::${name})
endfunction()
