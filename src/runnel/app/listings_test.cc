#include "runnel/app/listings.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "runnel/runtime/testing/test_flows.h"

namespace runnel::app {
namespace {

class NamedModels final : public model::Provider {
 public:
  explicit NamedModels(std::vector<std::string> names) : names_{std::move(names)} {}

  [[nodiscard]] std::vector<std::string> models() const override { return names_; }
  [[nodiscard]] std::string name() const override { return "named"; }
  [[nodiscard]] std::unique_ptr<model::Call> call(model::CallRequest /*request*/) override {
    throw std::logic_error("a list makes no calls");
  }

 private:
  std::vector<std::string> names_;
};

model::Registry registry_of(std::vector<std::string> first, std::vector<std::string> second,
                            std::string default_name) {
  std::vector<std::unique_ptr<model::Provider>> providers;
  providers.push_back(std::make_unique<NamedModels>(std::move(first)));
  providers.push_back(std::make_unique<NamedModels>(std::move(second)));
  return model::Registry{std::move(providers), std::move(default_name)};
}

// Each name, and what it is marked as.
std::vector<std::string> told(std::vector<http::Listings::Model> const& models) {
  std::vector<std::string> out;
  for (auto const& model : models)
    out.push_back(model.name + (model.is_pattern ? " pattern" : "") + (model.is_default ? " default" : ""));
  return out;
}

using ListedNames = std::vector<std::string>;

TEST(Listings, RUN_1_EachModelIsListedOnce) {
  auto const models = registry_of({"a", "b"}, {"b", "c-*"}, "b");

  EXPECT_EQ(told(make_listings(runtime::chat_catalog(), models, {}).models),
            (ListedNames{"a", "b default", "c-* pattern"}));
}

TEST(Listings, RUN_1_TheDefaultIsListedEvenIfItIsOneOfAPattern) {
  auto const models = registry_of({"c-*"}, {"a"}, "c-1");

  EXPECT_EQ(told(make_listings(runtime::chat_catalog(), models, {}).models),
            (ListedNames{"c-* pattern", "a", "c-1 default"}));
}

TEST(Listings, RUN_1_FlowsAreListedWithTheirStages) {
  std::vector<flow::Stage> stages;
  stages.push_back(runtime::prose_stage("ask"));
  stages.push_back(runtime::prose_stage("keep"));
  stages[1].tools = {"project_cli"};
  stages[1].kind = flow::StageKind::memory;

  auto const flows =
      make_listings(runtime::catalog_of(std::move(stages)), registry_of({"a"}, {}, ""), {}).flows;

  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0].name, "chat");
  EXPECT_TRUE(flows[0].is_default);
  ASSERT_EQ(flows[0].stages.size(), 2U);
  EXPECT_EQ(flows[0].stages[0].name, "ask");
  EXPECT_EQ(flows[0].stages[0].kind, "");
  EXPECT_EQ(flows[0].stages[1].tools, ListedNames{"project_cli"});
  EXPECT_EQ(flows[0].stages[1].kind, "memory");
}

TEST(Listings, RUN_1_MethodsAreListedWithTheirSchemas) {
  modules::Method method;
  method.name = "calendar.read";
  method.input_schema = "{\n \"description\": \"Reads.\", \"type\": \"object\"\n}";

  auto const tools = make_listings(runtime::chat_catalog(), registry_of({"a"}, {}, ""),
                                   list_methods({method}, tools::CustomModules{}))
                         .tools;

  ASSERT_EQ(tools.size(), 1U);
  EXPECT_EQ(tools[0].name, "calendar.read");
  EXPECT_EQ(tools[0].description, "Reads.");
  EXPECT_EQ(tools[0].input_schema.str(), R"({"description":"Reads.","type":"object"})");
}

}  // namespace
}  // namespace runnel::app
