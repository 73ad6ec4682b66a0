#pragma once

#include <boost/asio/awaitable.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runnel/base/cancel.h"
#include "runnel/core/error.h"
#include "runnel/core/usage.h"

namespace runnel::model {

enum class Speaker { user, assistant };

struct PromptMessage {
  Speaker speaker = Speaker::user;
  std::string text;
};

struct CallRequest {
  std::string model;
  std::vector<PromptMessage> messages;  // Oldest first; the last is the user's.
};

// What a model's stream brings.
struct TextPiece {
  std::string text;
};
struct ReasoningPiece {
  std::string text;
};
struct CallFinished {
  Usage usage;
};
using CallEvent = std::variant<TextPiece, ReasoningPiece, CallFinished>;

// One answer of a model, read as it arrives.
class Call {
 public:
  Call() = default;
  Call(Call const&) = delete;
  Call& operator=(Call const&) = delete;
  virtual ~Call() = default;

  // What has arrived since the last call, at least one event; the last event of all is CallFinished. Fails
  // with `canceled` soon after `cancel` is requested; destroying the call closes what it holds.
  virtual boost::asio::awaitable<Result<std::vector<CallEvent>>> next(
      std::shared_ptr<base::Cancel> cancel) = 0;
};

// A source of models.
class Provider {
 public:
  Provider() = default;
  Provider(Provider const&) = delete;
  Provider& operator=(Provider const&) = delete;
  virtual ~Provider() = default;

  // The names it serves, for choosing and for error messages; a pattern such as `tok-*` for a family.
  [[nodiscard]] virtual std::vector<std::string> models() const = 0;

  // Whether a run may name this model. A provider with patterns says itself what they match.
  [[nodiscard]] virtual bool serves(std::string const& model) const {
    auto const names = models();
    return std::find(names.begin(), names.end(), model) != names.end();
  }

  virtual std::unique_ptr<Call> call(CallRequest request) = 0;
};

}  // namespace runnel::model
