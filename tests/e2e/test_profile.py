"""FLOW-5, FLOW-6, USE-7: a user's profile, which values it accepts, and what keeps a frozen copy of it."""

import json
import sqlite3
import unittest

from e2e_case import E2eCase, new_id, offline

from model_case import ModelCase, query
from runnel_server import Api

PROFILE = "/api/v1/profile"
DEFAULTS = {"interface_language": "zh-CN", "ai_language": "zh-CN", "timezone": "Asia/Shanghai", "country": "CN"}
PREFERENCES = {"interface_language": "en-GB", "ai_language": "de-CH-1996", "timezone": "Europe/Zurich",
               "country": "CH"}


def settings(version: int = 2, **changed) -> dict:
    whole = {"version": version, "preferences": DEFAULTS, "privacy": {}, "notification": {}}
    return {**whole, **({"safety": {}} if version == 2 else {}), **changed}


def profile(username: str = "", bio: str = "", **changed) -> dict:
    return {"username": username, "bio": bio, "settings": settings(**changed)}


class ProfileCase(E2eCase):
    def user(self) -> Api:
        """A new user."""
        return self.server.api(new_id("user"))

    def put(self, body, api: Api | None = None):
        return (api or self.api).request("PUT", PROFILE, body)

    def stored(self, api: Api) -> dict:
        answer = api.get(PROFILE)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json


class ProfileTest(ProfileCase):
    def violations(self, body) -> dict[str, str]:
        details = self.assert_error(self.put(body), 400, "INVALID_REQUEST")
        return {violation["path"]: violation["problem"] for violation in details["violations"]}

    def test_FLOW_5_a_new_user_has_the_defaults(self):
        self.assertEqual(self.stored(self.user()), profile())

    def test_FLOW_5_it_is_replaced_as_a_whole_and_survives_a_crash(self):
        ann = self.user()
        whole = profile("Ann 安", "Likes tea.\n\"quoted\" \u2028 🍵", preferences=PREFERENCES,
                        privacy={"share": {"with": ["bob", None, 1.5, -7]}}, notification={"at": "08:00"},
                        safety={"level": "high"})

        answer = self.put(whole, ann)
        self.assertEqual((answer.status, answer.json), (200, whole))
        self.server.restart()
        self.assertEqual(self.stored(ann), whole)

        answer = self.put({"bio": "New."}, ann)
        self.assertEqual((answer.status, answer.json), (200, profile(bio="New.")))
        self.assertEqual(self.stored(ann), profile(bio="New."))

    def test_HTTP_3_nobody_sees_anothers(self):
        ann, bob = self.user(), self.user()

        self.assertEqual(self.put({"username": "Ann"}, ann).status, 200)

        self.assertEqual(self.stored(bob), profile())
        self.assertEqual(self.put({"username": "Bob"}, bob).status, 200)
        self.assertEqual(self.stored(ann), profile("Ann"))
        self.assert_error(Api(self.server.address, None).get(PROFILE), 401, "UNAUTHORIZED")
        self.assert_error(Api(self.server.address, None).request("PUT", PROFILE, {}), 401, "UNAUTHORIZED")

    def test_FLOW_5_version_1_is_upgraded_when_it_is_written(self):
        ann = self.user()
        old = profile("Ann", version=1, preferences=PREFERENCES, privacy={"a": 1}, notification={"b": 2})
        new = profile("Ann", preferences=PREFERENCES, privacy={"a": 1}, notification={"b": 2})
        unnamed = {**old, "settings": {key: value for key, value in old["settings"].items() if key != "version"}}

        for sent in (old, unnamed):
            answer = self.put(sent, ann)
            self.assertEqual((answer.status, answer.json), (200, new))
            self.assertEqual(self.stored(ann), new)

    def test_FLOW_5_null_and_absent_are_the_defaults(self):
        ann = self.user()
        for sent in ({}, {"settings": None}, {"username": None, "bio": None}, {"settings": {}},
                     {"settings": {"preferences": {}}}):
            with self.subTest(sent):
                self.assertEqual(self.put(profile("Ann", preferences=PREFERENCES), ann).status, 200)
                answer = self.put(sent, ann)
                self.assertEqual((answer.status, answer.json), (200, profile()))

    def test_FLOW_5_wrong_values_are_named(self):
        self.put(profile("Kept"))
        at = "/settings/preferences/"

        def with_preference(key, value):
            return {"settings": {"preferences": {key: value}}}

        for key, values in {
            "interface_language": ("en_US", "xx", "", "C", "x-a", "en-a-bbb", "中文", "a" * 1000, 5, None, {}),
            "ai_language": ("zh_CN", "root", "Chinese", []),
            "timezone": ("asia/shanghai", "posixrules", "Factory", "localtime", "../UTC", "posix/UTC", "", "UTC+8", 8),
            "country": ("cn", "UK", "EU", "XX", "ZZ", "AN", "CHN", "", 156),
        }.items():
            for value in values:
                with self.subTest(key, value=value):
                    self.assertEqual(list(self.violations(with_preference(key, value))), [at + key])
        self.assertEqual(set(self.violations({"settings": {"preferences": {
            "interface_language": "xx", "ai_language": "xx", "timezone": "x", "country": "x"}}})),
            {at + key for key in DEFAULTS})
        self.assertEqual(self.stored(self.api)["username"], "Kept")

    def test_FLOW_5_what_is_not_a_profile_is_refused(self):
        for body, paths in (
            ([], {""}),
            ({"name": "x"}, {"/name"}),
            ({"username": 5, "bio": [], "settings": 1}, {"/username", "/bio", "/settings"}),
            ({"settings": {"theme": "dark", "preferences": {"zone": "UTC"}}},
             {"/settings/theme", "/settings/preferences/zone"}),
            ({"settings": {"version": 3}}, {"/settings/version"}),
            ({"settings": {"version": "2"}}, {"/settings/version"}),
            ({"settings": {"version": 1, "safety": {}}}, {"/settings/safety"}),
            ({"settings": {"privacy": [], "notification": None, "version": 2, "safety": 1}},
             {"/settings/privacy", "/settings/notification", "/settings/safety"}),
            ({"username": "x" * 257}, {"/username"}),
            ({"bio": "x" * 10_001}, {"/bio"}),
            ({"settings": {"privacy": {"x": "x" * 20_000}}}, {"/settings"}),
        ):
            with self.subTest(str(body)[:60]):
                self.assertEqual(set(self.violations(body)), paths)
        for raw in (b"{", b'{"bio":"\\u0000"}', b'{"bio":"a","bio":"b"}', b'{"bio":"\xff"}'):
            with self.subTest(raw):
                self.assert_error(self.put(raw), 400, "INVALID_JSON")
        self.assertEqual(self.put({"username": "名" * 256, "bio": "茶" * 10_000}).status, 200)


