#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/base/clock.h"
#include "runnel/flow/catalog.h"
#include "runnel/model/registry.h"
#include "runnel/runtime/call_book.h"
#include "runnel/runtime/closing.h"
#include "runnel/runtime/model_caller.h"
#include "runnel/runtime/run_input.h"
#include "runnel/runtime/run_writer.h"
#include "runnel/store/store.h"

namespace runnel::runtime {

// Runs one claimed run to its end: the flow's stages in order, each finished one a checkpoint. On the run's
// core.
class Executor {
 public:
  struct Job {
    RunKey run;
    ThreadKey thread;
    RunInput input;
    std::size_t context_messages = 40;
    Terms terms;

    Job(RunKey r, ThreadKey t, RunInput i, std::size_t c, Terms m)
        : run{r}, thread{t}, input{std::move(i)}, context_messages{c}, terms{std::move(m)} {}
  };

  Executor(store::Store& store, base::Clock const& clock, flow::Catalog const& flows,
           model::Registry const& models, std::shared_ptr<RunWriter> writer,
           std::shared_ptr<base::Cancel> cancel, Job job, RunMetrics metrics);

  // Exactly one terminal is written. Fails where none could be: the run was fenced off, or the process stops;
  // then the next writer ends it.
  boost::asio::awaitable<Result<store::Ended>> run();

  // Goes on after another writer: voids what it showed and did not keep, closes its open words and runs from
  // the last checkpoint (RUN-12). `give_up`: ends the run as interrupted instead.
  boost::asio::awaitable<Result<store::Ended>> resume(WriterChanged change, bool give_up);

 private:
  store::Async<std::vector<store::MessageRow>> read_context();
  boost::asio::awaitable<Result<CallResult>> answer(flow::Stage stage);
  boost::asio::awaitable<Result<CallResult>> run_stages(flow::Flow flow);
  [[nodiscard]] model::CallRequest make_request(std::vector<store::MessageRow> const& context) const;
  [[nodiscard]] Said said() const;
  Closing make_checkpoint(std::string const& stage, ModelReply reply);
  void book_on(store::NewMessage row, Closing& closing);
  Closing make_answer(std::string const& stage, ModelReply reply);
  Closing settle_rest(store::CallStatus status, std::string const& code);
  Closing make_failure(std::string const& code, std::string message, std::string const& error_id);
  boost::asio::awaitable<Result<store::Ended>> finish(std::string stage, ModelReply reply);
  boost::asio::awaitable<Result<store::Ended>> cancel_run();
  boost::asio::awaitable<Result<store::Ended>> fail(CallTrouble trouble);

  store::Store& store_;
  flow::Catalog const& flows_;
  model::Registry const& models_;
  std::shared_ptr<RunWriter> writer_;
  std::shared_ptr<base::Cancel> cancel_;
  Job job_;
  CallBook book_;
  ModelCaller caller_;
  Closing unwritten_;  // Of an answer that came too late: the run was cancelled.
};

}  // namespace runnel::runtime
