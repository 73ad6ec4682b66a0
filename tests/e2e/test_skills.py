"""TOOL-11: a model sees the cards of its skills, and reads one skill or one action with skills.read."""

import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from tool_case import Asks, ToolCase, call

from runnel_server import ROOT, run_cli


def body_of(card: Path) -> str:
    return card.read_text().split("---\n", 2)[2].strip()


def description_of(card: Path) -> str:
    return re.search("^description: (.*)$", card.read_text(), re.MULTILINE).group(1)


class Skills(ToolCase):
    def test_TOOL_11_the_worker_sees_the_cards_and_the_router_does_not(self):
        self.ask()

        router, worker = self.fake.calls[self.asked:]
        told = "\n".join(message["content"] for message in worker.json["messages"] if message["role"] == "system")
        for name in ("calendar", "contacts", "memory"):
            card = ROOT / "skills" / name / "SKILL.md"
            self.assertEqual(told.count(f"\n- {name}: {description_of(card)}"), 1, told)
            self.assertNotIn(body_of(card), told)
        self.assertIn('{"module": "skills", "method": "read"', told)
        self.assertNotIn("# Skills", json.dumps(router.json))

    def test_TOOL_11_a_card_and_then_an_action(self):
        card, action = self.results(self.ask(call("skills.read", skill="contacts"),
                                             call("skills.read", skill="contacts", action="read")))

        folder = ROOT / "skills" / "contacts"
        self.assertEqual(card["result"], {"status": "success", "module": "skills", "method": "read", "data": {
            "skill": "contacts", "content": body_of(folder / "SKILL.md"), "actions": ["read"]}})
        self.assertEqual(action["result"]["data"], {"skill": "contacts", "action": "read",
                                                    "content": (folder / "read.md").read_text().strip()})

    def test_TOOL_11_the_tool_and_the_list_of_methods_name_it(self):
        self.ask()

        [tool] = self.fake.calls[-1].json["tools"]
        self.assertIn("\n- skills.read: Shows how a module is used", tool["function"]["description"])
        listed = {method["name"]: method for method in self.api.get("/api/v1/tools").json["tools"]}
        self.assertEqual(listed["skills.read"]["inputSchema"]["required"], ["skill"])

    def test_TOOL_11_names_cannot_leave_the_folder(self):
        tricks = ["../skills/contacts", "contacts/../contacts", "contacts/SKILL.md", "/etc/passwd", "../../../../etc/passwd",
                  "%2e%2e%2fcontacts", "..\\contacts", "CONTACTS", ".", ".."]
        calls = [call("skills.read", skill=trick).arguments[0] for trick in tricks]
        calls += [call("skills.read", skill="contacts", action=trick).arguments[0] for trick in [*tricks, "SKILL", "read.md"]]

        results = self.results(self.ask(Asks(tuple(calls))))

        self.assertEqual(len(results), len(calls))
        for sent, result in zip(calls, results):
            error = result["error"]["error"]
            self.assertEqual((result["status"], error["code"]), ("failure", "NOT_FOUND"), sent)
            self.assertRegex(error["message"], "there are: (calendar, contacts, memory|read)$")

    def test_TOOL_4_other_inputs_bring_the_schema(self):
        for given in ({}, {"skill": "contacts", "path": "../x"}, {"skill": ["contacts"]}, {"skill": "contacts\0"},
                      {"skill": "contacts", "action": "read\0.md"}, {"skill": ""}, {"skill": "x" * 129}):
            with self.subTest(given=given):
                self.assertEqual(self.code_of(call("skills.read", **given)), "INVALID_ACTION_INPUT")


class OwnSkills(ToolCase):
    """Skills in a folder that the settings name."""

    @classmethod
    def make_config(cls) -> dict:
        cls.skills = cls.folder / "skills"
        shutil.copytree(ROOT / "skills", cls.skills)
        (cls.skills / "memory" / "recall.md").write_text("Recall with care.\n")
        return {**super().make_config(), "skills": {"dir": json.dumps(str(cls.skills))}}

    def test_TOOL_11_they_are_read_once_at_the_start(self):
        (self.skills / "memory" / "later.md").write_text("Too late.\n")

        early, late = self.results(self.ask(call("skills.read", skill="memory", action="recall"),
                                            call("skills.read", skill="memory", action="later")))

        self.assertEqual(early["result"]["data"]["content"], "Recall with care.")
        self.assertEqual(late["error"]["error"]["code"], "NOT_FOUND")


class Check(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="runnel-skills-")
        self.addCleanup(holder.cleanup)
        self.skills = Path(holder.name) / "skills"
        shutil.copytree(ROOT / "skills", self.skills)

    def check(self, folder: Path | None = None):
        return run_cli("check", env={"RUNNEL_SKILLS_DIR": str(folder or self.skills)})

    def test_CFG_3_a_good_folder_is_named(self):
        done = self.check()

        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rf"skills +calendar, contacts, memory; from {self.skills}\n")

    def test_TOOL_11_all_mistakes_are_told_at_once_with_their_places(self):
        card = self.skills / "contacts" / "SKILL.md"
        card.write_text(card.read_text().replace("name: contacts", "name: contact"))
        (self.skills / "calendar" / "SKILL.md").write_text("# calendar\n")
        (self.skills / "memory" / "secret.md").symlink_to("/etc/passwd")
        (self.skills / "memory" / "Read.md").write_text("x")

        done = self.check()

        self.assertEqual(done.returncode, 1, done.stdout)
        told = [line.removeprefix("runnel: ").removeprefix(f"{self.skills}/") for line in done.stderr.splitlines()]
        self.assertEqual(len(told), 4, done.stderr)
        for words in ("contacts/SKILL.md:2:7: the name must be 'contacts'", "calendar/SKILL.md:1: a skill begins with",
                      "memory/secret.md: it is a link that leads out", "memory/Read.md: only SKILL.md and files"):
            self.assertTrue(any(line.startswith(words) for line in told), (words, told))

    def test_TOOL_11_agents_need_skills_that_exist(self):
        shutil.rmtree(self.skills / "memory")

        missing, gone = self.check(), self.check(self.skills / "gone")

        self.assertIn("there is no skill 'memory'; the skills are calendar, contacts\n", missing.stderr)
        self.assertEqual(gone.stderr, f"runnel: skills.dir: {self.skills / 'gone'}: there is no such folder, or it cannot "
                                      "be read\n")


if __name__ == "__main__":
    unittest.main()
