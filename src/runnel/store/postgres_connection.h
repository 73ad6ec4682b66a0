#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <libpq-fe.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runnel/base/handoff.h"
#include "runnel/core/error.h"
#include "runnel/store/store.h"

// libpq in pipeline mode on Asio.
namespace runnel::store::postgres {

// A statement and its parameters. Text travels with its length, so that a NUL in it is an error of the
// server's and never a silent end.
class Statement {
 public:
  // `sql` names the prepared statement and must live as long as the connection: a literal.
  template <class... Args>
  explicit Statement(char const* sql, Args const&... args) : sql_{sql} {
    parameters_.reserve(sizeof...(args));
    (add(args), ...);
  }

  struct Parameter {
    Oid type = 0;
    bool binary = false;
    std::optional<std::string> bytes;
  };
  [[nodiscard]] char const* sql() const { return sql_; }
  [[nodiscard]] std::vector<Parameter> const& parameters() const { return parameters_; }

 private:
  static constexpr Oid kInt8 = 20;
  static constexpr Oid kText = 25;

  template <std::integral T>
  void add(T value) {
    parameters_.push_back({kInt8, false, std::to_string(value)});
  }
  void add(char const* value) { parameters_.push_back({kText, true, std::string{value}}); }
  void add(std::string const& value) { parameters_.push_back({kText, true, value}); }
  void add(std::optional<std::string> value) { parameters_.push_back({kText, true, std::move(value)}); }

  char const* sql_;
  std::vector<Parameter> parameters_;
};

// The rows of an answer.
class Rows {
 public:
  explicit Rows(PGresult const* result) : result_{result} {}

  [[nodiscard]] int size() const { return PQntuples(result_); }
  [[nodiscard]] bool is_null(int row, int column) const { return PQgetisnull(result_, row, column) != 0; }
  [[nodiscard]] std::int64_t integer(int row, int column) const;  // Null: 0.
  [[nodiscard]] bool boolean(int row, int column) const { return text(row, column) == "t"; }
  [[nodiscard]] std::string text(int row, int column) const;  // Null: empty.

 private:
  PGresult const* result_;
};

// One connection. Each call is a pipeline segment of its own: one statement and a Sync, which is one implicit
// transaction, so that a call that fails leaves those before and behind it alone. Calls are sent as they
// come, without waiting for the answers of earlier ones, and are executed in that order.
//
// A transaction that the server undid because of what ran beside it (40001, 40P01) is sent again, a bounded
// number of times. Where the connection breaks or the server is silent for too long, all calls that were sent
// or wait fail with `unavailable` (the outcome of the sent ones is unknown), and the next call connects anew.
//
// Lives on the io_context that it is given, which one thread runs; `call` may come from any thread.
class Connection {
 public:
  Connection(boost::asio::io_context& context, std::string url);
  Connection(Connection const&) = delete;
  Connection& operator=(Connection const&) = delete;
  // When the io_context runs no more.
  ~Connection();

  // `decode` is a `Result<T>(Rows const&)`, called on the io_context's thread; what it throws becomes
  // `internal`.
  template <class T, class Decode>
  Async<T> call(Statement statement, Decode decode) {
    return base::wait_for_reply<T>([this, statement = std::move(statement), decode = std::move(decode)](
                                       std::unique_ptr<base::Reply<T>> reply) mutable {
      push(std::make_unique<CallOf<T, Decode>>(std::move(statement), std::move(decode), std::move(reply)));
    });
  }

  // From the io_context's thread, when no more calls come: disconnects as soon as those that came are
  // answered.
  void close();

 private:
  class Call {
   public:
    explicit Call(Statement s) : statement{std::move(s)} {}
    Call(Call const&) = delete;
    Call& operator=(Call const&) = delete;
    virtual ~Call() = default;
    virtual void answer(Rows const& rows) = 0;
    virtual void fail(Error error) = 0;
    virtual std::unique_ptr<base::Waiter> take_waiter() = 0;

    Statement statement;
    int attempts = 0;
    bool answered = false;
    bool repeat = false;
  };

  template <class T, class Decode>
  class CallOf final : public Call {
   public:
    CallOf(Statement s, Decode decode, std::unique_ptr<base::Reply<T>> reply)
        : Call{std::move(s)}, decode_{std::move(decode)}, reply_{std::move(reply)} {}
    void answer(Rows const& rows) override {
      try {
        reply_->set(decode_(rows));
      } catch (std::exception const& e) {
        reply_->set(Error{Errc::internal, e.what()});
      }
    }
    void fail(Error error) override { reply_->set(std::move(error)); }
    std::unique_ptr<base::Waiter> take_waiter() override { return std::move(reply_); }

   private:
    Decode decode_;
    std::unique_ptr<base::Reply<T>> reply_;
  };

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  enum class State { down, connecting, ready };

  void push(std::unique_ptr<Call> call);
  void take_in();
  void connect();
  void on_connect_step();
  void wait_to_connect(bool for_write);
  void work();
  bool send(Call& call);
  bool prepare(char const* sql, std::string const& name, std::vector<Oid> const& types);
  void flush();
  void wait_readable();
  void on_readable();
  void take_result(PGresult const* result);
  void finish_segment();
  void lose(Error const& error);
  void watch();
  void hold_descriptor();

  boost::asio::io_context& context_;
  std::string const url_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Call>> arrived_;  // Guarded by the mutex; all else is the io_context's.

  State state_ = State::down;
  std::unique_ptr<PGconn, Finish> pg_;
  boost::asio::posix::stream_descriptor socket_;
  boost::asio::steady_timer deadline_;
  std::uint64_t life_ = 0;  // Grows with each connection: what was begun for an older one is ignored.
  std::map<std::string_view, std::string> prepared_;
  std::deque<std::unique_ptr<Call>> waiting_;
  std::deque<std::unique_ptr<Call>> sent_;
  std::vector<std::unique_ptr<base::Waiter>> done_;
  std::uint64_t answers_ = 0;  // Segments finished: what the deadline looks at.
  bool reading_ = false;
  bool writing_ = false;
  bool watching_ = false;
  bool closed_ = false;
};

}  // namespace runnel::store::postgres
