#include "runnel/protocol/sse_frame.h"

namespace runnel::protocol {
namespace {

std::string& append_head(std::string& out, Position id, std::string_view type) {
  out += "id: ";
  append_position(out, id);
  out += "\nevent: ";
  out += type;
  out += "\ndata: ";
  return out;
}

}  // namespace

SseFrame::SseFrame(std::string& out, Position id, std::string_view type)
    : json{append_head(out, id, type)}, out_{out} {
  json.text("type", type);
}

void SseFrame::end() {
  json.close();
  out_ += "\n\n";
}

}  // namespace runnel::protocol
