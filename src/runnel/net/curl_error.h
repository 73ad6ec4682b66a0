#pragma once

#include <curl/curl.h>

#include "runnel/net/http_client.h"

namespace runnel::net {

// Why libcurl ended a transfer with `code`. `text` is libcurl's own description, which is used only if it
// cannot contain any part of the answer.
HttpError to_error(CURL* easy, CURLcode code, char const* text);

}  // namespace runnel::net
