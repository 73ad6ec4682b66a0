#pragma once

#include "runnel/core/error.h"
#include "runnel/store/store.h"

namespace runnel::store {

// The answer to a call that is refused before it reaches the engine.
template <class T>
Async<T> refused(Error error) {
  co_return error;
}

}  // namespace runnel::store
