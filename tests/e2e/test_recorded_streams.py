"""USE-1, USE-3, USE-4, AGUI-3: streams recorded from real vendors, through the whole server."""

import json
import unittest
from dataclasses import dataclass

from model_case import ModelCase, model_config, money, price_list, provider

from fake_models import fixture_file, fixture_folder

FIXTURES = fixture_folder()
SIZES = ("1", "2", "3", "7", "64", "1500", "whole")  # Bytes per write.
KEY = {"api_key_env": "RECORDED_API_KEY"}

# CNY per million tokens, by vendor.
RATES = {"deepseek": {"input": 2, "output": 3, "cache_hit": 0.2}, "alibaba": {"input": 0.8, "output": 2},
         "openai": {"input": 7, "output": 28}, "groq": {"input": 1, "output": 3}}
PROFILES = {"deepseek": "deepseek", "alibaba": "dashscope", "openai": "openai", "groq": "local"}


@dataclass(frozen=True)
class Expected:
    """A row of the fixtures' SOURCES.md, and the cost in 1e-12 CNY, computed by hand."""

    content: int  # Bytes.
    reasoning: int
    status: str
    tokens: tuple[int, int, int]  # Input, output, total.
    thought: int  # Reasoning tokens.
    cached: int
    hit_miss: tuple[int, int]  # Only DeepSeek reports these.
    cost: int


