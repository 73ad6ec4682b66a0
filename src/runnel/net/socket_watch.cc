#include "runnel/net/socket_watch.h"

#include <utility>

namespace runnel::net {

bool SocketWatch::begin(int what) {
  boost::system::error_code error;
  descriptor_.assign(socket_, error);
  if (error) return false;
  if (what & CURL_POLL_IN) wait(shared_from_this(), Descriptor::wait_read, CURL_CSELECT_IN);
  if (what & CURL_POLL_OUT) wait(shared_from_this(), Descriptor::wait_write, CURL_CSELECT_OUT);
  return true;
}

void SocketWatch::end() {
  loop_ = nullptr;
  if (descriptor_.is_open()) descriptor_.release();
}

void SocketWatch::wait(std::shared_ptr<SocketWatch> self, Descriptor::wait_type direction, int bit) {
  auto& descriptor = self->descriptor_;
  descriptor.async_wait(direction,
                        [self = std::move(self), direction, bit](boost::system::error_code error) mutable {
                          if (self->loop_ != nullptr)
                            ready(std::move(self), direction, error ? CURL_CSELECT_ERR : bit);
                        });
}

void SocketWatch::ready(std::shared_ptr<SocketWatch> self, Descriptor::wait_type direction, int bit) {
  auto const loop = self->loop_->shared_from_this();
  loop->act(self->socket_, bit);
  bool const goes_on = self->loop_ != nullptr && bit != CURL_CSELECT_ERR;
  if (goes_on) wait(std::move(self), direction, bit);
  loop->tell_news();
}

}  // namespace runnel::net
