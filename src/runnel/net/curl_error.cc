#include "runnel/net/curl_error.h"

#include <string>

namespace runnel::net {

namespace {

using Kind = HttpError::Kind;

bool request_was_sent(CURL* easy) {
  long bytes = 0;
  curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &bytes);
  return bytes > 0;
}

bool proxy_refused(CURL* easy) {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
  return status >= 300;
}

Kind to_kind(CURL* easy, CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_URL_MALFORMAT:
    case CURLE_INTERFACE_FAILED:
    case CURLE_FAILED_INIT:
    case CURLE_PROXY:
    case CURLE_SSL_CONNECT_ERROR:  // Mostly because the connection ended during the handshake.
      return Kind::unreachable;
    case CURLE_UNSUPPORTED_PROTOCOL:  // The protocol of the URL, or of the server that answered.
      return request_was_sent(easy) ? Kind::malformed : Kind::unreachable;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
      return Kind::untrusted;
    case CURLE_OPERATION_TIMEDOUT:
      return Kind::timed_out;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WRITE_ERROR:    // The head is longer than our limit.
    case CURLE_OUT_OF_MEMORY:  // A line of the head is longer than libcurl's limit.
      return Kind::malformed;
    default:
      return proxy_refused(easy) ? Kind::unreachable : Kind::cut;
  }
}

}  // namespace

HttpError to_error(CURL* easy, CURLcode code, char const* text) {
  auto const kind = to_kind(easy, code);
  bool const before_the_answer = kind == Kind::unreachable || kind == Kind::untrusted;
  return {kind, before_the_answer && *text != '\0' ? text : curl_easy_strerror(code)};
}

}  // namespace runnel::net
