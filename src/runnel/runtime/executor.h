#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/flow/catalog.h"
#include "runnel/model/registry.h"
#include "runnel/runtime/closing.h"
#include "runnel/runtime/reply_stream.h"
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

    Job(RunKey r, ThreadKey t, RunInput i, std::size_t c)
        : run{r}, thread{t}, input{std::move(i)}, context_messages{c} {}
  };

  Executor(store::Store& store, flow::Catalog const& flows, model::Registry const& models,
           std::shared_ptr<RunWriter> writer, std::shared_ptr<base::Cancel> cancel, Job job);

  // Exactly one terminal is written. Fails where none could be: the run was fenced off, or the process stops;
  // then the next writer ends it.
  boost::asio::awaitable<Result<store::Ended>> run();

  // Goes on after another writer: voids what it showed and did not keep, closes its open words and runs from
  // the last checkpoint (RUN-12). `give_up`: ends the run as interrupted instead.
  boost::asio::awaitable<Result<store::Ended>> resume(WriterChanged change, bool give_up);

 private:
  boost::asio::awaitable<Result<ModelReply>> answer(flow::Stage stage);
  boost::asio::awaitable<Result<ModelReply>> run_stages(flow::Flow flow);
  [[nodiscard]] model::CallRequest make_request(std::vector<store::MessageRow> const& context) const;
  [[nodiscard]] Closing make_answer(std::string const& stage, ModelReply reply) const;
  [[nodiscard]] Closing make_failure(std::string const& code, std::string message,
                                     std::string const& error_id) const;
  boost::asio::awaitable<Result<store::Ended>> finish(std::string stage, ModelReply reply);
  boost::asio::awaitable<Result<store::Ended>> cancel_run();
  boost::asio::awaitable<Result<store::Ended>> fail(std::string code, std::string message, Error error);

  store::Store& store_;
  flow::Catalog const& flows_;
  model::Registry const& models_;
  std::shared_ptr<RunWriter> writer_;
  std::shared_ptr<base::Cancel> cancel_;
  Job job_;
};

}  // namespace runnel::runtime
