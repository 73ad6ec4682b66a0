"""USE-5, USE-6: which price a call gets, and how events and rows show it."""

import json
import unittest

from model_case import ModelCase, message_rows, model_config, price_list, provider

import fake_scripts as scripts
from fake_chunks import usage

RATES = {"input": 2, "output": 3, "cache_hit": 0.5, "thinking_output": 7}
LITELLM = {"currency": "CNY", "catalog": {"input_cost_per_token": 0.000004, "output_cost_per_token": 0.000005},
           "plain": {"input_cost_per_token": 0.001, "output_cost_per_token": 0.001}}


class Prices(ModelCase):
    prices = price_list({name: [{"per_million_tokens": RATES}] for name in ("plain", "thinking")})

    @classmethod
    def make_config(cls) -> dict:
        catalog = cls.folder / "litellm.json"
        catalog.write_text(json.dumps(LITELLM))
        thinking = {**provider(cls.fake.base_url, "thinks", ("thinking",), thinking="on"), "profile": "dashscope",
                    "api_key_env": "PRICES_API_KEY"}
        cls.env = {"PRICES_API_KEY": "sk-nobodys"}
        return model_config(cls.prices_file, [provider(cls.fake.base_url, models=("plain", "catalog")), thinking],
                            {"litellm_prices": json.dumps(str(catalog))})

    def priced(self, model: str, numbers: dict) -> tuple[str, str, str | None]:
        """The cost of a call with this usage, its `costSource` and the row's `cost_source`."""
        self.fake.script(scripts.stream(["Hello"], numbers=numbers))
        run = self.run_model(model)
        self.assertEqual(run.outcome, "RUN_FINISHED")
        self.assert_books(run.thread)
        end = [f.json for f in self.api.read_events(run.thread, run.run) if f.event == "TEXT_MESSAGE_END"][0]
        metadata = json.loads(message_rows(self.server, run.thread)[-1]["metadata"])
        self.assertEqual(metadata["costSource"], end["costSource"])
        return run.end["metadata"]["cost"], end["costSource"], metadata["cost_source"]

    def test_USE_5_the_rates_of_the_list(self):
        # 100 × 2 + 10 × 3 = 230
        self.assertEqual(self.priced("plain", usage(100, 10)), ("0.00023", "catalog_fallback", "custom_pricing"))
        # (100 − 60) × 2 + 60 × 0.5 + 10 × 3 = 140
        hit = usage(100, 10, prompt_cache_hit_tokens=60, prompt_cache_miss_tokens=40)
        self.assertEqual(self.priced("plain", hit), ("0.00014", "catalog_fallback", "custom_pricing"))
        # 100 × 4 + 10 × 5 = 450
        self.assertEqual(self.priced("catalog", usage(100, 10)), ("0.00045", "catalog_fallback", "litellm_catalog"))

    def test_USE_5_a_call_in_thinking_mode_takes_its_rate_also_where_no_thought_is_shown(self):
        # 100 × 2 + 10 × 7 = 270
        self.assertEqual(self.priced("thinking", usage(100, 10))[0], "0.00027")
        thought = usage(100, 10, completion_tokens_details={"reasoning_tokens": 4})
        self.assertEqual(self.priced("plain", thought)[0], "0.00027")

    def test_USE_5_the_providers_own_cost_counts_if_it_is_in_CNY(self):
        own = usage(100, 10, cost=0.0125, currency="CNY")
        self.assertEqual(self.priced("plain", own), ("0.0125", "provider", None))
        foreign = usage(100, 10, cost=0.0125, currency="USD")
        self.assertEqual(self.priced("plain", foreign), ("0.00023", "catalog_fallback", "custom_pricing"))
        unnamed = usage(100, 10, cost=0.0125)
        self.assertEqual(self.priced("plain", unnamed), ("0.00023", "catalog_fallback", "custom_pricing"))
        for bad in (-1, "NaN", True, {}, []):
            with self.subTest(bad):
                odd = usage(100, 10, cost=bad, currency="CNY")
                self.assertEqual(self.priced("plain", odd)[:2],
                                 ("0.00023", "catalog_fallback_incomplete_provider_cost"))

    def test_USE_8_the_price_is_frozen_with_the_call(self):
        self.fake.script(scripts.stream(["Hello"], numbers=usage(100, 10)))
        run = self.run_model("plain")

        [call] = self.calls(run.thread)
        price = json.loads(call["price"])
        by_hand = sum(price["tokens"][kind] * float(price["per_million_tokens"][kind]) for kind in price["tokens"])
        self.assertEqual(by_hand * 10**6, call["cost"])
        self.assertEqual(call["currency"], "CNY")


if __name__ == "__main__":
    unittest.main()
