#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "runnel/model/chunk_reader.h"
#include "runnel/model/profile.h"
#include "runnel/model/provider.h"
#include "runnel/model/redactor.h"
#include "runnel/net/http_client.h"

namespace runnel::model {

// Every way in which a call fails, as the word for it, whether another try may help, and a message for the
// log.

CallFailed make_failure(Failure failure, std::string message);

// The provider answered with another status than success. `body` is the beginning of what it said.
CallFailed read_refusal(net::HttpHead const& head, std::string_view body, Profile const& profile,
                        Redactor const& redact, std::chrono::system_clock::time_point now);

// The provider began to answer, and then told of an error.
CallFailed read_reported(ProviderError const& error, Profile const& profile, Redactor const& redact);

// The exchange itself failed. `waited_for` says which time-out it was, where it was one.
CallFailed read_broken(net::HttpError const& error, std::string_view waited_for, Redactor const& redact);

}  // namespace runnel::model
