#pragma once

#include <string>
#include <vector>

#include "runnel/api/router.h"
#include "runnel/core/json/text.h"

namespace runnel::http {

// What a run may use: it is fixed when the server starts.
struct Listings {
  struct Stage {
    std::string name;
    std::vector<std::string> tools;
    std::string kind;           // Empty if it is a normal stage.
    bool client_tools = false;  // Whether it may call tools that the client brings.
  };
  struct Flow {
    std::string name;
    std::string description;
    bool is_default = false;
    std::vector<Stage> stages;
  };
  struct Model {
    std::string name;
    bool is_pattern = false;  // `*` stands for any text.
    bool is_default = false;
  };
  struct Tool {
    std::string name;  // module.method
    std::string description;
    JsonText input_schema;
  };

  std::vector<Flow> flows;
  std::vector<Model> models;
  std::vector<Tool> tools;
};

// GET /api/v1/flows, /api/v1/models and /api/v1/tools (RUN-1). The answers are made once.
void add_listing_routes(api::Router& router, Listings const& listings);

}  // namespace runnel::http
