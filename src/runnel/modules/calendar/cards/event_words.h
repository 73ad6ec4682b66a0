#pragma once

#include <boost/json/object.hpp>

#include <optional>
#include <string>

#include "runnel/core/card/card.h"
#include "runnel/core/time/zone.h"

// When an event takes place, in words.
namespace runnel::modules::calendar {

// Puts the times of events into words for one reader.
class EventWords {
 public:
  explicit EventWords(CardReader const& reader);

  // When the event of a card's hints takes place (cards.h): "2026年5月1日 周五 11:00–12:00", or
  // "Fri, 1 May 2026, 11:00–12:00". Times are those of the reader's zone; if this machine does not know it,
  // they are in UTC and say so. Empty if the event has neither instants nor dates.
  [[nodiscard]] std::string when(boost::json::object const& event) const;

  [[nodiscard]] bool is_chinese() const { return chinese_; }
  [[nodiscard]] std::string pick(char const* english, char const* chinese) const {
    return chinese_ ? chinese : english;
  }

 private:
  [[nodiscard]] std::string at_times(std::int64_t start_ms, std::int64_t end_ms) const;
  [[nodiscard]] std::string on_days(std::chrono::local_days first, std::chrono::local_days last) const;
  [[nodiscard]] std::string day(std::chrono::local_days day) const;
  [[nodiscard]] LocalMinute local(std::int64_t ms) const;

  bool chinese_;
  std::optional<Zone> zone_;
};

}  // namespace runnel::modules::calendar
