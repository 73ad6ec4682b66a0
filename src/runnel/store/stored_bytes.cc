#include "runnel/store/stored_bytes.h"

namespace runnel::store {

namespace {

std::int64_t size_of(NewMessage const& message) {
  return static_cast<std::int64_t>(message.content.size() + message.metadata.size());
}

}  // namespace

StoredBytes bytes_of(Begin const& begin) {
  StoredBytes bytes{static_cast<std::int64_t>(begin.facts.body.size()), 0};
  if (!begin.user_message.id.empty()) bytes.kept += size_of(begin.user_message);
  for (auto const& closing : begin.closings)
    bytes.kept += size_of(closing);
  return bytes;
}

StoredBytes bytes_of(AppendRequest const& request) {
  StoredBytes bytes{static_cast<std::int64_t>(request.facts.body.size()), 0};
  for (auto const& checkpoint : request.checkpoints) {
    bytes.log += static_cast<std::int64_t>(checkpoint.body.size());
  }
  for (auto const& message : request.messages) {
    bytes.kept += size_of(message);
  }
  return bytes;
}

}  // namespace runnel::store
