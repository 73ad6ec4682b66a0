#include "runnel/net/http_client.h"

#include <utility>

#include "runnel/net/curl_loop.h"
#include "runnel/net/transfer.h"

namespace runnel::net {

namespace asio = boost::asio;

namespace {

class Exchange final : public HttpExchange {
 public:
  explicit Exchange(std::shared_ptr<Transfer> transfer) : transfer_{std::move(transfer)} {}
  ~Exchange() override { transfer_->fail(HttpError::Kind::canceled, "the exchange was destroyed"); }

  asio::awaitable<HttpResult<HttpHead>> head(Deadline deadline,
                                             std::shared_ptr<base::Cancel> cancel) override {
    return Transfer::head(transfer_, deadline, std::move(cancel));
  }
  asio::awaitable<HttpResult<std::string>> read(Deadline deadline,
                                                std::shared_ptr<base::Cancel> cancel) override {
    return Transfer::read(transfer_, deadline, std::move(cancel));
  }

 private:
  std::shared_ptr<Transfer> const transfer_;
};

}  // namespace

HttpClient::HttpClient(asio::io_context& context, Options options)
    : loop_{std::make_shared<CurlLoop>(context, std::move(options))} {}

HttpClient::~HttpClient() {
  loop_->close();
}

std::unique_ptr<HttpExchange> HttpClient::post(HttpRequest request) {
  auto transfer = std::make_shared<Transfer>(loop_, std::move(request));
  transfer->begin();
  return std::make_unique<Exchange>(std::move(transfer));
}

}  // namespace runnel::net
