#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace runnel {

// A textual id. The tag keeps one kind of id from being mistaken for another.
template <class Tag>
struct TextId {
  std::string text;

  TextId() = default;
  explicit TextId(std::string value) : text{std::move(value)} {}
  [[nodiscard]] bool empty() const { return text.empty(); }
  auto operator<=>(TextId const&) const = default;
};

// A row's key, minted by the store; never shown to a client.
template <class Tag>
struct RowKey {
  std::int64_t value = 0;

  auto operator<=>(RowKey const&) const = default;
};

using UserId = TextId<struct UserTag>;
using ThreadId = TextId<struct ThreadTag>;  // Chosen by the client or minted; unique per owner.
using RunId = TextId<struct RunTag>;        // Likewise.
using MessageId = TextId<struct MessageTag>;
using ToolCallId = TextId<struct ToolCallTag>;
using NodeId = TextId<struct NodeTag>;

using ThreadKey = RowKey<struct ThreadKeyTag>;
using RunKey = RowKey<struct RunKeyTag>;

// The writer's claim on a run, which is also the fencing token (SSE-1): a number of milliseconds that only
// grows. 0 if the run was never claimed.
using Epoch = std::int64_t;

// The longest id a client may choose.
inline constexpr std::size_t kMaxIdLength = 128;

// Whether a client may use this text as an id: 1–128 visible ASCII characters, so that it is safe in a
// header, a URL and a log line.
bool is_usable_id(std::string const& text);

// The id of the run that this id is an alias of: the part before a '~' and digits at its end. Empty if the id
// does not have that form. Clients' own run ids may not have it (AGUI-4).
RunId base_of_alias(RunId const& id);

// A new version 7 UUID (RFC 9562): the time in milliseconds, followed by random bits from the system's
// entropy.
std::string mint_uuid();

}  // namespace runnel

template <class Tag>
struct std::hash<runnel::TextId<Tag>> {
  std::size_t operator()(runnel::TextId<Tag> const& id) const { return std::hash<std::string>{}(id.text); }
};
template <class Tag>
struct std::hash<runnel::RowKey<Tag>> {
  std::size_t operator()(runnel::RowKey<Tag> const& key) const {
    return std::hash<std::int64_t>{}(key.value);
  }
};