MICRO = 10**6  # The cost of one token at 1 CNY per million.
EXPECTED = {
    # 13 × 2 + 400 × 3 = 1226
    "deepseek-text": Expected(1859, 0, "partial_success", (13, 400, 413), 0, 0, (0, 13), 1226 * MICRO),
    # 18 × 2 + 219 × 3 = 693
    "deepseek-reasoning": Expected(42, 606, "success", (18, 219, 237), 205, 0, (0, 18), 693 * MICRO),
    # (339 − 320) × 2 + 320 × 0.2 + 83 × 3 = 38 + 64 + 249 = 351
    "deepseek-tool-call": Expected(0, 191, "success", (339, 83, 422), 39, 320, (320, 19), 351 * MICRO),
    # 18 × 0.8 + 779 × 2 = 14.4 + 1558 = 1572.4
    "alibaba-text": Expected(3777, 0, "success", (18, 779, 797), 0, 0, (0, 0), 15724 * MICRO // 10),
    # 295 × 0.8 + 22 × 2 = 236 + 44 = 280
    "alibaba-tool-call": Expected(0, 0, "success", (295, 22, 317), 0, 0, (0, 0), 280 * MICRO),
    # 16 × 7 + 300 × 28 = 112 + 8400 = 8512
    "openai-text": Expected(1730, 0, "success", (16, 300, 316), 0, 0, (0, 0), 8512 * MICRO),
    # 66 × 7 + 16 × 28 = 462 + 448 = 910
    "openai-tool-call": Expected(0, 0, "success", (66, 16, 82), 0, 0, (0, 0), 910 * MICRO),
    # 210 × 1 + 15 × 3 = 255
    "groq-tool-call": Expected(0, 0, "success", (210, 15, 225), 0, 0, (0, 0), 255 * MICRO),
}


def recorded(name: str, field: str) -> str:
    """The joined pieces of one field of the deltas, from the file itself."""
    lines = fixture_file(name, FIXTURES).read_text(encoding="utf-8").split("\n")
    bodies = [line.removeprefix("data: ") for line in lines if line and line != "data: [DONE]"]
    deltas = [choice["delta"] for body in bodies for choice in json.loads(body).get("choices", ())]
    return "".join(delta.get(field) or "" for delta in deltas)


@unittest.skipUnless(FIXTURES, "there are no recorded streams: set RUNNEL_FIXTURES to their folder")
class RecordedStreams(ModelCase):
    env = {KEY["api_key_env"]: "sk-recorded-0123456789"}
    prices = price_list({f"fake-fixture:{vendor}-*": [{"per_million_tokens": rates}]
                         for vendor, rates in RATES.items()})

    @classmethod
    def make_config(cls) -> dict:
        return model_config(cls.prices_file, [
            {**provider(cls.fake.base_url, vendor, (f"fake-fixture:{vendor}-*",)), "profile": profile, **KEY}
            for vendor, profile in PROFILES.items()])

    def test_USE_1_every_recording_at_every_chunk_size(self):
        for name, expected in EXPECTED.items():
            for size in SIZES:
                with self.subTest(name, size=size):
                    self.check(name, f"fake-fixture:{name}:size={size}", expected)

    def check(self, name: str, model: str, expected: Expected) -> None:
        run = self.run_model(model)
        if expected.content == 0:
            return self.check_unanswered(run, name, expected)

        self.assertEqual(run.terminals, ["RUN_FINISHED"], run.end)
        self.assertEqual((run.text, run.reasoning), (recorded(name, "content"), recorded(name, "reasoning_content")))
        self.assertEqual((len(run.text.encode()), len(run.reasoning.encode())), (expected.content, expected.reasoning))
        self.assertFalse([kind for kind in run.kinds if kind.startswith("TOOL_")], "no tool was offered")
        self.check_answer(run, expected)
        self.check_usage(run, name.split("-")[0], model, expected)
        self.assertEqual(self.assert_books(run.thread), expected.cost)

    def check_unanswered(self, run, name: str, expected: Expected) -> None:
        """V2-6: the model only calls a tool that was not offered. It is asked twice more and does the same."""
        self.assertEqual((run.outcome, run.text), ("MODEL_EMPTY_ANSWER", ""), run.end)
        self.assertEqual(run.reasoning, recorded(name, "reasoning_content") * 3)
        self.assertFalse([kind for kind in run.kinds if kind.startswith("TOOL_")], "no tool was offered")
        for call in self.calls(run.thread):
            self.assertEqual((call["input_tokens"], call["output_tokens"], call["total_tokens"]), expected.tokens)
            self.assertEqual((call["reasoning_tokens"], call["cached_tokens"]), (expected.thought, expected.cached))
            self.assertEqual(call["cost"], expected.cost)
        self.assertEqual(self.assert_books(run.thread), 3 * expected.cost)

    def check_answer(self, run, expected: Expected) -> None:
        end = [f.json for f in self.api.read_events(run.thread, run.run, dialect="v2") if f.event == "TEXT_MESSAGE_END"]
        self.assertEqual([(e["answer"], e["status"]) for e in end], [(run.text, expected.status)])
        told = ("totalTokens", "cachedPromptTokens", "promptCacheHitTokens", "promptCacheMissTokens", "reasoningTokens",
                "costSource", "usageComplete")
        self.assertEqual([end[0][key] for key in told], [expected.tokens[2], expected.cached, *expected.hit_miss,
                                                         expected.thought, "catalog_fallback", True])
        history = [m for m in self.api.full_history(run.thread) if m["role"] == "assistant"]
        self.assertEqual([(m["id"], m["content"]) for m in history], [(end[0]["messageId"], run.text)])

    def check_usage(self, run, vendor: str, model: str, expected: Expected) -> None:
        tokens = dict(zip(("inputTokens", "outputTokens", "totalTokens"), expected.tokens))
        self.assertEqual(run.end["usage"], [
            {"provider": vendor, "model": model, **tokens, "reasoningTokens": expected.thought,
             "cachedInputTokens": expected.cached}])
        cost = money(expected.cost)
        self.assertEqual(run.end["metadata"], {"cost": cost, "currency": "CNY", "usageComplete": True})
        self.assertEqual(self.usage(run.thread)["groups"], [
            {"key": model, "calls": 1, "inputTokens": expected.tokens[0], "outputTokens": expected.tokens[1],
             "cachedTokens": expected.cached, "reasoningTokens": expected.thought, "cost": cost,
             "usageComplete": True}])


if __name__ == "__main__":
    unittest.main()
