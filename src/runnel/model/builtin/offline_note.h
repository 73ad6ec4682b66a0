#pragma once

#include <string>

#include "runnel/model/builtin/offline_text.h"

// What a user asks to be remembered.
namespace runnel::model {

struct Note {
  std::string kind;   // "user" or "work_profile".
  std::string field;  // "likes".
  bool in_list = false;
  std::string value;    // Empty if nothing is to be remembered.
  bool secret = false;  // It speaks of a password or the like, which must not be noted.
};

// `words` is what follows "remember that". What fits no other field is a note as it was written.
Note to_note(OfflineText const& words);

}  // namespace runnel::model
