#include "runnel/http/web_socket/handshake.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "runnel/api/problem.h"
#include "runnel/core/text/text.h"

namespace runnel::http {

namespace {

constexpr std::string_view kAcceptGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr char kWebSocketVersion[] = "13";

// Whether a list of words has this one, in any case.
bool has_word(std::string_view list, std::string_view word) {
  for (auto rest = list; !rest.empty();) {
    auto const comma = std::min(rest.find(','), rest.size());
    auto item = rest.substr(0, comma);
    while (!item.empty() && (item.front() == ' ' || item.front() == '\t'))
      item.remove_prefix(1);
    while (!item.empty() && (item.back() == ' ' || item.back() == '\t'))
      item.remove_suffix(1);
    if (equal_ignoring_case(item, word)) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

// The same for a header, whose list may be on several lines.
bool has_word(api::Request const& request, std::string_view name, std::string_view word) {
  return std::any_of(request.headers.begin(), request.headers.end(), [&](auto const& header) {
    return equal_ignoring_case(header.first, name) && has_word(header.second, word);
  });
}

// Sixteen bytes in base64.
bool is_key(std::string_view text) {
  if (text.size() != 24 || !text.ends_with("==")) return false;
  text.remove_suffix(2);
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '/';
  });
}

api::Response upgrade_required(std::string_view message) {
  auto response = api::problem(426, "UPGRADE_REQUIRED", message);
  response.headers.emplace_back("Upgrade", "websocket");
  response.headers.emplace_back("Connection", "Upgrade");
  response.headers.emplace_back("Sec-WebSocket-Version", kWebSocketVersion);
  return response;
}

}  // namespace

bool may_open_web_socket(api::Request const& request, Cors const& cors) {
  auto const origin = request.header("Origin");
  if (!origin) return true;
  if (request.count_headers("Origin") > 1) return false;
  bool const is_own = *origin == "http://" + request.host || *origin == "https://" + request.host;
  return is_own || cors.allows(*origin);
}

std::optional<api::Response> refuse_handshake(api::Request const& request, Cors const& cors) {
  bool const asks = request.method == api::Method::get && has_word(request, "Upgrade", "websocket") &&
                    has_word(request, "Connection", "upgrade");
  if (!asks) return upgrade_required("This address is a WebSocket: send a GET with Upgrade: websocket.");
  if (request.header("Sec-WebSocket-Version") != kWebSocketVersion)
    return upgrade_required("The Sec-WebSocket-Version must be 13.");
  if (request.count_headers("Sec-WebSocket-Key") != 1 || !is_key(*request.header("Sec-WebSocket-Key"))) {
    return api::problem(400, "INVALID_REQUEST",
                        "The Sec-WebSocket-Key must be one header with 16 bytes in base64.");
  }
  if (!may_open_web_socket(request, cors)) {
    return api::problem(
        403, "ORIGIN_NOT_ALLOWED",
        "Pages of this origin may not open a WebSocket here. The operator can add the origin to "
        "http.allowed_origins.");
  }
  return std::nullopt;
}

std::string accept_value(std::string_view key) {
  std::string const text = std::string{key} + std::string{kAcceptGuid};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::array<unsigned char, 4 * ((EVP_MAX_MD_SIZE + 2) / 3) + 1> encoded{};
  auto const length = EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(size));
  return {encoded.begin(), encoded.begin() + length};
}

}  // namespace runnel::http
