// Encodes facts. The output string keeps its memory from one iteration to the next, so that this measures the
// encoders and not the allocator.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "bench/micro/sample_run.h"
#include "runnel/protocol/sse_envelope.h"
#include "runnel/protocol/testing/transcripts.h"
#include "runnel/protocol/wires.h"

namespace runnel::bench {
namespace {

auto const kLastWire = static_cast<std::int64_t>(protocol::all_wires().size()) - 1;

void encode_all(benchmark::State& state, RunNames const& names, std::vector<Record> const& records) {
  auto const wire = static_cast<Wire>(state.range(0));
  state.SetLabel(std::string{protocol::name_of(wire)});
  std::string out;
  for ([[maybe_unused]] auto _ : state) {
    out.clear();
    for (auto const& record : records)
      protocol::encode(wire, names, record, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(records.size()));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
  state.counters["bytes_out"] = static_cast<double>(out.size());
}

// The frame of one token. v2 shows no deltas, so for v2 this is the cost of ignoring one.
void encode_delta(benchmark::State& state) {
  encode_all(state, sample_names(), {sample_delta(500)});
}
BENCHMARK(encode_delta)->DenseRange(0, kLastWire);

// All frames of a run with 1,000 tokens.
void encode_run_of_1000_tokens(benchmark::State& state) {
  encode_all(state, sample_names(), sample_run(1000));
}
BENCHMARK(encode_run_of_1000_tokens)->DenseRange(0, kLastWire);

// The scripted run of tests/conformance/golden with the most records.
void encode_richest_transcript(benchmark::State& state) {
  auto const all = protocol::all_transcripts();
  auto const richest = std::max_element(all.begin(), all.end(), [](auto const& one, auto const& other) {
    return one.records.size() < other.records.size();
  });
  encode_all(state, richest->names, richest->records);
}
BENCHMARK(encode_richest_transcript)->DenseRange(0, kLastWire);

// Only the frame: id, event, and a JSON object with one text of the given size that needs no escapes.
void sse_frame(benchmark::State& state) {
  std::string const text(static_cast<std::size_t>(state.range(0)), 'x');
  Record const record{{kEpoch, 500}, -1, 0, RunStarted{}};
  std::string out;
  for ([[maybe_unused]] auto _ : state) {
    out.clear();
    protocol::Event event{protocol::kSse, out, record, "TEXT_MESSAGE_CONTENT"};
    event.json.text("type", "TEXT_MESSAGE_CONTENT").text("delta", text);
    event.end();
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
}
BENCHMARK(sse_frame)->Arg(16)->Arg(1024)->Arg(65536);

}  // namespace
}  // namespace runnel::bench
