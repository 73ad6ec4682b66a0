"""CFG-2, USE-6: how models are named and priced, and the errors if the settings do not fit together."""

import json
import tempfile
import unittest
from pathlib import Path

from e2e_case import Server, run_input
from model_case import ModelRun, model_config, money, price_list, provider

from fake_provider import FakeProvider
from runnel_server import run_cli, to_yaml

AWAY = "https://models.invalid/v1"  # Does not resolve. Settings are refused before any connection is made.
HERE = "http://127.0.0.1:9/v1"


class SettingsCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="runnel-settings-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, name: str, content: str | dict) -> Path:
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def configured(self, providers: list[dict], prices: dict | None = None, **models) -> str:
        """The path of a configuration file."""
        listed = self.write("prices.yaml", prices or price_list())
        return str(self.write("runnel.yaml", to_yaml(model_config(listed, providers, models))))

    def accepted(self, config: str | None = None, **env: str) -> None:
        done = run_cli("check", *(["--config", config] if config else []), env=env)
        self.assertEqual(done.returncode, 0, done.stderr)

    def refused(self, *words: str, config: str | None = None, **env: str) -> None:
        """Neither `check` nor `serve` accepts the settings, and their messages contain these words."""
        options = ["--config", config] if config else []
        serve = ["serve", "--listen", "127.0.0.1:0", "--data-dir", str(self.folder / "data")]
        for command in (["check"], serve):
            with self.subTest(command[0], words=words):
                done = run_cli(*command, *options, env=env)
                self.assertGreater(done.returncode, 0, done.stdout)
                for word in words:
                    self.assertIn(word, done.stderr)


class NamedByEnvironment(SettingsCase):
    def test_CFG_2_one_of_the_two_variables_is_not_enough(self):
        self.refused("RUNNEL_MODEL_BASE_URL", "RUNNEL_MODEL", "set both", RUNNEL_MODEL="fake")
        self.refused("RUNNEL_MODEL_BASE_URL", "RUNNEL_MODEL", "set both", RUNNEL_MODEL_BASE_URL=HERE)
        self.refused("RUNNEL_MODEL_BASE_URL", "http://", RUNNEL_MODEL="fake", RUNNEL_MODEL_BASE_URL="localhost:1")

    def test_USE_6_elsewhere_a_price_is_required(self):
        self.refused("RUNNEL_MODEL_PRICE", "unheard-of", "free", RUNNEL_MODEL="unheard-of", RUNNEL_MODEL_BASE_URL=AWAY)
        self.accepted(RUNNEL_MODEL="unheard-of", RUNNEL_MODEL_BASE_URL=HERE)
        self.accepted(RUNNEL_MODEL="qwen-plus", RUNNEL_MODEL_BASE_URL=AWAY)

    def test_USE_6_the_forms_of_a_price(self):
        for price in ("1,2", "0.5,2.25", "1,2,0.1", "free"):
            with self.subTest(price):
                self.accepted(RUNNEL_MODEL="x", RUNNEL_MODEL_BASE_URL=AWAY, RUNNEL_MODEL_PRICE=price)
        for price in ("1", "1,2,3,4", "a,b", "-1,2", "1,", "gratis", "1,0.0000001", "NaN,1"):
            self.refused("RUNNEL_MODEL_PRICE", RUNNEL_MODEL="x", RUNNEL_MODEL_BASE_URL=AWAY, RUNNEL_MODEL_PRICE=price)


class Refusals(SettingsCase):
    def test_USE_6_a_model_without_a_price_stops_the_start(self):
        config = self.configured([provider(HERE, models=("fake", "dear", "dearer"))])

        self.refused("prices.yaml", "'dear'", "'dearer'", "per_million_tokens", "free: true", config=config)

    def test_USE_6_a_price_that_has_ended_is_none(self):
        entry = {"until": "2020-01-01T00:00:00Z", "per_million_tokens": {"input": 1, "output": 1}}
        config = self.configured([provider(HERE, models=("old",))], price_list({"old": [entry]}))

        self.refused("prices.yaml", "'old'", "2020-01-01", config=config)

    def test_USE_6_a_file_in_LiteLLMs_format_must_say_its_currency(self):
        entry = {"listed": {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}}
        providers = [provider(HERE, models=("listed",))]
        for currency, fine in (({}, False), ({"currency": "USD"}, False), ({"currency": "CNY"}, True)):
            listed = self.write("litellm.json", currency | entry)
            config = self.configured(providers, litellm_prices=json.dumps(str(listed)))
            self.accepted(config) if fine else self.refused("litellm.json", "currency", "CNY", config=config)

    def test_CFG_1_an_unknown_key_of_a_provider_has_file_and_line(self):
        text = f"models:\n  providers:\n    - name: a\n      base_url: {HERE}\n      models: [m]\n      api_kee: x\n"
        config = str(self.write("runnel.yaml", text))

        self.refused("runnel.yaml:6", "api_kee", "api_key_env", config=config)

    def test_CFG_1_a_provider_must_be_whole(self):
        for entry, word in (({"base_url": HERE, "models": ["m"]}, "name"), ({"name": "a", "models": ["m"]}, "base_url"),
                            ({"name": "a", "base_url": HERE}, "models"),
                            ({"name": "a", "base_url": HERE, "models": ["m"], "profile": "odd"}, "dashscope"),
                            ({"name": "a", "base_url": HERE, "models": ["m"], "idle_timeout_s": 0}, "idle_timeout_s"),
                            ({"name": "a", "base_url": HERE, "models": ["m"], "thinking": "maybe"}, "thinking")):
            self.refused("runnel.yaml:", word, config=self.configured([entry]))

    def test_CFG_1_a_key_that_is_not_there_or_is_none(self):
        self.refused("DEEPSEEK_API_KEY", "api_key_file", config=self.configured([{"name": "deepseek", "free": True}]))
        self.refused("'local'", "line break", RUNNEL_MODEL="x", RUNNEL_MODEL_BASE_URL=HERE, RUNNEL_MODEL_API_KEY="a\nb")
        self.refused("no-such-file", config=self.configured([provider(HERE, api_key_file="/no-such-file")]))

    def test_CFG_1_default_and_fallbacks_must_lead_somewhere(self):
        for setting, value in (("default", "elsewhere"), ("fallbacks", "[fake, elsewhere]")):
            config = self.configured([provider(HERE)], **{setting: value})
            self.refused(f"models.{setting}", "elsewhere", "fake*", config=config)


