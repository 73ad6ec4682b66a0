#include "runnel/store/postgres/connection.h"

#include <boost/asio/post.hpp>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>

#include "runnel/store/postgres/error.h"
#include "runnel/store/postgres/sql.h"

namespace runnel::store::postgres {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Enough calls to keep the server busy for a round trip. More would only delay a call that has to be
// repeated, because a repeat is sent after them.
constexpr std::size_t kMaxSent = 64;
constexpr int kMaxAttempts = 8;
// If no answer comes for this long while one is due, or while connecting, the server counts as lost.
constexpr std::chrono::seconds kSilence{10};

// Asio may report an event of a descriptor that was closed before and had the same number. While connecting,
// libpq relies on it that the socket is ready.
bool is_ready(int descriptor, bool for_write) {
  pollfd socket{descriptor, static_cast<short>(for_write ? POLLOUT : POLLIN), 0};
  return ::poll(&socket, 1, 0) != 0;
}

void ignore_notice(void* /*arg*/, char const* /*message*/) {}

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

}  // namespace

bool Rows::is_integer(int column) const {
  constexpr Oid kInt2 = 21;
  constexpr Oid kInt4 = 23;
  constexpr Oid kInt8 = 20;
  auto const type = PQftype(result_, column);
  return type == kInt8 || type == kInt4 || type == kInt2;
}

std::int64_t Rows::integer(int row, int column) const {
  return std::strtoll(PQgetvalue(result_, row, column), nullptr, 10);
}

std::string Rows::text(int row, int column) const {
  return {PQgetvalue(result_, row, column), static_cast<std::size_t>(PQgetlength(result_, row, column))};
}

Connection::Connection(asio::io_context& context, std::string url)
    : context_{context}, url_{std::move(url)}, socket_{context}, deadline_{context} {}

Connection::~Connection() {
  if (socket_.is_open()) socket_.release();
}

Statement::Statement(char const* sql, std::vector<SqlValue> const& values, Answers answers)
    : sql_{sql}, answers_{answers} {
  for (auto const& value : values) {
    if (auto const* const number = std::get_if<std::int64_t>(&value)) {
      parameters_.push_back({0, false, std::to_string(*number)});
    } else if (auto const* const text = std::get_if<std::string>(&value)) {
      parameters_.push_back({0, false, *text});
    } else {
      parameters_.push_back({0, false, std::nullopt});
    }
  }
}

class Connection::SqlCall final : public Call {
 public:
  SqlCall(std::vector<Statement> s, std::unique_ptr<base::Reply<std::vector<SqlResult>>> reply)
      : Call{std::move(s)}, results_(statements.size()), reply_{std::move(reply)} {}
  void answer(std::size_t index, Rows const& rows) override {
    try {
      if (!statements.at(index).only_counts()) results_.at(index) = to_sql_result(rows).value();
      if (index + 1 == results_.size()) reply_->set(results_);
    } catch (std::exception const& e) {
      reply_->set(Error{Errc::internal, std::string{"cannot read an answer from PostgreSQL: "} + e.what()});
    }
  }
  void fail(Error error) override { reply_->set(std::move(error)); }
  std::unique_ptr<base::Waiter> take_waiter() override { return std::move(reply_); }

 private:
  std::vector<SqlResult> results_;
  std::unique_ptr<base::Reply<std::vector<SqlResult>>> reply_;
};

Async<std::vector<SqlResult>> Connection::call_all(std::vector<Statement> statements) {
  return base::wait_for_reply<std::vector<SqlResult>>(
      [this, statements =
                 std::move(statements)](std::unique_ptr<base::Reply<std::vector<SqlResult>>> reply) mutable {
        push(std::make_unique<SqlCall>(std::move(statements), std::move(reply)));
      });
}

void Connection::push(std::unique_ptr<Call> call) {
  bool first = false;
  {
    std::lock_guard const lock{mutex_};
    first = arrived_.empty();
    arrived_.push_back(std::move(call));
  }
  if (first) asio::post(context_, [this] { take_in(); });
}

