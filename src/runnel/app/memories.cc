#include "runnel/app/memories.h"

#include <utility>

#include "runnel/core/json/write.h"

namespace runnel::app {

namespace {

std::vector<std::string> as_texts(std::vector<modules::memory::Memory> const& memories) {
  std::vector<std::string> out;
  for (auto const& memory : memories) {
    JsonObject object{out.emplace_back()};
    object.text("kind", to_string(memory.kind)).raw("content", memory.content).close();
  }
  return out;
}

}  // namespace

store::Async<std::vector<std::string>> NotedMemories::of(UserId user) {
  auto const found = co_await repository_.all(std::move(user));
  if (!found) co_return found.error();
  co_return as_texts(*found);
}

}  // namespace runnel::app
