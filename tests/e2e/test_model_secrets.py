"""USE-1, CFG-4: if a provider's answer contains the caller's key, the server never repeats it."""

import os
import unittest
from pathlib import Path

from e2e_case import DIALECTS
from model_case import ModelCase, model_config, price_list, provider

import fake_scripts as scripts
from http_client import Http
from runnel_server import run_cli, to_yaml

WHERE = ("body", "stream", "html")
KEYS = {"deepseek": "sk-canary-deepseek-0a1b2c3d4e5f", "local": "canary.of.the.environment.5f4e3d2c1b0a",
        "filed": "sk-canary-filed-99aa88bb77cc66dd"}


def key_of(request) -> str:
    return request.headers["authorization"].removeprefix("Bearer ")


# Answers with the key, but without the word "Bearer" before it, by which a key could be recognized.
BARE = (lambda request: scripts.error(401, f"Incorrect API key provided: {key_of(request)}. Find it at your account."),
        lambda request: scripts.error(400, "No.", code=key_of(request), kind=f"key={key_of(request)}"),
        lambda request: scripts.json_answer(401, {"detail": {"api_key": key_of(request)}}),
        lambda request: scripts.reports_error("Some ", "text", message=f"key <{key_of(request)}> has expired"))


class Secrets(ModelCase):
    prices = price_list({"*": {"free": True}})
    env = {"DEEPSEEK_API_KEY": KEYS["deepseek"], "RUNNEL_MODEL_API_KEY": KEYS["local"],
           "RUNNEL_MODEL": "fake-canary:stream:tag=local", "RUNNEL_LOG_LEVEL": "debug"}

    @classmethod
    def make_config(cls) -> dict:
        cls.env = {**Secrets.env, "RUNNEL_MODEL_BASE_URL": cls.fake.base_url}
        key_file = cls.folder / "key"
        key_file.write_text(KEYS["filed"] + "\n")
        key_file.chmod(0o600)
        deepseek = {"name": "deepseek", "base_url": cls.fake.base_url, "api_key_env": "DEEPSEEK_API_KEY",
                    "models": models_of("deepseek")}
        filed = provider(cls.fake.base_url, "filed", tuple(models_of("filed")), api_key_file=str(key_file))
        return model_config(cls.prices_file, [deepseek, filed])

    def test_CFG_4_the_key_appears_nowhere(self):
        models = [*models_of("deepseek"), *models_of("filed"), "fake-canary:stream:tag=local"]
        runs = [self.run_model(model) for model in models]
        for answer in BARE:
            for model in models[::3]:
                self.fake.script(answer)
                runs.append(self.run_model(model))

        shown = {call.headers["authorization"] for call in self.fake.calls}
        self.assertEqual(shown, {f"Bearer {key}" for key in KEYS.values()}, "the provider must get the keys")
        self.assertEqual({run.outcome for run in runs},
                         {"MODEL_UNAUTHORIZED", "MODEL_REPORTED", "MODEL_OVERLOADED", "MODEL_REJECTED"})
        for place, content in self.places(runs).items():
            with self.subTest(place):
                self.assertTrue(content)
                for key in KEYS.values():
                    for part in (key, key[:16], key[-16:]):
                        self.assertNotIn(part.encode(), content)

    def places(self, runs: list) -> dict[str, bytes]:
        """Everything that can be read from the server from outside, by name."""
        process = Path("/proc") / str(self.server.process.pid)
        answers = [self.api.get("/api/v1/usage"), self.api.get("/api/v1/agent/threads"), self.refused()]
        for run in runs:
            answers += [self.api.status(run.thread, run.run), self.api.history(run.thread), self.api.thread(run.thread)]
        places = {"answers": b"".join(repr(answer.headers).encode() + answer.body for answer in answers),
                  "metrics": Http(self.server.address).get("/metrics").body,
                  "arguments": (process / "cmdline").read_bytes()}
        for name, query in DIALECTS.items():
            frames = [f for run in runs for f in self.api.read_events(run.thread, run.run, **query)]
            places[f"events of {name}"] = b"".join(frame.data for frame in frames)
        self.assertEqual(self.server.stop(), 0)
        places["log"] = self.server.log.read_bytes()
        self.assertIn(b"[redacted]", places["log"], "the log must have the provider's message without the key")
        files = [Path(folder) / name for folder, _, names in os.walk(self.server.directory) for name in names]
        return places | {f"file {path.name}": path.read_bytes() for path in files if path.stat().st_size}

    def refused(self):
        """The answer 400, which lists the models."""
        answer = self.api.post_run({"messages": [{"id": "m", "role": "user", "content": "x"}],
                                    "forwardedProps": {"model": "none"}})
        self.assertEqual(answer.status, 400)
        return answer


def models_of(name: str) -> list[str]:
    return [f"fake-canary:{where}:tag={name}" for where in WHERE]


class ProtectedFiles(ModelCase):
    def test_CFG_4_a_key_file_that_others_may_read_is_refused(self):
        key_file = self.folder / "open-key"
        key_file.write_text(KEYS["filed"])
        key_file.chmod(0o644)
        config = self.folder / "open.yaml"
        config.write_text(to_yaml(model_config(self.prices_file, [
            provider(self.fake.base_url, api_key_file=str(key_file))])))

        done = run_cli("check", "--config", str(config))

        self.assertGreater(done.returncode, 0)
        self.assertIn("open-key", done.stderr)
        self.assertNotIn(KEYS["filed"], done.stderr)


if __name__ == "__main__":
    unittest.main()
