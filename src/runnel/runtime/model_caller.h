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
#include "runnel/runtime/call_book.h"
#include "runnel/runtime/reply_stream.h"
#include "runnel/runtime/run_metrics.h"
#include "runnel/runtime/run_writer.h"

namespace runnel::runtime {

// A model's whole answer. The text message, where one was begun, and the tool calls are still open: what ends
// them is the stage's to say.
struct ModelReply {
  MessageId message;
  std::string output;  // All that it wrote,
  std::string shown;   // and what of it was shown as text.
  bool prose = false;  // It was shown as words, where an object was asked for.
  std::string reasoning;
  std::vector<ToolCall> calls;  // Under the provider's ids; none where they were cut off.
  ShownCalls shown_calls;
  model::Finish finish = model::Finish::stop;
  Closing accounts;  // Of the attempt that answered, to be written with the answer.
};

// Why there is no answer, as RUN_ERROR tells it. `detail` is for the log.
struct CallTrouble {
  std::string code;
  std::string message;
  std::string detail;

  CallTrouble(std::string c, std::string m, std::string d)
      : code{std::move(c)}, message{std::move(m)}, detail{std::move(d)} {}
};

using CallResult = std::variant<ModelReply, CallTrouble>;

// Asks a model, and again where that may help (USE-1): the same one after a pause while nothing of its answer
// was shown, and then the fallback models. Each attempt is entered into the book before it is made.
class ModelCaller {
 public:
  ModelCaller(model::Registry const& models, std::shared_ptr<RunWriter> writer,
              std::shared_ptr<base::Cancel> cancel, CallBook& book, RunMetrics metrics);

  // Fails where the run was cancelled or is no longer ours to write; the attempt may still be open in the
  // book.
  boost::asio::awaitable<Result<CallResult>> call(std::string stage, model::CallRequest request,
                                                  Showing showing);

  // What the attempt under way, or else the last one, has shown.
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
  CallBook& book_;
  RunMetrics metrics_;
  std::unique_ptr<ReplyStream> stream_;
  std::int64_t attempts_ = 0;
  bool may_try_next_ = false;  // Another model may do better.
};

}  // namespace runnel::runtime
