#include "runnel/http/routes/server/index_page.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kIndexHtml.inc"

namespace runnel::http {
namespace {

// The source by which a CSP allows an inline element: the SHA-256 of its text, in base64.
std::string csp_hash(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 failed");
  }
  std::array<unsigned char, 64> base64{};
  auto const size = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(length));
  return "'sha256-" + std::string(base64.begin(), base64.begin() + size) + "'";
}

std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  auto const begin = text.find(open) + open.size();
  return text.substr(begin, text.find(close, begin) - begin);
}

// Only what is in the page itself may run, and it may call only this server.
std::string policy_of(std::string_view page) {
  return "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
         "'none'; "
         "script-src " +
         csp_hash(between(page, "<script>", "</script>")) + "; style-src " +
         csp_hash(between(page, "<style>", "</style>"));
}

api::Response make_page() {
  return {200,
          "text/html; charset=utf-8",
          std::string{kIndexHtml},
          {{"Content-Security-Policy", policy_of(kIndexHtml)}, {"Cache-Control", "no-cache"}}};
}

boost::asio::awaitable<api::Reply> index_page(api::Request /*request*/) {
  static api::Response const page = make_page();
  co_return page;
}

}  // namespace

void add_index_page(api::Router& router) {
  router.add(api::Method::get, "/", api::Access::open, index_page);
}

}  // namespace runnel::http
