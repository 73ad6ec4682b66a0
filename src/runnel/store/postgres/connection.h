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
#include "runnel/store/sql.h"

// libpq in pipeline mode on Asio.
namespace runnel::store::postgres {

// A statement and its parameters.
class Statement {
 public:
  // `sql` names the prepared statement and must live as long as the connection, as a literal does. Text is
  // sent with its length, so that a NUL in it is an error of the server and does not silently end the text.
  template <class... Args>
  explicit Statement(char const* sql, Args const&... args) : sql_{sql} {
    parameters_.reserve(sizeof...(args));
    (add(args), ...);
  }

  enum class Answers { rows, nothing };

  // For the SQL layer: the server infers the types of the parameters. No value may hold a NUL (`check` in
  // store/sql.h). `nothing` means that the returned rows are only a check and not a result.
  Statement(char const* sql, std::vector<SqlValue> const& values, Answers answers = Answers::rows);

  [[nodiscard]] bool only_counts() const { return answers_ == Answers::nothing; }

  struct Parameter {
    Oid type = 0;  // 0 if the server infers it.
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
  Answers answers_ = Answers::rows;
};

// The rows of an answer.
class Rows {
 public:
  explicit Rows(PGresult const* result) : result_{result} {}

  [[nodiscard]] int size() const { return PQntuples(result_); }
  [[nodiscard]] int columns() const { return PQnfields(result_); }
  [[nodiscard]] bool is_integer(int column) const;
  [[nodiscard]] bool is_null(int row, int column) const { return PQgetisnull(result_, row, column) != 0; }
  [[nodiscard]] std::int64_t integer(int row, int column) const;  // 0 if it is NULL.
  [[nodiscard]] bool boolean(int row, int column) const { return text(row, column) == "t"; }
  [[nodiscard]] std::string text(int row, int column) const;  // Empty if it is NULL.

 private:
  PGresult const* result_;
};

// One connection. Each call is a pipeline segment of its own: its statements and a Sync. A segment is one
// implicit transaction, so a call that fails does not affect the calls before and after it. Calls are sent as
// they come, without waiting for the answers to earlier ones, and are executed in that order.
//
// A transaction that the server undid because of a concurrent one (40001, 40P01) is sent again, a limited
// number of times; calls that were already sent are then executed before it. If the connection breaks or the
// server does not answer for too long, all calls that are sent or waiting fail with `unavailable` (the
// outcome of the sent ones is unknown), and the next call connects again.
//
// Lives on the io_context that it is given, which one thread runs. `call` and `call_all` may be called from
// any thread.
class Connection {
 public:
  Connection(boost::asio::io_context& context, std::string url);
  Connection(Connection const&) = delete;
  Connection& operator=(Connection const&) = delete;
  // The io_context must have stopped running.
  ~Connection();

  // `decode` is a `Result<T>(Rows const&)`. It is called on the io_context's thread; an exception from it
  // becomes `internal`.
  template <class T, class Decode>
  Async<T> call(Statement statement, Decode decode) {
    return base::wait_for_reply<T>([this, statement = std::move(statement), decode = std::move(decode)](
                                       std::unique_ptr<base::Reply<T>> reply) mutable {
      push(std::make_unique<CallOf<T, Decode>>(std::move(statement), std::move(decode), std::move(reply)));
    });
  }

  // Runs several statements as one segment, and so in one transaction. Returns the result of each.
  Async<std::vector<SqlResult>> call_all(std::vector<Statement> statements);

  // Call it on the io_context's thread when no more calls will come. It disconnects as soon as all calls are
  // answered.
  void close();

 private:
  class Call {
   public:
    explicit Call(std::vector<Statement> s) : statements{std::move(s)} {}
    Call(Call const&) = delete;
    Call& operator=(Call const&) = delete;
    virtual ~Call() = default;
    // `rows` is what the statement with this index returned.
    virtual void answer(std::size_t index, Rows const& rows) = 0;
    virtual void fail(Error error) = 0;
    virtual std::unique_ptr<base::Waiter> take_waiter() = 0;

    std::vector<Statement> const statements;
    int attempts = 0;
    std::size_t answers = 0;
    bool failed = false;
    bool repeat = false;
  };

  template <class T, class Decode>
  class CallOf final : public Call {
   public:
    CallOf(Statement s, Decode decode, std::unique_ptr<base::Reply<T>> reply)
        : Call{{std::move(s)}}, decode_{std::move(decode)}, reply_{std::move(reply)} {}
    void answer(std::size_t /*index*/, Rows const& rows) override {
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

  class SqlCall;

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
  bool send(Statement const& statement);
  bool prepare(Statement const& statement);
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
  std::vector<std::unique_ptr<Call>> arrived_;  // Guarded by the mutex; the rest is the io_context's alone.

  State state_ = State::down;
  std::unique_ptr<PGconn, Finish> pg_;
  boost::asio::posix::stream_descriptor socket_;
  boost::asio::steady_timer deadline_;
  std::uint64_t life_ = 0;  // Grows with each connection, so that handlers of an older one are ignored.
  std::map<std::string_view, std::string> prepared_;
  std::deque<std::unique_ptr<Call>> waiting_;
  std::deque<std::unique_ptr<Call>> sent_;
  std::vector<std::unique_ptr<base::Waiter>> done_;
  std::uint64_t answers_ = 0;  // Grows with everything that comes from the server; the deadline checks it.
  bool reading_ = false;
  bool writing_ = false;
  bool watching_ = false;
  bool closed_ = false;
};

}  // namespace runnel::store::postgres
