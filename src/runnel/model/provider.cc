#include "runnel/model/provider.h"

namespace runnel::model {

char const* to_code(Failure failure) {
  switch (failure) {
    case Failure::unreachable:
      return "MODEL_UNREACHABLE";
    case Failure::timed_out:
      return "MODEL_TIMED_OUT";
    case Failure::rate_limited:
      return "MODEL_RATE_LIMITED";
    case Failure::overloaded:
      return "MODEL_OVERLOADED";
    case Failure::unauthorized:
      return "MODEL_UNAUTHORIZED";
    case Failure::out_of_funds:
      return "MODEL_OUT_OF_FUNDS";
    case Failure::rejected:
      return "MODEL_REJECTED";
    case Failure::filtered:
      return "MODEL_FILTERED";
    case Failure::cut:
      return "MODEL_CUT";
    case Failure::bad_answer:
      return "MODEL_BAD_ANSWER";
    case Failure::reported:
      return "MODEL_REPORTED";
  }
  return "MODEL_REPORTED";
}

}  // namespace runnel::model
