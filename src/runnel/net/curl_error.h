#pragma once

#include <curl/curl.h>

#include "runnel/net/http_client.h"

namespace runnel::net {

// Why libcurl ended a transfer with `code`. `text` is its own description, which is told only where nothing
// of the answer can be in it.
HttpError to_error(CURL* easy, CURLcode code, char const* text);

}  // namespace runnel::net
