#pragma once

#include <vector>

#include "runnel/core/card/card.h"

namespace runnel::modules::memory {

// The card of memory.update (TOOL-8). It is made from {"kind","outcome","content"}, where the content is what
// was sent: strings, lists and objects.
std::vector<CardForm> card_forms();

}  // namespace runnel::modules::memory
