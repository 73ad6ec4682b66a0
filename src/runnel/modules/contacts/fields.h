#pragma once

#include <boost/json/object.hpp>

#include <string_view>
#include <vector>

#include "runnel/base/schema/json_schema.h"
#include "runnel/core/json/write.h"
#include "runnel/modules/contacts/repository.h"

// A contact as JSON.
namespace runnel::modules::contacts {

// Sets the fields that `sent` has. It is valid by the schema NewContact or ContactChanges and by
// check_fields().
void set_fields(Contact& contact, boost::json::object const& sent);

// What a schema cannot judge about a body with fields of a contact: a name must not be blank, and an email
// must look like one.
std::vector<base::Violation> check_fields(std::string_view body);

// Appends {"contact_id","name"} and those of the other fields that the contact has: "email", "phone",
// "organization", "note", "user_id". The object stays open.
void append_fields(JsonObject& object, Contact const& contact);

}  // namespace runnel::modules::contacts