void Connection::take_in() {
  {
    std::lock_guard const lock{mutex_};
    std::move(arrived_.begin(), arrived_.end(), std::back_inserter(waiting_));
    arrived_.clear();
  }
  if (state_ == State::down && !waiting_.empty()) connect();
  if (state_ == State::ready) work();
}

// --- Connecting ---

void Connection::connect() {
  ++life_;
  pg_.reset(PQconnectStart(url_.c_str()));
  if (!pg_ || PQstatus(pg_.get()) == CONNECTION_BAD) {
    return lose(pg_ ? to_error(pg_.get())
                    : Error{Errc::unavailable, "not enough memory for a connection to PostgreSQL"});
  }
  PQsetNoticeProcessor(pg_.get(), ignore_notice, nullptr);
  state_ = State::connecting;
  watch();
  wait_to_connect(true);
}

// At every step libpq may continue with another address, and so with another socket.
void Connection::hold_descriptor() {
  int const fd = PQsocket(pg_.get());
  if (socket_.is_open() && socket_.native_handle() == fd) return;
  if (socket_.is_open()) socket_.release();
  socket_.assign(fd);
}

void Connection::wait_to_connect(bool for_write) {
  hold_descriptor();
  auto const kind =
      for_write ? asio::posix::descriptor_base::wait_write : asio::posix::descriptor_base::wait_read;
  socket_.async_wait(kind, [this, life = life_, for_write](error_code) {
    if (life != life_ || state_ != State::connecting) return;
    is_ready(PQsocket(pg_.get()), for_write) ? on_connect_step() : wait_to_connect(for_write);
  });
}

void Connection::on_connect_step() {
  auto const step = PQconnectPoll(pg_.get());
  if (step == PGRES_POLLING_FAILED) return lose(to_error(pg_.get()));
  if (step != PGRES_POLLING_OK) return wait_to_connect(step == PGRES_POLLING_WRITING);

  hold_descriptor();
  if (PQsetnonblocking(pg_.get(), 1) != 0 || PQenterPipelineMode(pg_.get()) != 1)
    return lose(to_error(pg_.get()));
  state_ = State::ready;
  ++answers_;
  work();
}

// --- Sending ---

