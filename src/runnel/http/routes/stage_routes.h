#pragma once

#include "runnel/api/router.h"
#include "runnel/base/fair_pool.h"
#include "runnel/store/database.h"

namespace runnel::http {

// GET /api/v1/agent/runs/{thread_id}/stages: what each stage of a run did (RUN-5). `reading` parses what is
// stored; its keys are users. Both outlive the server.
void add_stages_route(api::Router& router, store::Database& store, base::FairPool& reading);

}  // namespace runnel::http
