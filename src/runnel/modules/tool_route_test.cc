#include "runnel/modules/tool_route.h"

#include <boost/json.hpp>

#include <optional>
#include <utility>
#include <variant>

#include "runnel/api/testing/run_handler.h"
#include "runnel/base/testing/chosen_clock.h"
#include "runnel/core/text/sha256.h"
#include "runnel/modules/tool_calls.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::modules {
namespace {

namespace json = boost::json;
using namespace store;

constexpr char kTea[] = R"({"text":"tea"})";

// The hash of the arguments with this input.
std::string hash_of(std::string const& method, std::string const& input) {
  auto const dot = method.find('.');
  return sha256_hex(R"({"module":")" + method.substr(0, dot) + R"(","method":")" + method.substr(dot + 1) +
                    R"(","input":)" + input + "}");
}

constexpr char kNoteSchema[] =
    R"({"type":"object","description":"Keeps a note.","required":["text"],)"
    R"("properties":{"text":{"type":"string","maxLength":20}},"additionalProperties":false})";

constexpr char kAddNote[] = "INSERT INTO users(id, created_at) VALUES ($1, $2)";
constexpr char kRename[] = "UPDATE users SET created_at = 5 WHERE id = $1";

// Keeps the note as a row of `users`, because the store has no notes.
Async<MethodAnswer> add_note(MethodCall call) {
  auto text = std::string{call.input.at("text").as_string()};
  if (text == "bad") co_return MethodAnswer{MethodFailure{kInvalidInput, "text: must be good"}};
  if (text == "no") co_return MethodAnswer{MethodFailure{"NO_NOTES", "There is no room for notes."}};
  std::vector<SqlStatement> effect;
  if (text == "absent") {
    effect.push_back(statement(kRename, text).touching(1));
  } else {
    effect.push_back(statement(kAddNote, call.user.text + "/" + text, call.now_ms));
  }
  MethodResult result{R"({"outcome":"kept"})", std::move(effect)};
  if (text == "long") result.data = R"({"outcome":")" + std::string(5000, 'x') + R"("})";
  result.partial = text == "half";
  result.takes_storage = text != "small";
  co_return MethodAnswer{std::move(result)};
}

Async<MethodAnswer> show_zone(MethodCall call) {
  co_return MethodAnswer{MethodResult{json::serialize(json::object{{"zone", call.preferences.timezone}})}};
}

std::vector<Method> make_methods() {
  return {{"notes.add", kNoteSchema, add_note}, {"notes.zone", R"({"type":"object"})", show_zone}};
}

class ToolRouteContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    if (IsSkipped()) return;
    clock.now = kNow;
    auto request = admission("r1");
    run = admit(std::move(request));
    start_call("c1");
    ToolRouteParts parts{store(), clock, credentials, make_methods(), quota, 4096};
    add_tool_route(router.emplace(), std::move(parts));
  }

  void start_call(std::string id, std::string const& input = kTea, std::string const& method = "notes.add") {
    auto request = append_request(run.run, run.epoch, batch(next_n, next_n));
    ++next_n;
    request.tool_starts.push_back({ToolCallId{std::move(id)}, method, hash_of(method, input)});
    ASSERT_TRUE(run_async(store().append(std::move(request))));
  }
  void end_call(std::string id) {
    auto request = append_request(run.run, run.epoch, batch(next_n, next_n));
    ++next_n;
    request.tool_ends.push_back(ToolCallId{std::move(id)});
    ASSERT_TRUE(run_async(store().append(std::move(request))));
  }

  [[nodiscard]] base::ToolGrant grant(std::string method = "notes.add", std::string call = "c1") const {
    return {kAnn, RunId{"r1"}, ToolCallId{std::move(call)}, run.epoch, std::move(method)};
  }
  std::string mint(base::ToolGrant const& of) { return credentials.mint(of, kNow / 1000); }

  api::Response ask(std::string body, std::string credential, std::string const& path = "notes/add") {
    auto const match = router->match(api::Method::post, "/api/v1/tools/" + path);
    auto const& found = std::get<api::Router::Found>(match);
    api::Request request;
    request.method = api::Method::post;
    request.params = found.params;
    request.body = std::move(body);
    if (!credential.empty()) request.headers.emplace_back("Authorization", "Bearer " + credential);
    return std::get<api::Response>(api::run_handler(found.route->handler(std::move(request))));
  }
  // The call c1 if the body is its input, and otherwise a new call.
  api::Response ask(std::string const& body) {
    if (body == kTea) return ask(body, mint(grant()));
    auto const id = "c-" + std::to_string(next_n);
    start_call(id, body);
    return ask(body, mint(grant("notes.add", id)));
  }

  static std::string code_of(api::Response const& response) {
    EXPECT_NE(response.status, 200) << response.body;
    return std::string{json::parse(response.body).at("error").at("code").as_string()};
  }
  std::string notes() { return cell("SELECT count(*) FROM users WHERE id LIKE '%/%'"); }

  std::int64_t quota = 1'000'000;
  std::uint64_t next_n = 3;
  base::ChosenClock clock;
  base::ToolCredentials credentials;
  Admission run;
  std::optional<api::Router> router;
};

