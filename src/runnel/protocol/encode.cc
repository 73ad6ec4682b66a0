#include "runnel/protocol/encode.h"

#include "runnel/protocol/ag_ui.h"
#include "runnel/protocol/v2.h"

namespace runnel::protocol {

void encode_frame(Dialect dialect, RunNames const& names, Record const& record, std::string& out) {
  switch (dialect) {
    case Dialect::v2:
      return encode_v2(names, record, out);
    case Dialect::ag_ui_1_0:
      return encode_ag_ui(AgUiVersion::v1_0, names, record, out);
    case Dialect::ag_ui_0_0:
      return encode_ag_ui(AgUiVersion::v0_0, names, record, out);
  }
}

}  // namespace runnel::protocol
