#include "runnel/protocol/web_socket_envelope.h"

#include "runnel/protocol/web_socket_frame.h"

namespace runnel::protocol {
namespace {

// Room for the head of a message of up to 125 bytes.
constexpr std::size_t kShortHead = 2;

void open_message(std::string& out, Record const& /*record*/, std::string_view /*type*/) {
  out.append(kShortHead, '\0');
}

// Writes the head, whose size depends on that of the message. The message moves if its head is a long one.
void close_message(std::string& out, std::size_t begin) {
  WebSocketHead const head{WebSocketOpcode::text, out.size() - begin - kShortHead};
  out.replace(begin, kShortHead, head.bytes());
}

}  // namespace

constinit Envelope const kWebSocketText{&open_message, &close_message};

}  // namespace runnel::protocol
