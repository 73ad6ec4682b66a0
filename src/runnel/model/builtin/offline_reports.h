#pragma once

#include <string>
#include <vector>

#include "runnel/model/builtin/offline_plan.h"
#include "runnel/model/builtin/offline_request.h"
#include "runnel/model/builtin/offline_results.h"
#include "runnel/model/builtin/offline_wording.h"

// What the offline model says about results. It claims nothing that a result does not say.
namespace runnel::model {

class Reports {
 public:
  Reports(Request const& request, Moment const& moment)
      : request_{request}, moment_{moment}, chinese_{request.chinese} {}

  [[nodiscard]] Reply created(ToolResult const& result) const;
  [[nodiscard]] Reply changed(ToolResult const& result, FoundEvent const& before) const;
  [[nodiscard]] Reply shown_events(ToolResult const& result) const;
  [[nodiscard]] Reply found_events(std::vector<FoundEvent> const& events) const;
  [[nodiscard]] Reply shown_invites(ToolResult const& result) const;
  [[nodiscard]] Reply shared(ToolResult const& result, FoundContact const& contact,
                             FoundEvent const& event) const;
  [[nodiscard]] Reply answered(ToolResult const& result, FoundEvent const& invite) const;
  [[nodiscard]] Reply shown_contacts(std::vector<FoundContact> const& contacts) const;
  [[nodiscard]] Reply remembered(ToolResult const& result) const;
  [[nodiscard]] Reply recalled(ToolResult const& result) const;

  // None or several may be meant, so that nothing was changed.
  [[nodiscard]] Reply not_one_event(std::vector<FoundEvent> const& meant,
                                    std::vector<FoundEvent> const& all) const;
  [[nodiscard]] Reply not_one_invite(std::vector<FoundEvent> const& meant,
                                     std::vector<FoundEvent> const& all) const;
  [[nodiscard]] Reply not_one_contact(std::vector<FoundContact> const& meant) const;
  [[nodiscard]] Reply no_user(FoundContact const& contact) const;

 private:
  [[nodiscard]] std::string say(Words const& words) const { return words.in(chinese_); }
  [[nodiscard]] std::vector<std::string> lines(std::vector<FoundEvent> const& events) const;
  [[nodiscard]] std::string time_words() const;
  [[nodiscard]] std::string conflict_words(ToolResult const& result) const;
  [[nodiscard]] Reply report(std::string text) const;
  [[nodiscard]] Reply question(std::string text) const;

  Request const& request_;
  Moment const& moment_;
  bool chinese_;
};

}  // namespace runnel::model
