#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

// libcurl's handles as owned objects.
namespace runnel::net {

struct CurlCleanup {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using EasyHandle = std::unique_ptr<CURL, CurlCleanup>;
using HeaderList = std::unique_ptr<curl_slist, CurlCleanup>;

struct MultiCleanup {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
using MultiHandle = std::unique_ptr<CURLM, MultiCleanup>;

// A handle with the options that all exchanges share: only HTTP and HTTPS, TLS is verified, redirects are not
// followed, and nothing is remembered or logged.
EasyHandle make_easy_handle(std::string const& ca_file);

// The headers for libcurl to send. Null if one of them has a line break or NUL, which would break the
// request.
HeaderList make_header_list(std::vector<std::pair<std::string, std::string>> const& headers);

}  // namespace runnel::net
