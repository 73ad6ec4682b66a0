#include "runnel/base/cores.h"

#include <algorithm>

namespace runnel::base {
namespace {
struct Here {
  Cores const* cores = nullptr;
  std::size_t index = 0;
};
thread_local Here here;
}  // namespace

Cores::Cores(std::size_t count) {
  for (std::size_t i = 0; i < std::max<std::size_t>(count, 1); ++i)
    cores_.push_back(std::make_unique<Core>());
}

Cores::~Cores() {
  stop();
}

std::size_t Cores::current() const {
  return here.cores == this ? here.index : size();
}

void Cores::start() {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    cores_[i]->thread = std::thread([this, i] {
      here = {this, i};
      cores_[i]->context.run();
    });
  }
}

void Cores::stop() {
  for (auto& core : cores_)
    core->context.stop();
  for (auto& core : cores_) {
    if (core->thread.joinable()) core->thread.join();
  }
}

}  // namespace runnel::base
