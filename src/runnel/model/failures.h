#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "runnel/model/openai/chunk_reader.h"
#include "runnel/model/openai/vendor.h"
#include "runnel/model/provider.h"
#include "runnel/model/redactor.h"
#include "runnel/net/http_client.h"

namespace runnel::model {

// These functions describe every way in which a call can fail: its Failure, whether another try may help, and
// a message for the log.

CallFailed make_failure(Failure failure, std::string message);

// The provider answered with a status that is not a success. `body` is the beginning of its answer.
CallFailed read_refusal(net::HttpHead const& head, std::string_view body, Vendor const& vendor,
                        Redactor const& redact, std::chrono::system_clock::time_point now);

// The provider began to answer and then reported an error.
CallFailed read_reported(ProviderError const& error, Vendor const& vendor, Redactor const& redact);

// The HTTP exchange itself failed. `waited_for` says what the call was waiting for, in case it timed out.
CallFailed read_broken(net::HttpError const& error, std::string_view waited_for, Redactor const& redact);

}  // namespace runnel::model
