#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runnel/core/run_names.h"
#include "runnel/http/http_metrics.h"
#include "runnel/http/message.h"
#include "runnel/http/response_head.h"

namespace runnel::http {

// What a request's log line and counters tell beside its answer.
struct RequestAccount {
  Exchange exchange;
  Method method = Method::other;
  std::string path;
  std::string user;
  std::int64_t token_expires_at = 0;
  RunNames run;
  Route const* route = nullptr;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  // Takes what a request tells once it is known whose it is and which route it is for.
  void identify(Request const& request);

  // Counts and logs the answer, before it is sent. `about`: the run, where the answer knows better than the
  // request.
  void answered(int status, RunNames const& about, HttpMetrics const& metrics);
};

}  // namespace runnel::http
