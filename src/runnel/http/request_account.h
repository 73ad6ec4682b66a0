#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runnel/api/message.h"
#include "runnel/core/fact/run_names.h"
#include "runnel/http/connection/response_head.h"
#include "runnel/http/http_metrics.h"

namespace runnel::http {

// What a request's log line and counters need besides its answer.
struct RequestAccount {
  Exchange exchange;
  api::Method method = api::Method::other;
  std::string path;
  std::string user;
  std::int64_t token_expires_at = 0;
  RunNames run;
  api::Route const* route = nullptr;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  // Copies what the request says, once its user and its route are known.
  void identify(api::Request const& request);

  // Counts and logs the answer, before it is sent. `about` names the run if the answer knows it better than
  // the request.
  void answered(int status, RunNames const& about, HttpMetrics const& metrics);
};

}  // namespace runnel::http
