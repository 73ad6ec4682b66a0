#pragma once

#include "runnel/http/router.h"

namespace runnel::http {

// GET /: a page to try the server with, in one file (index.html), for dev mode.
void add_index_page(Router& router);

}  // namespace runnel::http
