#pragma once

#include <string>
#include <utility>

#include "runnel/model/provider.h"

namespace runnel::model {

// A request with one message from a user.
inline CallRequest ask(std::string model, std::string text) {
  CallRequest request;
  request.model = std::move(model);
  PromptMessage message;
  message.text = std::move(text);
  request.messages.push_back(std::move(message));
  return request;
}

}  // namespace runnel::model
