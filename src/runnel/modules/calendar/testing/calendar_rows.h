#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "runnel/modules/calendar/module.h"
#include "runnel/modules/calendar/repository.h"
#include "runnel/store/testing/store_contract.h"

namespace runnel::modules::calendar {

// Tests of the calendar's statements, on each engine.
class CalendarRowsContract : public store::StoreContract {
 protected:
  [[nodiscard]] std::vector<store::Migration> module_migrations() const override {
    return define().migrations;
  }

  Result<store::SqlResult> write(store::SqlStatement statement) {
    return run_async(store().write_one(std::move(statement)));
  }
  void add(Event const& event, UserId const& owner = store::kAnn) {
    ASSERT_TRUE(write(add_event(owner, event, store::kNow)));
  }
};

}  // namespace runnel::modules::calendar
