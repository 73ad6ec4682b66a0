#pragma once

#include "runnel/api/router.h"

namespace runnel::http {

// GET /: a page to try the server with, in one file (index.html). It is served unless http.static_dir names a
// folder.
void add_index_page(api::Router& router);

}  // namespace runnel::http
