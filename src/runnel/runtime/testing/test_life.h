#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "runnel/core/fact/fact_json.h"
#include "runnel/model/builtin/offline.h"
#include "runnel/runtime/lifecycle/service.h"
#include "runnel/runtime/testing/test_flows.h"
#include "runnel/store/sqlite/store.h"
#include "tests/support/run_async.h"

namespace runnel::runtime {

inline void encode_nothing(Wire, RunNames const&, Record const&, std::string&) {}

inline std::unique_ptr<store::Store> open_database(std::string const& path) {
  store::SqliteOptions options;
  options.path = path;
  return store::open_sqlite(std::move(options)).value();
}

inline model::Registry offline_model(std::chrono::milliseconds delay, std::size_t words) {
  std::vector<std::unique_ptr<model::Provider>> providers;
  providers.push_back(std::make_unique<model::OfflineProvider>(model::OfflineOptions{delay, words}));
  return model::Registry{std::move(providers)};
}

inline constexpr std::int64_t kRunsPerUser = 3;

// A server on a database, from its start to its stop. The next one can use the same database. Models without
// a price in `terms` are free.
class Life {
 public:
  Life(std::string const& path, std::chrono::milliseconds word_delay, std::size_t words = 0)
      : Life{path, offline_model(word_delay, words)} {}
  Life(std::string const& path, model::Registry models, Terms terms = {},
       flow::Catalog flows = chat_catalog(), std::vector<std::unique_ptr<tools::Tool>> tools = {},
       Memories* memories = nullptr)
      : Life{open_database(path), std::move(models), terms, std::move(flows), std::move(tools), memories} {}
  Life(std::unique_ptr<store::Store> store, model::Registry models, Terms terms = {},
       flow::Catalog flows = chat_catalog(), std::vector<std::unique_ptr<tools::Tool>> tools = {},
       Memories* memories = nullptr)
      : store_{std::move(store)},
        flows_{std::move(flows)},
        tools_{std::move(tools)},
        models_{std::move(models)} {
    if (terms.prices != nullptr) prices_ = *terms.prices;
    prices_.put(model::free_model("*"));
    ServiceOptions options;
    options.delta_flush = std::chrono::milliseconds{5};
    options.max_recoveries = 2;
    options.runs_per_user = kRunsPerUser;
    options.budgets = terms.budgets;
    options.metrics = RunMetrics{metrics_};
    service_.emplace(ServiceParts{cores_,
                                  clock_,
                                  *store_,
                                  hub_,
                                  flows_,
                                  models_,
                                  prices_,
                                  tools_,
                                  {},
                                  dynamic_cast<store::Sql*>(store_.get()),
                                  memories},
                     options);
    cores_.start();
    service_->recover(wait(service_->unfinished()).value());
  }
  ~Life() {
    service_->shut_down(std::chrono::milliseconds{0});
    store_.reset();
    cores_.stop();
  }

  template <class T>
  T wait(boost::asio::awaitable<T> work) {
    return run_async_on(cores_.at(0), std::move(work));
  }

  std::variant<Started, Refusal> start(std::string run, std::string text,
                                       store::OnBusy on_busy = store::OnBusy::reject,
                                       std::string model = {}) {
    return try_start(std::move(run), std::move(text), on_busy, std::move(model)).value();
  }
  Result<std::variant<Started, Refusal>> try_start(std::string run, std::string text,
                                                   store::OnBusy on_busy = store::OnBusy::reject,
                                                   std::string model = {}) {
    RunInput input;
    input.model = std::move(model);
    input.thread = ThreadId{"t"};
    input.run = RunId{std::move(run)};
    input.text = std::move(text);
    input.on_busy = on_busy;
    return wait(service_->start(UserId{"ann"}, std::move(input), "q1"));
  }
  std::variant<Started, Refusal> start_with(RunInput input) {
    return wait(service_->start(UserId{"ann"}, std::move(input), "q1")).value();
  }

  // The value of a series: waits a while for it to become `wanted`.
  std::string series(std::string const& name, std::string const& wanted) {
    std::string value;
    for (int i = 0; i < 2000 && value != wanted; ++i) {
      auto const text = metrics_.text();
      auto const at = text.find("\n" + name + " ") + name.size() + 2;
      value = text.substr(at, text.find('\n', at) - at);
      if (value != wanted) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return value;
  }

  store::RunRow row(std::string const& run) {
    return wait(store_->find_run(UserId{"ann"}, ThreadId{"t"}, RunId{run})).value().value();
  }

  // Waits until the run has ended, and returns it.
  store::RunRow ended(std::string const& run) {
    for (int i = 0; i < 2000; ++i) {
      auto found = row(run);
      if (store::is_ended(found.status)) return found;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    ADD_FAILURE() << run << " does not end";
    return row(run);
  }

  // Waits until `n` facts are durable.
  void reach(std::string const& run, std::uint64_t n) {
    for (int i = 0; i < 2000 && row(run).last_n < n; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }

  // The durable facts without the deltas.
  std::vector<Fact> log(std::string const& run) {
    std::vector<Fact> facts;
    std::uint64_t next = 1;
    for (auto const& log : wait(store_->read_log(row(run).key, 0, 1 << 20)).value()) {
      for (auto& record : parse_log_body(log.body, log.epoch).value()) {
        EXPECT_EQ(record.position.n, next++);
        if (!is_delta(record.fact)) facts.push_back(std::move(record.fact));
      }
    }
    return facts;
  }

  // The names of these facts.
  std::vector<std::string> facts(std::string const& run) {
    std::vector<std::string> names;
    for (auto const& fact : log(run))
      names.emplace_back(fact_name(fact));
    return names;
  }

  std::vector<store::MessageRow> history() {
    return wait(store_->history(UserId{"ann"}, ThreadId{"t"}, std::nullopt, {100, 1 << 20})).value().messages;
  }

  // What a model of a later run on the run's thread would see.
  std::vector<std::string> context(std::string const& run) {
    std::vector<std::string> texts;
    for (auto const& message : wait(store_->context(row(run).thread, RunKey{}, {100, 1 << 20})).value())
      texts.push_back(message.content);
    return texts;
  }

  void sweep() { service_->start_sweeping(); }

  CancelReply cancel(std::string const& run) {
    return wait(service_->cancel(UserId{"ann"}, ThreadId{"t"}, RunId{run})).value();
  }

 private:
  base::Metrics metrics_;
  base::Cores cores_{2};
  base::SystemClock clock_;
  std::unique_ptr<store::Store> store_;
  stream::Hub hub_{cores_, {&encode_nothing, 1}, 64};
  flow::Catalog flows_;
  tools::Toolbox tools_;
  model::Registry models_;
  model::PriceBook prices_;
  std::optional<Service> service_;
};

}  // namespace runnel::runtime
