#pragma once

#include <cstdint>
#include <optional>

#include "runnel/model/builtin/offline_text.h"

// How much earlier or later something is than an event. That is no length of the event.
namespace runnel::model {

// 提前10分钟提醒我, "remind me 10 minutes before": the minutes before the start. Only the user is reminded,
// so 提前10分钟通知王伟 is none.
std::optional<std::int64_t> take_reminder(Scan& scan);

// 提前10分钟, 10分钟前, "10 minutes before". Returns whether it was there.
bool pass_shift(Scan& scan);

// Whether what stands behind 推迟一小时 leaves it a command to move an event: nothing, or words such as 吧.
bool ends_move(Scan scan);

}  // namespace runnel::model
