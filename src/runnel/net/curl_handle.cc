#include "runnel/net/curl_handle.h"

#include <sys/socket.h>

#include <new>
#include <string_view>

namespace runnel::net {

namespace {

// Programs that tools start must not inherit upstream connections.
curl_socket_t open_socket(void* /*data*/, curlsocktype /*purpose*/, curl_sockaddr* address) {
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Runs once per process, before the first handle. It is never undone, because a resolver thread may outlive
// all handles.
bool start_library() {
  static bool const started = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return started;
}

bool append(HeaderList& list, std::string const& line) {
  auto* const longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return false;
  static_cast<void>(list.release());
  list.reset(longer);
  return true;
}

bool breaks_apart(std::string_view text) {
  constexpr std::string_view kEnds{"\r\n\0", 3};
  return text.find_first_of(kEnds) != std::string_view::npos;
}

// A header without a value ends with a semicolon; libcurl leaves out a header that ends with a colon.
std::string header_line(std::string const& name, std::string const& value) {
  std::string line = name;
  if (value.empty()) return line.append(";");
  return line.append(": ").append(value);
}

void set_safety(CURL* easy, std::string const& ca_file) {
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(easy, CURLOPT_VERBOSE, 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file.c_str());
}

}  // namespace

EasyHandle make_easy_handle(std::string const& ca_file) {
  if (!start_library()) throw std::bad_alloc{};
  EasyHandle handle{curl_easy_init()};
  if (!handle) throw std::bad_alloc{};
  auto* const easy = handle.get();
  set_safety(easy, ca_file);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  // Without this, giving up while a name is being resolved would wait for the resolver's thread.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  return handle;
}

HeaderList make_header_list(std::vector<std::pair<std::string, std::string>> const& headers) {
  HeaderList list;
  // Without "Expect: 100-continue", which would cost a round trip before a large body.
  if (!append(list, "Expect:")) return nullptr;
  for (auto const& [name, value] : headers) {
    if (breaks_apart(name) || breaks_apart(value)) return nullptr;
    if (!append(list, header_line(name, value))) return nullptr;
  }
  return list;
}

}  // namespace runnel::net
