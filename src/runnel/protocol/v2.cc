#include "runnel/protocol/v2.h"

#include "runnel/protocol/v2_encoder.h"

namespace runnel::protocol {

void encode_v2(RunNames const& names, Record const& record, Envelope const& envelope, std::string& out) {
  std::visit(V2Encoder{names, record, envelope, out}, record.fact);
}

}  // namespace runnel::protocol
