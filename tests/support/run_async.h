#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

// Runs coroutines to their end from a plain test body. What starts them is compiled once, because every type
// of result for which a test would start a coroutine itself takes the compiler a quarter of a second.
namespace runnel {

// Runs all coroutines concurrently on one thread, on a fresh io_context. An exception from a coroutine is
// thrown here.
void run_to_end(std::vector<boost::asio::awaitable<void>> work);

// The same for one coroutine on a context that other threads run.
void run_to_end_on(boost::asio::io_context& context, boost::asio::awaitable<void> work);

namespace detail {

template <class T>
boost::asio::awaitable<void> keep_outcome(boost::asio::awaitable<T> work, std::optional<T>& outcome) {
  outcome.emplace(co_await std::move(work));
}

}  // namespace detail

// The outcomes are in the order of the coroutines.
template <class T>
std::vector<T> run_all_async(std::vector<boost::asio::awaitable<T>> work) {
  std::vector<std::optional<T>> outcomes(work.size());
  std::vector<boost::asio::awaitable<void>> kept;
  for (std::size_t i = 0; i < work.size(); ++i) {
    kept.push_back(detail::keep_outcome(std::move(work[i]), outcomes[i]));
  }
  run_to_end(std::move(kept));

  std::vector<T> values;
  values.reserve(outcomes.size());
  for (auto& outcome : outcomes) {
    values.push_back(std::move(outcome.value()));
  }
  return values;
}

template <class T>
T run_async(boost::asio::awaitable<T> work) {
  std::vector<boost::asio::awaitable<T>> one;
  one.push_back(std::move(work));
  return std::move(run_all_async(std::move(one)).front());
}

template <class T>
T run_async_on(boost::asio::io_context& context, boost::asio::awaitable<T> work) {
  if constexpr (std::is_void_v<T>) {
    run_to_end_on(context, std::move(work));
  } else {
    std::optional<T> outcome;
    run_to_end_on(context, detail::keep_outcome(std::move(work), outcome));
    return std::move(outcome.value());
  }
}

}  // namespace runnel
