#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/core/error.h"
#include "runnel/model/registry.h"
#include "runnel/model/retry.h"
#include "runnel/runtime/lifecycle/run_metrics.h"
#include "runnel/runtime/model_calls/reply_stream.h"
#include "runnel/runtime/model_calls/run_ledger.h"
#include "runnel/runtime/writing/run_writer.h"

namespace runnel::runtime {

// A model's whole answer. The text message, if one was started, and the tool calls may still be open; the
// stage decides how they end.
struct ModelReply {
  MessageId message;
  std::string output;  // Everything that the model wrote.
  std::string shown;   // The part that was shown as text.
  bool prose = false;  // It was shown as text although an object was asked for.
  std::string reasoning;
  std::vector<ToolCall> calls;  // With the provider's ids; empty if they were cut off.
  ShownCalls shown_calls;
  model::Finish finish = model::Finish::stop;
  Commit accounts;  // Of the attempt that answered; written with the answer.
};

// Why there is no answer, in the words of RUN_ERROR. `detail` is for the log.
struct CallTrouble {
  std::string code;
  std::string message;
  std::string detail;

  CallTrouble(std::string c, std::string m, std::string d)
      : code{std::move(c)}, message{std::move(m)}, detail{std::move(d)} {}
};

using CallResult = std::variant<ModelReply, CallTrouble>;

// Asks a model, and asks again if that may help (USE-1): the same model after a pause, as long as nothing of
// its answer was shown, and then the fallback models. Each attempt is entered into the ledger before it is
// made.
class ModelCaller {
 public:
  ModelCaller(model::Registry const& models, std::shared_ptr<RunWriter> writer,
              std::shared_ptr<base::Cancel> cancel, RunLedger& ledger, RunMetrics metrics);

  // Fails if the run was canceled or its writer can write no more; then the attempt may still be open in the
  // ledger.
  boost::asio::awaitable<Result<CallResult>> call(std::string stage, model::CallRequest request,
                                                  Showing showing);

  // What the current attempt, or else the last one, has written.
  [[nodiscard]] Said said() const { return stream_ ? stream_->said() : Said{}; }

 private:
  boost::asio::awaitable<Result<CallResult>> ask(model::Provider* provider, std::string stage,
                                                 model::CallRequest request);
  Attempt describe(model::Provider const& provider, std::string stage, model::CallRequest const& request);
  void tell_fallback(std::string const& from, std::string const& to) const;
  void tell(model::Provider const& provider, std::string const& model, model::CallFailed const& failed) const;
  ModelReply reply(model::CallFinished finished);

  model::Registry const& models_;
  std::shared_ptr<RunWriter> writer_;
  std::shared_ptr<base::Cancel> cancel_;
  RunLedger& ledger_;
  RunMetrics metrics_;
  std::unique_ptr<ReplyStream> stream_;
  std::int64_t attempts_ = 0;
  bool may_try_next_ = false;  // True if another model may do better.
};

}  // namespace runnel::runtime
