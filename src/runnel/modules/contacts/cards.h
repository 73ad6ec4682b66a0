#pragma once

#include <vector>

#include "runnel/core/card/card.h"

namespace runnel::modules::contacts {

// The card of contacts.read (TOOL-8). It is made from
// {"contacts":[{"name","email"?,"phone"?,"organization"?}…], "count","more"}.
std::vector<CardForm> card_forms();

}  // namespace runnel::modules::contacts
