# One place for the language level, warnings, linker and sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(runnel_options INTERFACE)
target_compile_options(runnel_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Werror
  $<$<NOT:$<CONFIG:Release>>:-g1>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 at -O2 sees overruns and overlaps in std::string that cannot be (GCC bugs 105329, 105562), and takes Asio's
  # coroutine frames, with their own new and delete, for mismatched. AddressSanitizer looks for the real ones.
  target_compile_options(runnel_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overread
    -Wno-stringop-overflow -Wno-mismatched-new-delete)
else()
  # clang only builds the fuzzers; it sees fields left out where g++ does not, takes range loops' copies for slow, and
  # holds that a string literal such as the OpenAPI document may be too long for some other compiler.
  target_compile_options(runnel_options INTERFACE -Wno-missing-field-initializers -Wno-range-loop-construct
    -Wno-overlength-strings)
endif()
target_include_directories(runnel_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
target_compile_definitions(runnel_options INTERFACE
  BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_DISABLE_BOOST_COROUTINE
  RUNNEL_VERSION="${PROJECT_VERSION}")

# The sanitizer presets compile several files as one, which halves their time: names in anonymous namespaces must be
# unique within a room. g++ then takes what is in an included .cc for a header's.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(runnel_options INTERFACE -Wno-subobject-linkage)
endif()

if(RUNNEL_SANITIZER)
  # No optimiser, and not all of UBSan, so that a preset builds in its five minutes (service.cc: 7 s instead of 16).
  # ASan stops at null and out-of-object accesses too; misaligned ones and wrong vptrs are looked for by nobody here.
  add_compile_options(-fsanitize=${RUNNEL_SANITIZER} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<IF:$<BOOL:${RUNNEL_FUZZ}>,-O1,-O0>)
  add_link_options(-fsanitize=${RUNNEL_SANITIZER})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(runnel_options INTERFACE -Wno-maybe-uninitialized)
  endif()
  if(RUNNEL_SANITIZER MATCHES "undefined")
    add_compile_options(-fno-sanitize=null,alignment,vptr,object-size)
  endif()
  if(RUNNEL_SANITIZER MATCHES "thread")
    target_compile_options(runnel_options INTERFACE -Wno-tsan)
  endif()
endif()
