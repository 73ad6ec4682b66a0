#pragma once

#include "runnel/core/error.h"
#include "runnel/store/store.h"

namespace runnel::store {

// The answer to a call that no engine needs to see.
template <class T>
Async<T> refused(Error error) {
  co_return error;
}

}  // namespace runnel::store
