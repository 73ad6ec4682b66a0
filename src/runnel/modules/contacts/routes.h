#pragma once

#include "runnel/api/router.h"
#include "runnel/modules/module.h"

namespace runnel::modules::contacts {

// /api/v1/contacts: the caller's own contacts, for apps.
void add_contact_routes(api::Router& router, Context const& context);

}  // namespace runnel::modules::contacts
