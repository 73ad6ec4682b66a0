// Facts to bytes. The output string keeps its memory from one iteration to the next, so that the encoders are
// measured and not the allocator.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "bench/micro/sample_run.h"
#include "runnel/core/dialect.h"
#include "runnel/protocol/encode.h"
#include "runnel/protocol/sse_frame.h"
#include "runnel/protocol/transcripts.h"

namespace runnel::bench {
namespace {

void encode_all(benchmark::State& state, RunNames const& names, std::vector<Record> const& records) {
  auto const dialect = static_cast<Dialect>(state.range(0));
  state.SetLabel(to_string(dialect));
  std::string out;
  for ([[maybe_unused]] auto _ : state) {
    out.clear();
    for (auto const& record : records)
      protocol::encode_frame(dialect, names, record, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(records.size()));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
  state.counters["bytes_out"] = static_cast<double>(out.size());
}

// One token's frame. v2 shows no deltas: there it is the cost of finding that out.
void encode_delta(benchmark::State& state) {
  encode_all(state, sample_names(), {sample_delta(500)});
}
BENCHMARK(encode_delta)->DenseRange(0, kDialects - 1);

// All frames of a run with 1,000 tokens.
void encode_run_of_1000_tokens(benchmark::State& state) {
  encode_all(state, sample_names(), sample_run(1000));
}
BENCHMARK(encode_run_of_1000_tokens)->DenseRange(0, kDialects - 1);

// The scripted run of tests/conformance/golden with the most records.
void encode_richest_transcript(benchmark::State& state) {
  auto const all = protocol::all_transcripts();
  auto const richest = std::max_element(all.begin(), all.end(), [](auto const& one, auto const& other) {
    return one.records.size() < other.records.size();
  });
  encode_all(state, richest->names, richest->records);
}
BENCHMARK(encode_richest_transcript)->DenseRange(0, kDialects - 1);

// The frame alone: id, event, and a JSON object with one text of so many bytes that needs no escapes.
void sse_frame(benchmark::State& state) {
  std::string const text(static_cast<std::size_t>(state.range(0)), 'x');
  std::string out;
  for ([[maybe_unused]] auto _ : state) {
    out.clear();
    protocol::SseFrame frame{out, {kEpoch, 500}, "TEXT_MESSAGE_CONTENT"};
    frame.json.text("delta", text);
    frame.end();
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(out.size()));
}
BENCHMARK(sse_frame)->Arg(16)->Arg(1024)->Arg(65536);

}  // namespace
}  // namespace runnel::bench
