#pragma once

#include <unistd.h>

#include <utility>

namespace runnel::base {

// An open file descriptor, closed with the object. Negative if there is none.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_{descriptor} {}
  Descriptor(Descriptor&& other) noexcept : descriptor_{other.release()} {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  // From here on the caller must close the descriptor.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

}  // namespace runnel::base
