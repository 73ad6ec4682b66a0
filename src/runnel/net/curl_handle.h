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

// Made ready for any exchange: HTTP and HTTPS only, TLS verified, nothing followed, remembered or logged.
EasyHandle make_easy_handle(std::string const& ca_file);

// What libcurl is to send; null: one of the headers would break the request apart.
HeaderList make_header_list(std::vector<std::pair<std::string, std::string>> const& headers);

}  // namespace runnel::net