TEST_P(ToolRouteContract, TOOL_2_MethodTakesEffectAndItsDataAreTheAnswer) {
  auto const response = ask(R"({"text":"tea"})");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"outcome":"kept"})");
  EXPECT_EQ(cell("SELECT id FROM users WHERE id LIKE '%/%'"), "ann/tea");
  EXPECT_EQ(cell("SELECT receipt FROM tool_calls"), R"({"data":{"outcome":"kept"}})");
}

TEST_P(ToolRouteContract, RUN_12_RepeatGetsTheReceiptAndHasNoEffect) {
  auto const first = ask(R"({"text":"tea"})");
  auto const second = ask(kTea);

  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(notes(), "1");
}

TEST_P(ToolRouteContract, TOOL_12_PartialEffectIsToldAgainToARepeat) {
  start_call("half", R"({"text":"half"})");

  for (auto const* const time : {"first", "second"}) {
    auto const response = ask(R"({"text":"half"})", mint(grant("notes.add", "half")));
    EXPECT_EQ(response.status, 207) << time;
    EXPECT_EQ(response.body, R"({"outcome":"kept"})") << time;
  }
  EXPECT_EQ(notes(), "1");
}

TEST_P(ToolRouteContract, TOOL_6_NothingTakesEffectOfWhichTheModelCannotBeTold) {
  EXPECT_EQ(code_of(ask(R"({"text":"long"})")), "OUTPUT_TOO_LARGE");
  EXPECT_EQ(notes(), "0");
}

TEST_P(ToolRouteContract, RUN_12_OnlyTheRecordedArgumentsAreAccepted) {
  EXPECT_EQ(code_of(ask(R"({"text":"other"})", mint(grant()))), "OTHER_ARGUMENTS");
  EXPECT_EQ(code_of(ask(R"({"text": "tea"})", mint(grant()))), "OTHER_ARGUMENTS");
  EXPECT_EQ(code_of(ask("{}", mint(grant("notes.zone")), "notes/zone")), "OTHER_ARGUMENTS");
  EXPECT_EQ(notes(), "0");
}

