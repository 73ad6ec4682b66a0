#pragma once

#include <vector>

#include "runnel/modules/contacts/repository.h"

namespace runnel::modules::contacts {

// The people that a new user of dev mode knows. Two of them are users of the server.
std::vector<Contact> demo_contacts();

}  // namespace runnel::modules::contacts
