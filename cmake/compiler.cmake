# The language standard, warnings, linker and sanitizers of all targets.
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
  # g++ 12 at -O2 warns about overruns and overlaps in std::string that cannot happen (GCC bugs 105329, 105562), and
  # about mismatched new and delete in Asio's coroutine frames, which have their own. AddressSanitizer finds the real
  # errors.
  target_compile_options(runnel_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overread
    -Wno-stringop-overflow -Wno-mismatched-new-delete)
  # g++ frees its memory less often: it takes 7 % less time and at most 1.1 GB per file instead of 0.9.
  target_compile_options(runnel_options INTERFACE --param=ggc-min-expand=300 --param=ggc-min-heapsize=400000)
else()
  # clang builds the fuzzers and what runs under sanitizers in every test run. Unlike g++, it warns about initializers that
  # leave out fields, about copies in range loops, and about string literals that may be too long for another compiler, such
  # as the OpenAPI document.
  target_compile_options(runnel_options INTERFACE -Wno-missing-field-initializers -Wno-range-loop-construct
    -Wno-overlength-strings)
  # Without it, every precompiled header is another one for ccache.
  target_compile_options(runnel_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
target_include_directories(runnel_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
target_compile_definitions(runnel_options INTERFACE
  BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_DISABLE_BOOST_COROUTINE
  RUNNEL_VERSION="${PROJECT_VERSION}")

# All presets except dev and tidy compile several files as one, which takes less than half the time. So names in
# anonymous namespaces must be unique within a room. In such a build g++ 12 takes an included .cc for a header. It also
# inlines more, and then warns about std::optional values that seem to be used without having been set.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(runnel_options INTERFACE -Wno-subobject-linkage -Wno-maybe-uninitialized)
  # g++ lets a file grow by 40 % through inlining. Several files as one reach that sooner than each alone, and a run then
  # takes 6 % more instructions.
  target_compile_options(runnel_options INTERFACE $<$<CONFIG:Release>:--param=inline-unit-growth=150>)
endif()

if(RUNNEL_SANITIZER)
  # Without the optimiser and without some checks of UBSan, so that a preset builds within five minutes (service.cc
  # takes 7 s instead of 16). ASan also stops at null and out-of-object accesses. Nothing here looks for misaligned
  # accesses and wrong vptrs.
  add_compile_options(-fsanitize=${RUNNEL_SANITIZER} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<IF:$<BOOL:${RUNNEL_FUZZ}>,-O1,-O0>)
  add_link_options(-fsanitize=${RUNNEL_SANITIZER})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(runnel_options INTERFACE -Wno-maybe-uninitialized)
  endif()
  if(RUNNEL_SANITIZER MATCHES "undefined")
    add_compile_options(-fno-sanitize=null,alignment,vptr,object-size)
  endif()
  if(RUNNEL_SANITIZER MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(runnel_options INTERFACE -Wno-tsan)
  endif()
endif()
