#include "runnel/modules/contacts/commands.h"

#include <array>

namespace runnel::modules::contacts {

namespace {

constexpr std::array kMethods{
    CommandMethod{"read", "lists or searches contacts, or shows one"},
};

}  // namespace

CommandModule commands() {
  return {"contacts", "the people that the user knows", kMethods};
}

}  // namespace runnel::modules::contacts
