#pragma once

#include "runnel/modules/module.h"

namespace runnel::modules::contacts {

// The people that a user knows. Apps manage them under /api/v1/contacts; models read them with contacts.read.
Definition define();

}  // namespace runnel::modules::contacts