class ServedCase(SettingsCase):
    def serve(self, env: dict | None = None, config: dict | None = None) -> Server:
        server = Server(self.folder / "server", config, env)
        self.addCleanup(server.close)
        return server.start()

    def fake(self) -> FakeProvider:
        fake = FakeProvider().start()
        self.addCleanup(fake.close)
        return fake

    def run_on(self, server: Server, **kw) -> ModelRun:
        api = server.api()
        return ModelRun(api, *api.start_run("hello", **kw)).read()


class Served(ServedCase):
    def test_CFG_2_two_variables_alone_give_a_model(self):
        fake = self.fake()
        server = self.serve({"RUNNEL_MODEL_BASE_URL": fake.base_url, "RUNNEL_MODEL": "fake"})

        run = self.run_on(server)

        self.assertEqual(run.outcome, "RUN_FINISHED")
        self.assertIn("You said: hello", run.text)
        self.assertEqual((run.end["usage"][0]["model"], run.end["metadata"]["cost"]), ("fake", "0"))
        self.assertNotIn("authorization", fake.calls[0].headers, "there is no key to send")
        self.assertTrue(fake.calls[0].json["stream_options"]["include_usage"])

    def test_USE_6_RUNNEL_MODEL_PRICE_is_what_is_charged(self):
        fake = self.fake()
        # qwen-plus has a price in the built-in list. The operator's setting must take precedence over it.
        for model in ("some", "qwen-plus"):
            with self.subTest(model):
                server = self.serve({"RUNNEL_MODEL_BASE_URL": fake.base_url, "RUNNEL_MODEL": model,
                                     "RUNNEL_MODEL_PRICE": "100,1000"})
                run = self.run_on(server)
                used = run.end["usage"][0]
                cost = (used["inputTokens"] * 100 + used["outputTokens"] * 1000) * 10**6
                self.assertEqual(run.end["metadata"]["cost"], money(cost))
                self.assertEqual(server.stop(), 0)

    def test_CFG_2_a_vendors_key_alone_gives_its_models(self):
        for variable, names in (("DEEPSEEK_API_KEY", ["deepseek-flash", "deepseek-v4-pro"]),
                                ("DASHSCOPE_API_KEY", ["qwen-plus", "qwen-flash"])):
            with self.subTest(variable):
                server = self.serve({variable: "sk-nobodys"})
                answer = server.api().post_run(run_input("x", forwarded={"model": "no-such"}))
                self.assertEqual((answer.status, answer.error_code), (400, "UNKNOWN_MODEL"))
                listed = answer.json["error"]["details"]["models"]
                self.assertEqual(listed[0], names[0], "the default comes first")
                self.assertLessEqual({*names, "offline"}, {*listed})
                self.assertEqual(server.stop(), 0)

    def test_RUN_1_patterns_pass_names_through_and_others_are_refused_with_a_list(self):
        fake = self.fake()
        listed = self.write("prices.yaml", price_list({"tok-*": {"free": True}}))
        config = model_config(listed, [provider(fake.base_url, models=("tok-*",))])
        server = self.serve(config=config)

        self.assertEqual(self.run_on(server, forwarded={"model": "tok-10-20"}).outcome, "RUN_FINISHED")
        self.assertEqual([call.model for call in fake.calls], ["tok-10-20"])
        answer = server.api().post_run(run_input("x", forwarded={"model": "tik-1"}))
        self.assertEqual((answer.status, answer.json["error"]["details"]), (400, {"models": ["tok-*", "offline"]}))
        self.assertEqual(self.run_on(server).end["usage"][0]["model"], "offline", "a pattern must not become the default")


if __name__ == "__main__":
    unittest.main()