void Connection::work() {
  while (!waiting_.empty() && sent_.size() < kMaxSent) {
    if (!send(*waiting_.front())) return lose(to_error(pg_.get()));
    sent_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  if (sent_.empty()) return;
  watch();
  flush();
}

bool Connection::send(Call& call) {
  ++call.attempts;
  call.answers = 0;
  call.failed = false;
  call.repeat = false;
  // All statements are prepared before the first is executed, because the server skips everything after a
  // statement that fails.
  auto const all = [&call](auto const& done) {
    return std::all_of(call.statements.begin(), call.statements.end(), done);
  };
  return all([this](Statement const& statement) { return prepare(statement); }) &&
         all([this](Statement const& statement) { return send(statement); }) &&
         PQpipelineSync(pg_.get()) == 1;
}

bool Connection::send(Statement const& statement) {
  auto const& parameters = statement.parameters();
  std::vector<char const*> values;
  std::vector<int> lengths;
  std::vector<int> formats;
  for (auto const& parameter : parameters) {
    values.push_back(parameter.bytes ? parameter.bytes->data() : nullptr);
    lengths.push_back(parameter.bytes ? static_cast<int>(parameter.bytes->size()) : 0);
    formats.push_back(parameter.binary ? 1 : 0);
  }
  return PQsendQueryPrepared(pg_.get(), prepared_.at(statement.sql()).c_str(),
                             static_cast<int>(parameters.size()), values.data(), lengths.data(),
                             formats.data(), 0) == 1;
}

// Prepares the statement in the segment of the first call that uses it. The server keeps it even if that call
// fails.
bool Connection::prepare(Statement const& statement) {
  auto const [found, is_new] =
      prepared_.try_emplace(statement.sql(), "runnel_" + std::to_string(prepared_.size()));
  if (!is_new) return true;
  std::vector<Oid> types;
  for (auto const& parameter : statement.parameters())
    types.push_back(parameter.type);
  return PQsendPrepare(pg_.get(), found->second.c_str(), statement.sql(), static_cast<int>(types.size()),
                       types.data()) == 1;
}

void Connection::flush() {
  int const left = PQflush(pg_.get());
  if (left < 0) return lose(to_error(pg_.get()));
  wait_readable();
  if (left == 0 || writing_) return;

  writing_ = true;
  socket_.async_wait(asio::posix::descriptor_base::wait_write, [this, life = life_](error_code) {
    if (life != life_ || state_ != State::ready) return;
    writing_ = false;
    flush();
  });
}

// --- Receiving ---

void Connection::wait_readable() {
  if (reading_) return;
  reading_ = true;
  socket_.async_wait(asio::posix::descriptor_base::wait_read, [this, life = life_](error_code) {
    if (life != life_ || state_ != State::ready) return;
    reading_ = false;
    on_readable();
  });
}

void Connection::on_readable() {
  if (PQconsumeInput(pg_.get()) != 1) return lose(to_error(pg_.get()));
  while (!sent_.empty() && PQisBusy(pg_.get()) == 0) {
    Answer const answer{PQgetResult(pg_.get())};
    if (answer) take_result(answer.get());  // Null separates the results of two statements.
    if (PQstatus(pg_.get()) == CONNECTION_BAD) return lose(to_error(pg_.get()));
  }
  base::resume_all(std::exchange(done_, {}));
  work();
  if (closed_) close();
}

void Connection::take_result(PGresult const* result) {
  auto& call = *sent_.front();
  switch (PQresultStatus(result)) {
    case PGRES_PIPELINE_SYNC:
      return finish_segment();
    case PGRES_COMMAND_OK:
      // Unlike an executed statement, a statement that was only prepared names no command.
      if (*PQcmdStatus(const_cast<PGresult*>(result)) == '\0') return;
      [[fallthrough]];
    case PGRES_TUPLES_OK:
      ++answers_;  // So that a long segment does not look like silence.
      call.answer(call.answers++, Rows{result});
      return;
    case PGRES_PIPELINE_ABORTED:
      return;  // It follows an error that has been handled.
    default:
      break;
  }
  char const* const sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  call.repeat = sqlstate != nullptr && is_worth_repeating(sqlstate) && call.attempts < kMaxAttempts;
  call.fail(to_error(result));
  call.failed = true;
}

// Only at this point is the transaction committed: a deferred check may refuse it after its rows have
// arrived.
void Connection::finish_segment() {
  ++answers_;
  auto call = std::move(sent_.front());
  sent_.pop_front();
  if (call->repeat) {
    waiting_.push_front(std::move(call));
    return;
  }
  if (!call->failed && call->answers != call->statements.size())
    call->fail(Error{Errc::internal, "PostgreSQL did not answer every statement"});
  done_.push_back(call->take_waiter());
}

// --- Losing the connection ---

void Connection::lose(Error const& error) {
  for (auto* const calls : {&sent_, &waiting_}) {
    for (auto& call : *calls) {
      call->fail(error);
      done_.push_back(call->take_waiter());
    }
    calls->clear();
  }
  ++life_;
  state_ = State::down;
  reading_ = writing_ = false;
  prepared_.clear();
  if (socket_.is_open()) socket_.release();
  pg_.reset();
  deadline_.cancel();
  base::resume_all(std::exchange(done_, {}));
}

void Connection::watch() {
  if (watching_) return;
  watching_ = true;
  deadline_.expires_after(kSilence);
  deadline_.async_wait([this, life = life_, answers = answers_](error_code) {
    watching_ = false;
    if (state_ != State::connecting && sent_.empty()) return;
    if (life == life_ && answers == answers_)
      return lose(Error{Errc::unavailable, "PostgreSQL does not answer"});
    watch();
  });
}

void Connection::close() {
  closed_ = true;
  if (sent_.empty() && waiting_.empty()) lose(Error{Errc::unavailable, "the store is closed"});
}

}  // namespace runnel::store::postgres
