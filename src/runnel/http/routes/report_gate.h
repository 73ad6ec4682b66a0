#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "runnel/api/message.h"
#include "runnel/core/ids.h"

namespace runnel::http {

// Limits how many reports may wait for the store's lane that reads them: few per user, so that other users
// get theirs, and few in total, so that none waits long. Any thread may call it.
class ReportGate : public std::enable_shared_from_this<ReportGate> {
 public:
  struct Limits {
    std::size_t of_user = 4;
    std::size_t in_all = 32;
  };
  enum class Verdict { enters, user_has_enough, full };

  explicit ReportGate(Limits limits) : limits_{limits} {}

  // A report in progress, until the slot is destroyed.
  class Slot {
   public:
    Slot(std::shared_ptr<ReportGate> gate, UserId const& user)
        : gate_{std::move(gate)}, user_{user.text}, verdict_{gate_->enter(user_)} {}
    Slot(Slot const&) = delete;
    Slot& operator=(Slot const&) = delete;
    ~Slot() {
      if (verdict_ == Verdict::enters) gate_->leave(user_);
    }
    [[nodiscard]] Verdict verdict() const { return verdict_; }

   private:
    std::shared_ptr<ReportGate> gate_;
    std::string user_;
    Verdict verdict_;
  };

 private:
  Verdict enter(std::string const& user) {
    std::lock_guard const lock{mutex_};
    if (all_ >= limits_.in_all) return Verdict::full;
    auto& count = by_user_[user];
    if (count >= limits_.of_user) return Verdict::user_has_enough;
    ++count;
    ++all_;
    return Verdict::enters;
  }
  void leave(std::string const& user) {
    std::lock_guard const lock{mutex_};
    --all_;
    auto const found = by_user_.find(user);
    if (--found->second == 0) by_user_.erase(found);
  }

  Limits const limits_;
  std::mutex mutex_;
  std::size_t all_ = 0;
  std::unordered_map<std::string, std::size_t> by_user_;
};

// The answer for a report that does not enter.
api::Response too_many_reports(ReportGate::Verdict verdict);

}  // namespace runnel::http
