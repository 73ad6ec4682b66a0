#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/model/openai/provider.h"
#include "tests/support/model_request.h"
#include "tests/support/run_async.h"
#include "tests/support/scripted_exchange.h"

// For tests: makes a whole model call against a scripted upstream and collects its answer.
namespace runnel::model {

struct CallAnswer {
  std::string text;
  std::string reasoning;
  std::vector<ToolCallPiece> tool_pieces;
  std::size_t batches = 0;
  std::optional<CallFinished> finished;
  std::optional<CallFailed> failed;
  Errc error = Errc::internal;  // Only if both are empty.

  void take(CallEvent const& event) {
    if (auto const* piece = std::get_if<TextPiece>(&event)) text += piece->text;
    if (auto const* piece = std::get_if<ReasoningPiece>(&event)) reasoning += piece->text;
    if (auto const* piece = std::get_if<ToolCallPiece>(&event)) tool_pieces.push_back(*piece);
    if (auto const* end = std::get_if<CallFinished>(&event)) finished = *end;
    if (auto const* end = std::get_if<CallFailed>(&event)) failed = *end;
  }
  [[nodiscard]] bool has_end() const { return finished || failed; }
};

inline boost::asio::awaitable<CallAnswer> read_answer(std::shared_ptr<Call> call,
                                                      std::shared_ptr<base::Cancel> cancel) {
  CallAnswer answer;
  while (!answer.has_end()) {
    auto const events = co_await call->next(cancel);
    if (events.has_error()) {
      answer.error = events.error().code;
      break;
    }
    ++answer.batches;
    for (auto const& event : *events)
      answer.take(event);
  }
  co_return answer;
}

inline ProviderOptions options_for(std::string const& profile) {
  ProviderOptions options;
  options.name = profile;
  options.vendor = find_vendor(profile).value();
  options.base_url = "http://127.0.0.1:1/v1";
  options.api_key = Secret{"sk-canary-0123456789abcdef"};
  options.models = {"m"};
  return options;
}

inline Post post_to(std::shared_ptr<Script> const& script) {
  return [script](net::HttpRequest request) {
    script->request = std::move(request);
    return std::make_unique<ScriptedExchange>(script);
  };
}

inline std::shared_ptr<Call> start_call(std::shared_ptr<Script> const& script, ProviderOptions options) {
  OpenAiProvider provider{std::move(options), post_to(script), [script] { return script->now; }};
  return provider.call(ask("m", "q"));
}

inline CallAnswer answer_of(std::shared_ptr<Script> const& script, ProviderOptions options) {
  return run_async(read_answer(start_call(script, std::move(options)), std::make_shared<base::Cancel>()));
}

inline CallAnswer answer_of(std::shared_ptr<Script> const& script) {
  return answer_of(script, options_for("deepseek"));
}

}  // namespace runnel::model
