#pragma once

#include <vector>

#include "runnel/modules/contacts/repository.h"
#include "runnel/modules/method.h"

namespace runnel::modules::contacts {

// The code of a failure of contacts.read, besides kInvalidInput.
inline constexpr char kNotFound[] = "NOT_FOUND";  // Also for another user's contact.

// contacts.read:
// {"items":[{"contact_id","name","email"?,"phone"?,"organization"?,"note"?,"user_id"?}…],"count", "more"} of
// the caller's own contacts. If there are more, a list also has "next_cursor".
std::vector<Method> contact_methods(Repository repository);

}  // namespace runnel::modules::contacts
