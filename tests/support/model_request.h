#pragma once

#include <string>
#include <utility>

#include "runnel/model/provider.h"

namespace runnel::model {

// A user's one message to a model.
inline CallRequest ask(std::string model, std::string text) {
  CallRequest request;
  request.model = std::move(model);
  PromptMessage message;
  message.text = std::move(text);
  request.messages.push_back(std::move(message));
  return request;
}

}  // namespace runnel::model
