#pragma once

#include <string>
#include <string_view>

#include "runnel/core/card/card.h"

namespace runnel::tools {

// A card as an A2UI v0.9 surface of the basic catalog (TOOL-8):
// {"format":"a2ui","version":"v0.9","messages":[createSurface, updateComponents, updateDataModel]}. The
// surface's id must be unique in a conversation.
//
// The components are the same for all cards. What users and models have written is only in the data model,
// and is shown by kinds of text that renderers do not read as Markdown, so it can neither become a component
// nor a link.
std::string write_a2ui(Card const& card, std::string_view surface_id);

}  // namespace runnel::tools
