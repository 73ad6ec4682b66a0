#include "runnel/modules/contacts/demo.h"

#include <string>

namespace runnel::modules::contacts {

namespace {

Contact contact(char const* id, char const* name, char const* email, char const* phone, char const* user_id) {
  Contact out;
  out.id = id;
  out.name = name;
  out.email = email;
  out.phone = phone;
  out.user_id = user_id;
  return out;
}

}  // namespace

std::vector<Contact> demo_contacts() {
  return {contact("con_demo_wei", "王伟 Wang Wei", "wei@example.com", "+86 10 5555 0101", "wei"),
          contact("con_demo_ann", "Ann Miller", "ann@example.com", "+44 20 7946 0102", "ann"),
          contact("con_demo_na", "李娜 Li Na", "na@example.com", "+86 10 5555 0103", "")};
}

}  // namespace runnel::modules::contacts
