#include "runnel/model/failures.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "runnel/model/openai/retry_after.h"

namespace runnel::model {
namespace {

struct Named {
  std::string_view word;
  Failure failure;
};

// The providers' names of errors that have their own meaning, whatever the status; in lower case.
constexpr std::array kNamed{
    Named{"insufficient_quota", Failure::out_of_funds},
    Named{"insufficient_balance", Failure::out_of_funds},
    Named{"arrearage", Failure::out_of_funds},
    Named{"billing_hard_limit_reached", Failure::out_of_funds},
    Named{"billing_not_active", Failure::out_of_funds},
    Named{"data_inspection_failed", Failure::filtered},
    Named{"datainspectionfailed", Failure::filtered},
    Named{"content_filter", Failure::filtered},
    Named{"content_policy_violation", Failure::filtered},
    Named{"rate_limit_exceeded", Failure::rate_limited},
    Named{"rate_limit_error", Failure::rate_limited},
    Named{"limit_requests", Failure::rate_limited},
    Named{"throttling", Failure::rate_limited},
    Named{"overloaded_error", Failure::overloaded},
    Named{"unavailable_error", Failure::overloaded},
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::optional<Failure> named_failure(ProviderError const& error, Vendor const& vendor) {
  for (auto const& said : {lower(error.code), lower(error.type)}) {
    if (said.starts_with("throttling.")) return Failure::rate_limited;
    auto const* const found =
        std::find_if(kNamed.begin(), kNamed.end(), [&](Named const& named) { return named.word == said; });
    if (found == kNamed.end()) continue;
    if (said == "insufficient_quota" && vendor.quota_recovers) return Failure::rate_limited;
    return found->failure;
  }
  return std::nullopt;
}

Failure failure_of(int status) {
  switch (status) {
    case 401:
    case 403:
      return Failure::unauthorized;
    case 402:
      return Failure::out_of_funds;
    case 408:
      return Failure::timed_out;
    case 429:
      return Failure::rate_limited;
    default:
      break;
  }
  if (status >= 500) return Failure::overloaded;
  return status >= 400 ? Failure::rejected : Failure::bad_answer;
}

bool is_transient(Failure failure) {
  return failure == Failure::rate_limited || failure == Failure::overloaded || failure == Failure::timed_out;
}

// The error object's code if it is an HTTP status, as llama.cpp and vLLM send it; otherwise 0.
int status_in(ProviderError const& error) {
  int status = 0;
  auto const* const end = error.code.data() + error.code.size();
  auto const [stopped, problem] = std::from_chars(error.code.data(), end, status);
  return problem == std::errc{} && stopped == end && status >= 400 && status < 600 ? status : 0;
}

std::string describe(ProviderError const& error) {
  auto const& name = error.code.empty() ? error.type : error.code;
  if (name.empty()) return error.message;
  return error.message.empty() ? name : name + ": " + error.message;
}

bool looks_like_a_page(std::string_view body) {
  auto const begin = body.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && body[begin] == '<';
}

std::string describe_body(std::string_view body, std::optional<ProviderError> const& error) {
  if (error) return describe(*error);
  if (body.empty()) return "an empty body";
  return looks_like_a_page(body) ? "an HTML page" : std::string{body};
}

std::optional<ProviderError> error_in(std::string_view body) {
  Chunk chunk;
  auto const begin =
      body.find_first_not_of(" \t\r\n");  // DeepSeek keeps a connection alive with empty lines.
  if (begin == std::string_view::npos || !ChunkReader{}.read(body.substr(begin), chunk)) return std::nullopt;
  return chunk.error;
}

}  // namespace

CallFailed make_failure(Failure failure, std::string message) {
  CallFailed failed;
  failed.failure = failure;
  failed.message = std::move(message);
  failed.retryable = is_transient(failure) || failure == Failure::unreachable || failure == Failure::cut;
  return failed;
}

CallFailed read_refusal(net::HttpHead const& head, std::string_view body, Vendor const& vendor,
                        Redactor const& redact, std::chrono::system_clock::time_point now) {
  auto const error = error_in(body);
  auto const named = error ? named_failure(*error, vendor) : std::nullopt;
  auto failed =
      make_failure(named.value_or(failure_of(head.status)),
                   "HTTP " + std::to_string(head.status) + ": " + redact(describe_body(body, error)));
  if (head.status == 409) failed.retryable = true;
  auto const wish = head.header("x-should-retry");
  if (wish == "true" || wish == "false") failed.retryable = wish == "true";
  failed.retry_after = read_retry_after(head, now);
  return failed;
}

CallFailed read_reported(ProviderError const& error, Vendor const& vendor, Redactor const& redact) {
  auto failed = make_failure(named_failure(error, vendor).value_or(Failure::reported),
                             "error in the stream: " + redact(describe(error)));
  if (auto const status = status_in(error); status != 0 && failed.failure == Failure::reported)
    failed.retryable = is_transient(failure_of(status));
  return failed;
}

CallFailed read_broken(net::HttpError const& error, std::string_view waited_for, Redactor const& redact) {
  using Kind = net::HttpError::Kind;
  auto const detail = redact(error.detail);
  switch (error.kind) {
    case Kind::unreachable:
      return make_failure(Failure::unreachable, "no connection: " + detail);
    case Kind::untrusted: {
      auto failed = make_failure(Failure::unreachable, "TLS: " + detail);
      failed.retryable = false;
      return failed;
    }
    case Kind::timed_out: {
      // The same call would probably take as long again; another model may be faster.
      auto failed = make_failure(Failure::timed_out, "timed out waiting for " + std::string{waited_for});
      failed.retryable = false;
      return failed;
    }
    case Kind::malformed:
      return make_failure(Failure::bad_answer, "not HTTP: " + detail);
    case Kind::cut:
    case Kind::canceled:
      break;
  }
  return make_failure(Failure::cut, "the connection ended: " + detail);
}

}  // namespace runnel::model
