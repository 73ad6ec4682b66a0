#include "runnel/http/routes/report_gate.h"

#include "runnel/api/problem.h"

namespace runnel::http {

api::Response too_many_reports(ReportGate::Verdict verdict) {
  auto response =
      verdict == ReportGate::Verdict::full
          ? api::problem(503, "UNAVAILABLE", "The server is busy with other reports; try again.")
          : api::problem(
                429, "TOO_MANY_REQUESTS",
                "You have as many reports in progress as one user may have; wait for one to finish.");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace runnel::http
