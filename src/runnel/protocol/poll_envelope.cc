#include "runnel/protocol/poll_envelope.h"

namespace runnel::protocol {
namespace {

void open_element(std::string& /*out*/, Record const& /*record*/, std::string_view /*type*/) {}

void close_element(std::string& out, std::size_t /*begin*/) {
  out += kPollSeparator;
}

}  // namespace

constinit Envelope const kPollElement{&open_element, &close_element};

}  // namespace runnel::protocol
