#include "runnel/protocol/v1.h"

#include "runnel/protocol/v2_encoder.h"

namespace runnel::protocol {
namespace {

struct V1Encoder : V2Encoder {
  using V2Encoder::operator();

  void operator()(ToolResult const& fact) const { end_result(fact); }
  void operator()(ClientCallClosed const& fact) const { end_result(fact); }

  template <class ResultFact>
  void end_result(ResultFact const& fact) const {
    auto event = begin_result(fact);
    event.json.text("result", fact.result.str());
    append_or_null(event.json, "error", fact.error);
    event.end();
  }

  void operator()(AnswerCompleted const& fact) const {
    auto event = begin_answer(fact);
    append_strings(event.json.key("key_points"), fact.key_points);
    event.json.text("result_type", fact.result_type);
    append_strings(event.json.key("suggested_actions"), fact.suggested_actions);
    append_or_null(event.json, "error", fact.error);
    event.json.raw("ui_schema", fact.last_card ? std::string_view{fact.last_card->str()} : "{}");
    event.end();
  }
};

}  // namespace

void encode_v1(RunNames const& names, Record const& record, Envelope const& envelope, std::string& out) {
  std::visit(V1Encoder{{names, record, envelope, out}}, record.fact);
}

}  // namespace runnel::protocol