class FrozenTest(ProfileCase):
    config = offline(words=3)

    def country(self, thread: str) -> str:
        (row,) = query(self.server, "SELECT billing_country_snapshot AS country FROM agent_chat_sessions "
                                    "WHERE thread_ref = ?", thread)
        return row["country"]

    def finish(self, api: Api, **kw) -> tuple[str, str]:
        thread, run = api.start_run("hello", **kw)
        self.assertEqual(api.finish(thread, run), "RUN_FINISHED")
        return thread, run

    def test_USE_7_a_threads_country_is_the_one_it_was_made_in(self):
        ann = self.user()
        first, _ = self.finish(ann)
        self.put(profile(preferences={**DEFAULTS, "country": "DE"}), ann)
        second, _ = self.finish(ann)
        self.put(profile(preferences={**DEFAULTS, "country": "FR"}), ann)
        self.finish(ann, thread=first)
        self.finish(ann, thread=second)

        self.assertEqual((self.country(first), self.country(second)), ("CN", "DE"))

    def test_FLOW_6_a_run_keeps_the_profile_it_was_started_with(self):
        ann = self.user()
        before, after = profile("Ann", preferences=PREFERENCES), profile("Anna")
        self.put(before, ann)
        _, run = self.finish(ann)
        self.put(after, ann)
        _, later = self.finish(ann)

        def frozen(run: str) -> dict:
            (row,) = query(self.server, "SELECT profile FROM runs WHERE run_ref = ?", run)
            return json.loads(row["profile"])

        self.assertEqual((frozen(run), frozen(later)), (before, after))


class StoredTest(ProfileCase, ModelCase):
    def test_FLOW_5_a_bad_stored_value_breaks_nothing(self):
        ann = self.user()
        self.put(profile("Ann", "Likes tea."), ann)
        self.server.kill()
        bad = {"version": 9, "preferences": {"ai_language": "Klingonese", "timezone": 8, "country": "DE"},
               "privacy": "open", "more": []}
        with sqlite3.connect(self.server.database) as database:
            changed = database.execute("UPDATE profiles SET settings = ?, bio = CAST(bio AS BLOB) WHERE username = 'Ann'",
                                       [json.dumps(bad)])
            self.assertEqual(changed.rowcount, 1)
        database.close()
        self.server.start()

        self.assertEqual(self.stored(ann), profile("Ann", "Likes tea.", preferences={**DEFAULTS, "country": "DE"}))
        thread, run = ann.start_run("hello")
        self.assertEqual(ann.finish(thread, run), "RUN_FINISHED")
        self.assert_prompts({"username": "Ann", "bio": "Likes tea.", **DEFAULTS, "country": "DE"})
        log = self.server.log.read_text()
        self.assertIn("path=/settings/preferences/ai_language", log)
        self.assertNotIn("Klingonese", log)

    def assert_prompts(self, user: dict) -> None:
        """Every call contains these values of the user's profile, and nothing else of the stored row."""
        self.assertTrue(self.fake.calls)
        for call in self.fake.calls:
            told = [message["content"] for message in call.json["messages"]]
            self.assertEqual(json.loads(told[0].splitlines()[-1]), user)
            self.assertIn(f"in {user['timezone']}.", told[1])
            self.assertNotIn("Klingonese", "".join(told))
            self.assertIn(f"in the language {user['ai_language']}", told[1])


class DeferredTest(ProfileCase):
    config = offline(profile={"upgrade_on_write": False})

    def test_FLOW_5_an_upgrade_can_be_deferred(self):
        ann = self.user()
        self.assertEqual(self.stored(ann), profile(version=1))
        for version in (1, 2, 1):
            sent = profile("Ann", version=version, preferences=PREFERENCES)
            answer = self.put(sent, ann)
            self.assertEqual((answer.status, answer.json), (200, sent))
            self.assertEqual(self.stored(ann), sent)


if __name__ == "__main__":
    unittest.main()
