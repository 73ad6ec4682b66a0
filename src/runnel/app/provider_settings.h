#pragma once

#include <yaml-cpp/node/node.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/model/secret.h"

namespace runnel::app {

// One entry of `models.providers`, or what the environment says instead.
struct ProviderSettings {
  std::string name;
  std::string profile;   // deepseek, dashscope, openai or local.
  std::string base_url;  // Empty: the profile's.
  std::string api_key_env;
  std::string api_key_file;
  std::vector<std::string> models;  // Names, and patterns such as tok-*.
  bool free = false;
  std::string thinking = "default";  // default, on or off.
  std::string reasoning_effort;
  std::int64_t max_output_tokens = 0;  // 0: the vendor's.
  std::int64_t connect_timeout_s = 10;
  std::int64_t first_token_timeout_s = 300;
  std::int64_t idle_timeout_s = 120;
  std::int64_t total_timeout_s = 1800;
  bool http2 = false;

  bool from_environment = false;  // It is what RUNNEL_MODEL names.
  model::Secret api_key;          // From the environment; else it is read from the two places above.
  std::string price;              // RUNNEL_MODEL_PRICE.
};

// The list at `node`. Fails with `invalid`, naming file and line.
Result<std::vector<ProviderSettings>> read_providers(YAML::Node const& node, std::string const& file);

// `configured` with what the environment says (CFG-2): the model of RUNNEL_MODEL_BASE_URL and RUNNEL_MODEL
// before all; where nothing is configured, DeepSeek and DashScope, if their keys are set.
Result<std::vector<ProviderSettings>> with_environment(std::vector<ProviderSettings> configured,
                                                       char const* const* environment);

// The variables in which vendors' keys are found.
struct VendorKey {
  std::string_view profile;
  std::string_view variable;
  std::string_view base_url;
  bool has_models = false;  // The key alone is enough: its models are known.
};
std::vector<VendorKey> vendor_keys();

// Whether the name is one of those variables.
bool is_provider_variable(std::string_view name);

}  // namespace runnel::app
