#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <optional>
#include <utility>
#include <vector>

// Runs coroutines to their end from a plain test body, each time on a fresh io_context.
namespace runnel {

// Runs all coroutines concurrently on one thread. The outcomes are in the order of the coroutines. An
// exception from a coroutine is thrown here.
template <class T>
std::vector<T> run_all_async(std::vector<boost::asio::awaitable<T>> work) {
  boost::asio::io_context context{1};
  std::vector<std::optional<T>> outcomes(work.size());
  std::exception_ptr thrown;
  for (std::size_t i = 0; i < work.size(); ++i) {
    boost::asio::co_spawn(context, std::move(work[i]),
                          [&outcomes, &thrown, i](std::exception_ptr e, T value) {
                            if (e) {
                              thrown = e;
                            } else {
                              outcomes[i].emplace(std::move(value));
                            }
                          });
  }
  context.run();
  if (thrown) std::rethrow_exception(thrown);

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

}  // namespace runnel