TEST_P(ToolRouteContract, RUN_12_NextWriterGetsTheReceiptAndTheLastOneNothing) {
  auto const old = mint(grant());
  ask(R"({"text":"tea"})");
  run.epoch = claim(run.run, kNow + 60'000).epoch;

  EXPECT_EQ(code_of(ask(R"({"text":"tea"})", old)), "CALL_CLOSED");
  EXPECT_EQ(ask(R"({"text":"tea"})").body, R"({"outcome":"kept"})");
  EXPECT_EQ(notes(), "1");
}

TEST_P(ToolRouteContract, TOOL_9_CredentialIsForOneMethodOfOneCallOfOneUser) {
  std::string const body = R"({"text":"tea"})";
  auto other_user = grant();
  other_user.user = kBob;
  auto other_run = grant();
  other_run.run = RunId{"r2"};
  auto other_call = grant("notes.add", "c2");
  auto other_epoch = grant();
  ++other_epoch.epoch;

  EXPECT_EQ(code_of(ask(body, "")), "NO_CREDENTIAL");
  EXPECT_EQ(code_of(ask(body, "nonsense")), "INVALID_CREDENTIAL");
  EXPECT_EQ(code_of(ask(body, base::ToolCredentials{}.mint(grant(), kNow / 1000))), "INVALID_CREDENTIAL");
  EXPECT_EQ(code_of(ask(body, mint(grant("notes.zone")))), "OUT_OF_SCOPE");
  EXPECT_EQ(code_of(ask(body, mint(grant()), "notes/wipe")), "OUT_OF_SCOPE");
  EXPECT_EQ(code_of(ask(body, mint(grant("notes.wipe")), "notes/wipe")), "UNKNOWN_METHOD");
  for (auto const& of : {other_user, other_run, other_call, other_epoch}) {
    EXPECT_EQ(code_of(ask(body, mint(of))), "CALL_CLOSED");
  }
  EXPECT_EQ(notes(), "0");
  EXPECT_EQ(ask(body).status, 200);
}

TEST_P(ToolRouteContract, TOOL_9_CredentialEndsWithItsCallAndItsLife) {
  auto const credential = mint(grant());
  clock.now = kNow + 301'000;
  EXPECT_EQ(code_of(ask(R"({"text":"tea"})", credential)), "CREDENTIAL_EXPIRED");
  clock.now = kNow;
  end_call("c1");

  EXPECT_EQ(code_of(ask(R"({"text":"tea"})", credential)), "CALL_CLOSED");
  EXPECT_EQ(notes(), "0");
}

TEST_P(ToolRouteContract, TOOL_9_AReadNeedsAnOpenCallToo) {
  start_call("c2", "{}", "notes.zone");
  EXPECT_EQ(ask("{}", mint(grant("notes.zone", "c2")), "notes/zone").body, R"({"zone":"Asia/Shanghai"})");
  end_call("c2");

  EXPECT_EQ(code_of(ask("{}", mint(grant("notes.zone", "c2")), "notes/zone")), "CALL_CLOSED");
}

TEST_P(ToolRouteContract, RUN_4_NothingTakesEffectOnceACancelIsAccepted) {
  sql("UPDATE runs SET cancel_at = 5");

  EXPECT_EQ(code_of(ask(R"({"text":"tea"})")), "CONFLICT");
  EXPECT_EQ(notes(), "0");
}

TEST_P(ToolRouteContract, TOOL_4_BadInputIsExplainedWithTheSchema) {
  for (auto const* const body :
       {R"({"text":7})", R"({})", R"({"text":"a","owner_id":"bob"})", R"({"text":"a","text":"b"})", R"([])",
        R"("x")", "nonsense", "", R"({"text":"bad"})", R"({"text":"123456789012345678901"})"}) {
    auto const response = ask(body);
    auto const error = json::parse(response.body).at("error");
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(error.at("code"), "INVALID_ACTION_INPUT");
    EXPECT_TRUE(
        error.at("message").as_string().starts_with("notes.add input does not match method schema: "));
    EXPECT_EQ(error.at("module"), "notes");
    EXPECT_EQ(error.at("method"), "add");
    EXPECT_EQ(error.at("input_schema"), json::parse(kNoteSchema));
  }
  EXPECT_EQ(notes(), "0");
}

TEST_P(ToolRouteContract, TOOL_4_FailureOfTheMethodIsPassedOn) {
  EXPECT_EQ(code_of(ask(R"({"text":"no"})")), "NO_NOTES");
  EXPECT_EQ(code_of(ask(R"({"text":"absent"})")), "CONFLICT");
  EXPECT_EQ(cell("SELECT count(*) FROM tool_calls WHERE receipt IS NOT NULL"), "0");
}

TEST_P(ToolRouteContract, HTTP_9_NothingIsWrittenForAUserWithoutStorage) {
  sql("INSERT INTO storage_totals(owner_id, bytes) VALUES ('ann', 1000000)");

  EXPECT_EQ(code_of(ask(R"({"text":"tea"})")), "STORAGE_QUOTA_EXCEEDED");
  EXPECT_EQ(notes(), "0");
  EXPECT_EQ(ask(R"({"text":"small"})").status, 200) << "its effect needs no storage";
}

TEST_P(ToolRouteContract, RUN_12_SettledCallNeverTakesEffect) {
  ToolCalls calls{store()};
  auto const failure = receipt_of_failure(R"({"code":"TOOL_TIMEOUT","message":"too long"})");

  EXPECT_EQ(run_async(calls.settle(grant(), failure)).value(), failure);

  EXPECT_EQ(code_of(ask(R"({"text":"tea"})")), "TOOL_TIMEOUT");
  EXPECT_EQ(notes(), "0");
  EXPECT_EQ(run_async(calls.settle(grant(), receipt_of_failure("{}"))).value(), failure);
}

TEST_P(ToolRouteContract, RUN_12_CallThatTookEffectIsSettledByIt) {
  ToolCalls calls{store()};
  ask(R"({"text":"tea"})");

  auto const receipt = run_async(calls.settle(grant(), receipt_of_failure("{}"))).value();

  EXPECT_EQ(data_in(receipt), R"({"outcome":"kept"})");
  EXPECT_FALSE(error_in(receipt));
}

TEST_P(ToolRouteContract, RUN_12_OnlyTheWriterOfAnOpenCallSettlesIt) {
  ToolCalls calls{store()};
  auto other = grant();
  ++other.epoch;
  EXPECT_EQ(refusal(run_async(calls.settle(other, receipt_of_failure("{}")))), Errc::fenced);
  end_call("c1");
  EXPECT_EQ(refusal(run_async(calls.settle(grant(), receipt_of_failure("{}")))), Errc::fenced);
}

INSTANTIATE_TEST_SUITE_P(Engines, ToolRouteContract,
                         testing::Values(store::sqlite_engine(), store::postgres_engine()),
                         store::engine_name);

}  // namespace
}  // namespace runnel::modules
