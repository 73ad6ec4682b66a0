# The libraries come from Debian 12; scripts/packages lists their packages.
set(Boost_USE_STATIC_LIBS OFF)
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(OpenSSL REQUIRED)
find_package(CURL 7.87 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(date REQUIRED)
find_package(ICU 72 REQUIRED COMPONENTS i18n uc)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(prometheus-cpp REQUIRED CONFIG)
find_package(LibIcal 3.0 REQUIRED)
if(RUNNEL_TESTS)
  find_package(GTest REQUIRED)
endif()

# The libraries that every room may use and that the precompiled header includes. A room names all others itself.
target_link_libraries(runnel_options INTERFACE Boost::headers Boost::json Threads::Threads)

if(RUNNEL_PCH)
  add_library(runnel_pch STATIC cmake/pch.cc)
  target_link_libraries(runnel_pch PUBLIC runnel_options)
  target_precompile_headers(runnel_pch PRIVATE
    <algorithm> <functional> <map> <memory> <optional> <string> <utility> <variant> <vector>
    <boost/asio/awaitable.hpp> <boost/asio/co_spawn.hpp> <boost/asio/io_context.hpp> <boost/asio/post.hpp>
    <boost/asio/steady_timer.hpp> <boost/asio/use_awaitable.hpp> <boost/asio/use_future.hpp> <boost/json.hpp>)
endif()
