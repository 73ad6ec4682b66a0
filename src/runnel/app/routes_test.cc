#include "runnel/app/routes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "runnel/http/dispatcher.h"
#include "runnel/http/testing/test_authenticator.h"
#include "runnel/model/builtin/offline.h"
#include "runnel/modules/profile/repository.h"
#include "runnel/protocol/wires.h"
#include "runnel/runtime/testing/test_flows.h"
#include "runnel/store/sqlite/store.h"
#include "runnel/store/testing/sqlite_under_test.h"
#include "tests/support/run_async.h"

namespace runnel::app {
namespace {

std::unique_ptr<store::Database> open(std::string path, Modules const& modules) {
  store::SqliteOptions options;
  options.path = std::move(path);
  options.module_migrations = modules.migrations();
  return store::open_sqlite(std::move(options)).value();
}

model::Registry offline() {
  std::vector<std::unique_ptr<model::Provider>> providers;
  providers.push_back(std::make_unique<model::OfflineProvider>(model::OfflineOptions{}));
  return model::Registry{std::move(providers)};
}

model::PriceBook free_offline() {
  model::PriceBook book;
  book.put(model::free_model("offline"));
  return book;
}

// The same router as in the server.
class Routes : public testing::Test {
 protected:
  Routes() {
    modules_.make({*store_, clock_, cores_});
    cores_.start();
  }
  ~Routes() override {
    service_.shut_down(std::chrono::milliseconds{0});
    store_.reset();
    cores_.stop();
  }

  api::Router router() {
    return make_router(Settings{}, {cores_, clock_, *store_, hub_, service_, authenticator_, "dev_secret",
                                    modules_, custom_, flows_, models_, probe_, metrics_, scraping_,
                                    replaying_, std::make_shared<http::LiveTasks>()})
        .value();
  }

  // A request that the operation can accept, with all of its parameters.
  api::Request request_for(api::Operation const& operation) {
    api::Request out;
    out.method = operation.method;
    out.path = operation.path;
    if (auto const at = out.path.find("{thread_id}"); at != std::string::npos) out.path.replace(at, 11, "t");
    for (auto const& name : operation.query) {
      if (name != "ticket") out.query_items.emplace_back(name, "1");  // The header below takes its place.
    }
    out.headers = {
        {"Authorization", "Bearer " + authenticator_->issue_token(UserId{"ann"}, std::chrono::seconds{60})}};
    out.host = "localhost";
    if (operation.body) out.body = R"({"title":"x"})";
    return out;
  }

  int status(http::Dispatcher& dispatcher, api::Request request) {
    auto admitted = dispatcher.admit(request);
    if (auto const* refusal = std::get_if<api::Response>(&admitted)) return refusal->status;
    auto const* const route = std::get<api::Route const*>(admitted);
    auto const refusal = run_async_on(cores_.at(0), dispatcher.redeem(route, &request));
    if (refusal) return refusal->status;
    auto reply = run_async_on(cores_.at(0), dispatcher.answer(route, std::move(request)));
    auto const* response = std::get_if<api::Response>(&reply);
    return response != nullptr ? response->status : 200;
  }

  store::TemporaryFolder folder_;
  tools::CustomModules custom_;
  Modules modules_{Settings{}};
  std::unique_ptr<store::Database> store_ = open(folder_.file("runnel.db"), modules_);
  base::Cores cores_{1};
  base::SystemClock clock_;
  stream::Hub hub_{cores_, {&protocol::encode, protocol::all_wires().size(), &protocol::is_durable_only}, 16};
  flow::Catalog const flows_ = runtime::chat_catalog();
  model::Registry const models_ = offline();
  model::PriceBook const prices_ = free_offline();
  tools::Toolbox const tools_;
  runtime::Service service_{
      {cores_, clock_, *store_, hub_, flows_, models_, prices_, tools_, modules::profile::kFrozenProfile},
      runtime::ServiceOptions{}};
  std::shared_ptr<http::Authenticator const> authenticator_ =
      std::make_shared<http::Authenticator const>(http::test_authenticator(clock_));
  SharedProbe probe_{[this] { return store_->probe(); }, clock_, std::chrono::seconds{1}};
  base::Metrics metrics_;
  base::BlockingPool scraping_{1};
  base::FairPool replaying_{1, 10};
};

using Names = std::set<std::string>;

std::string name_of(api::Method method, std::string const& path) {
  return std::string{to_string(method)} + " " + path;
}

// Checks both directions. A route that the document lacks cannot be added to the router (Router::add), but
// this test would also find it.
TEST_F(Routes, HTTP_7_TheDocumentHasTheRealRoutes) {
  Names real;
  Names promised;
  auto const wired = router();
  for (auto const& route : wired.routes())
    real.insert(name_of(route.method, route.pattern));
  api::OpenApiContract const document{modules_.openapi()};
  for (auto const& operation : document.operations())
    promised.insert(name_of(operation.method, operation.path));

  EXPECT_EQ(real, promised);
}

TEST_F(Routes, HTTP_7_EveryRouteAnswersAsTheDocumentSays) {
  http::Dispatcher dispatcher{router(), authenticator_};

  auto const wired = router();
  for (auto const& route : wired.routes()) {
    auto const& operation = *route.operation;
    auto const asked = request_for(operation);
    auto anonymous = asked;
    anonymous.headers.clear();
    auto repeated = asked;
    repeated.query_items = {{"x", "1"}, {"x", "2"}};
    auto without = asked;
    without.query_items.clear();
    auto with_other_body = asked;
    with_other_body.body = "[";

    auto const name = name_of(operation.method, operation.path);
    EXPECT_LT(status(dispatcher, asked), 500) << name;
    EXPECT_LT(status(dispatcher, without), 500) << name;
    EXPECT_EQ(status(dispatcher, repeated), 400) << name;
    // The secret that opens the route is looked up before anything else is looked at, and nobody has this
    // one.
    bool const by_secret = route.access == api::Access::path_secret;
    // That it asks for no WebSocket is said first, too.
    bool const is_web_socket = route.options.answers == api::Answers::as_web_sockets;
    EXPECT_EQ(status(dispatcher, with_other_body), by_secret ? 404 : is_web_socket ? 426 : 400) << name;
    EXPECT_EQ(status(dispatcher, anonymous) == 401, route.access != api::Access::open && !by_secret) << name;
  }
  EXPECT_EQ(dispatcher.undeclared_answers(), 0U);
}

}  // namespace
}  // namespace runnel::app
