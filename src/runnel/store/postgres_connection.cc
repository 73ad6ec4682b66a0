#include "runnel/store/postgres_connection.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>

#include "runnel/store/postgres_error.h"

namespace runnel::store::postgres {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Enough to keep the server busy for a round trip; more would only delay what could still go to the head.
constexpr std::size_t kMaxSent = 64;
constexpr int kMaxAttempts = 8;
// No answer at all for so long while something is asked, or no connection: the server is taken for lost.
constexpr std::chrono::seconds kSilence{10};

void ignore_notice(void* /*arg*/, char const* /*message*/) {}

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

}  // namespace

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
    return lose(pg_ ? to_error(pg_.get()) : Error{Errc::unavailable, "no memory for a connection"});
  }
  PQsetNoticeProcessor(pg_.get(), ignore_notice, nullptr);
  state_ = State::connecting;
  watch();
  wait_to_connect(true);
}

// libpq may go on to another address, and so to another socket, at every step.
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
  socket_.async_wait(kind, [this, life = life_](error_code) {
    if (life == life_ && state_ == State::connecting) on_connect_step();
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
  call.answered = false;
  call.repeat = false;
  auto const& parameters = call.statement.parameters();
  std::vector<Oid> types;
  std::vector<char const*> values;
  std::vector<int> lengths;
  std::vector<int> formats;
  for (auto const& parameter : parameters) {
    types.push_back(parameter.type);
    values.push_back(parameter.bytes ? parameter.bytes->data() : nullptr);
    lengths.push_back(parameter.bytes ? static_cast<int>(parameter.bytes->size()) : 0);
    formats.push_back(parameter.binary ? 1 : 0);
  }
  auto const [found, is_new] =
      prepared_.try_emplace(call.statement.sql(), "runnel_" + std::to_string(prepared_.size()));
  if (is_new && !prepare(call.statement.sql(), found->second, types)) return false;
  return PQsendQueryPrepared(pg_.get(), found->second.c_str(), static_cast<int>(parameters.size()),
                             values.data(), lengths.data(), formats.data(), 0) == 1 &&
         PQpipelineSync(pg_.get()) == 1;
}

// In the segment of the first call that uses it; the server keeps it even if that call fails.
bool Connection::prepare(char const* sql, std::string const& name, std::vector<Oid> const& types) {
  return PQsendPrepare(pg_.get(), name.c_str(), sql, static_cast<int>(types.size()), types.data()) == 1;
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
    if (answer) take_result(answer.get());  // Null parts the results of one statement from the next.
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
    case PGRES_TUPLES_OK:
      call.answer(Rows{result});
      call.answered = true;
      return;
    case PGRES_COMMAND_OK:  // The statement is prepared.
    case PGRES_PIPELINE_ABORTED:
      return;  // Behind an error that has been taken.
    default:
      break;
  }
  char const* const sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  call.repeat = sqlstate != nullptr && is_worth_repeating(sqlstate) && call.attempts < kMaxAttempts;
  call.fail(to_error(result));
  call.answered = true;
}

// Only now is the transaction committed: a deferred check may still refuse it after its rows have come.
void Connection::finish_segment() {
  ++answers_;
  auto call = std::move(sent_.front());
  sent_.pop_front();
  if (call->repeat) {
    waiting_.push_front(std::move(call));
    return;
  }
  if (!call->answered) call->fail(Error{Errc::internal, "PostgreSQL gave no answer"});
  done_.push_back(call->take_waiter());
}

// --- Losing ---

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
    if (life == life_ && answers == answers_) return lose(Error{Errc::unavailable, "PostgreSQL is silent"});
    watch();
  });
}

void Connection::close() {
  closed_ = true;
  if (sent_.empty() && waiting_.empty()) lose(Error{Errc::unavailable, "the store is closed"});
}

}  // namespace runnel::store::postgres
