#pragma once

#include <string>

#include "runnel/store/rows.h"

// The messages that a thread shows, as the list of messages of AG-UI (AGUI-5, AGUI-8): with the ids, texts
// and tool calls that its clients make of the events of the same messages.
namespace runnel::runtime {

// Appends one message. `metadata` is that of its row, and says what the row is.
void append_shown_message(std::string& out, MessageId const& id, store::Role role, std::string const& content,
                          std::string const& metadata);

}  // namespace runnel::runtime
