#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a user sees of a tool call's result (TOOL-8). A module says what its cards are made from and in which
// words they tell it; tools/cards writes them in the form that clients render.
namespace runnel {

// Who reads a card.
struct CardReader {
  std::string language;  // The language of the user's interface, a BCP 47 tag.
  std::string timezone;  // A name in the IANA database.

  // Cards are in Chinese for readers of any Chinese, and in English for all others.
  [[nodiscard]] bool reads_chinese() const { return language == "zh" || language.starts_with("zh-"); }
};

// One thing that a card tells of, such as an event.
struct CardItem {
  std::string title;
  std::string badge;  // A word or two about it, such as "pending". Empty if there is none.
  std::vector<std::string> lines;
};

// All texts are plain text.
struct Card {
  std::string title;
  std::vector<CardItem> items;
  std::string note;  // What stands below the items. Empty if there is nothing to say.
};

// A card has at most this many items; its note says how many are not shown.
inline constexpr std::size_t kMostCardItems = 20;

// A call that has succeeded, at least in part.
struct CardCall {
  boost::json::object const& input;
  boost::json::object const& data;
};

// The card of one method.
struct CardForm {
  std::string_view method;  // "module.method"
  // What the card is made from (`ui_hints`): facts, the same in all languages. Nothing if this result has no
  // card.
  std::function<std::optional<boost::json::object>(CardCall const&)> hints;
  // The card, from what `hints` has returned.
  std::function<Card(boost::json::object const&, CardReader const&)> make;
};

}  // namespace runnel
