#pragma once

#include <yaml-cpp/node/node.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runnel/core/error.h"
#include "runnel/model/secret.h"

namespace runnel::app {

// One entry of `models.providers`, or a provider that the environment defines.
struct ProviderSettings {
  std::string name;
  std::string profile;   // deepseek, dashscope, openai or local.
  std::string base_url;  // Empty for the profile's own.
  std::string api_key_env;
  std::string api_key_file;
  std::vector<std::string> models;  // Names, and patterns such as tok-*.
  bool free = false;
  std::string thinking = "default";  // default, on or off.
  std::string reasoning_effort;
  std::int64_t max_output_tokens = 0;  // 0 for the vendor's own limit.
  std::int64_t connect_timeout_s = 10;
  std::int64_t first_token_timeout_s = 300;
  std::int64_t idle_timeout_s = 120;
  std::int64_t total_timeout_s = 1800;
  bool http2 = false;

  bool from_environment = false;  // Whether RUNNEL_MODEL names this provider's model.
  model::Secret api_key;          // From the environment. If empty, it is read from the two places above.
  std::string price;              // RUNNEL_MODEL_PRICE.
};

// Reads the list at `node`. Fails with `invalid`, and the detail names the file and the line.
Result<std::vector<ProviderSettings>> read_providers(YAML::Node const& node, std::string const& file);

// Adds the providers of the environment to `configured` (CFG-2). The model of RUNNEL_MODEL_BASE_URL and
// RUNNEL_MODEL comes first. If nothing is configured, DeepSeek and DashScope are added if their keys are set.
Result<std::vector<ProviderSettings>> with_environment(std::vector<ProviderSettings> configured,
                                                       char const* const* environment);

// An environment variable that holds a vendor's key.
struct VendorKey {
  std::string_view profile;
  std::string_view variable;
  std::string_view base_url;
  bool has_models = false;  // Whether the key alone is enough, because the vendor's models are known.
};
std::vector<VendorKey> vendor_keys();

// Whether the name is RUNNEL_MODEL or one of the other RUNNEL_MODEL_… variables that `with_environment`
// reads.
bool is_provider_variable(std::string_view name);

}  // namespace runnel::app
