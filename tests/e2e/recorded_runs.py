"""Runs of every kind, and a way to play them that other tests can use: all wires are read from before the model says its
first word. What the model sends is cut every few bytes, so that most characters are split between two chunks."""

import threading
from dataclasses import dataclass
from typing import Callable, NamedTuple

from e2e_case import eventually, new_id
from flow_case import Says, Stalls
from model_case import ModelRun
from test_approvals import ApprovalCase
from test_custom_modules import CustomModuleCase
from tool_case import LUNCH, ROUTED, Asks, call, create
from views import Views, Watch

import fake_scripts as scripts
from fake_answer import Answer
from fake_chunks import even
from tasks import Task

CUT = 5  # Bytes of each of the provider's chunks.


@dataclass(frozen=True)
class RecordedRun:
    name: str
    about: str
    says: tuple  # The model's answers, call by call.
    status: str = "completed"
    code: str | None = None  # The code of RUN_ERROR in v2.
    answer: str | None = None  # What v2 shows as the answer.
    texts: tuple[str, ...] = ()  # The texts that are shown before it and stay.
    thoughts: tuple[str, ...] = ()
    results: tuple[str, ...] = ()  # The status of each tool result.
    cancel: str = ""  # "tool": while a tool runs. "waiting": while a call waits. Any other text: once it was shown.
    decisions: tuple[str, ...] = ()  # What the user says to each call that waits for an approval.

    @property
    def pauses(self) -> int:
        return len(self.decisions) + (self.cancel == "waiting")


def answer(text: str, status: str = "SUCCESS", thinks: str = "", pieces: int = 3) -> Says:
    return Says({"status": status, "result_type": "execution_report", "key_points": [], "suggested_actions": ["再来 ☕"],
                 "error": None, "answer": text}, thinks, pieces)


def crashes(shown: str) -> Answer:
    """Text that is shown, and then the provider's error in the same stream."""
    return scripts.stream([*even(shown, 4), scripts.error_object("The model crashed.", code=500)], finish=None)


SCRIPTS = "Κόσμε, 你好 😀👩‍👩‍👧: \"quoted\", back\\slash,\n\ttab, \u2028 and an end… é"
LOOKING = "我来看看 📅"
THOUGHT = "让我想一想 🤔 …"
NOTE = {"kind": "user", "content": {"likes": ["绿茶 🍵"]}}

RUNS = (
    RecordedRun("plain_answer", "Text in many scripts and many pieces.", (ROUTED, answer(SCRIPTS, pieces=40)),
                answer=SCRIPTS),
    RecordedRun("reasoning", "The model thinks aloud before it answers.",
                (ROUTED, answer("是的 ✅", thinks=THOUGHT)), answer="是的 ✅", thoughts=(THOUGHT,)),
    RecordedRun("one_tool", "The model says something, calls a tool and answers.",
                (ROUTED, Asks(create(title="午餐 🍜").arguments, LOOKING), answer("午餐已创建 🍜")),
                answer="午餐已创建 🍜", texts=(LOOKING,), results=("success",)),
    RecordedRun("three_tools_at_once", "Three calls in one answer of the model.",
                (ROUTED, Asks((*create(title="Un café ☕").arguments,
                               *call("calendar.read", mode="day", date="2026-11-20").arguments,
                               *call("contacts.read", mode="list").arguments)), answer("Három kész. 三个")),
                answer="Három kész. 三个", results=("success",) * 3),
    RecordedRun("tool_failure", "One call names nothing, one has a wrong input, and one is no JSON.",
                (ROUTED, Asks((*call("calendar.delete", event_id="evt_没有").arguments, *create(title="").arguments,
                               '{"module": "calendar", "method": "create", "input": {"title": "断')),
                 answer("不行 ❌", "FAILED")), answer="不行 ❌", results=("failure",) * 3),
    RecordedRun("partial_batch", "One of two items is created.",
                (ROUTED, call("calendar.create", mode="batch", items=[LUNCH, {"title": "没有时间"}]),
                 answer("一半 ½", "PARTIAL")), answer="一半 ½", results=("partial",)),
    RecordedRun("approval_granted", "A call waits for the user, who agrees.",
                (ROUTED, Asks(call("memory.update", **NOTE).arguments, LOOKING), answer("记住了 🍵")), decisions=("approve",),
                answer="记住了 🍵", texts=(LOOKING,), results=("success",)),
    RecordedRun("approval_refused", "A call waits for the user, who refuses.",
                (ROUTED, call("memory.update", **NOTE), answer("好的，不记 🙅")), decisions=("reject",),
                answer="好的，不记 🙅", results=("failure",)),
    RecordedRun("two_approvals", "Two calls of one turn wait, one after the other.",
                (ROUTED, Asks(call("memory.update", **NOTE).arguments * 2), answer("只记一次 🍵")),
                decisions=("reject", "approve"), answer="只记一次 🍵", results=("failure", "success")),
    RecordedRun("cancelled_while_waiting", "A call waits for the user, who cancels the run.",
                (ROUTED, Asks(call("memory.update", **NOTE).arguments, LOOKING)), cancel="waiting", status="canceled",
                code="RUN_CANCELED", texts=(LOOKING,), results=("failure",)),
    RecordedRun("cancelled_in_text", "Cancelled in the middle of the answer.",
                (ROUTED, Stalls('{"status": "SUCCESS", "answer": "你明天有空 🕛, but')), cancel="你明天有空 🕛, but",
                status="canceled", code="RUN_CANCELED", texts=("你明天有空 🕛, but",)),
    RecordedRun("cancelled_in_tool", "Cancelled while a tool runs.", (ROUTED, call("slow.behave", how="hang")),
                cancel="tool", status="canceled", code="RUN_CANCELED", results=("failure",)),
    RecordedRun("contract_repair", "The answer breaks its contract after its text was shown, and is given anew.",
                (ROUTED, Says({"answer": "半句 🌓", "status": "NONSENSE"}), answer("整句 🌕")), answer="整句 🌕"),
    RecordedRun("provider_error", "The provider fails in the middle of the answer.",
                (ROUTED, crashes('{"status": "SUCCESS", "answer": "天气 🌦 is')), status="failed", code="MODEL_REPORTED",
                texts=("天气 🌦 is",)),
    RecordedRun("provider_refuses", "The provider refuses the first call.", (scripts.error(400),), status="failed",
                code="MODEL_REJECTED"),
    RecordedRun("empty_answer", "The model says nothing, three times.", (ROUTED, Says(""), Says(" \n"), Says("")),
                status="failed", code="MODEL_EMPTY_ANSWER"),
)


class Played(NamedTuple):
    run: ModelRun
    live: Views  # What readers saw that were there from the beginning.


class RecordedCase(CustomModuleCase, ApprovalCase):
    """A server on which these runs can be played."""

    @classmethod
    def make_config(cls) -> dict:
        config = super().make_config()
        return {**config, "tools": {**config["tools"], "approval": "[memory.update]"}}

    def start(self, run: ModelRun) -> None:
        self.api.start_run("请 🙏", thread=run.thread, run=run.run)

    def play(self, recorded: RecordedRun, start: Callable[[ModelRun], None] | None = None,
             thread: str | None = None) -> Played:
        """Plays the run to its end. `start` posts it and need not wait for the answer."""
        gate = threading.Event()
        self.asked = len(self.fake.calls)
        first, *others = (self.answer_of(step, number) for number, step in enumerate(recorded.says, 1))
        self.fake.script(first.behind(gate), *others)
        run = ModelRun(self.api, thread or new_id("thread"), new_id("run"))
        try:
            (start or self.start)(run)
            self.wait_for_calls(self.asked + 1)
            with Watch(self.api, run.thread, run.run) as watch:
                gate.set()
                self.act(run, recorded)
                live = watch.views()
        finally:
            gate.set()
        self.assertEqual((self.fake.unused_script, len(self.requests)), (0, len(recorded.says)), recorded.name)
        return Played(run, live)

    @staticmethod
    def answer_of(step, number: int) -> Answer:
        return (step if isinstance(step, Answer) else step.answer(number)).paced(CUT)

    def act(self, run: ModelRun, recorded: RecordedRun) -> None:
        """What the user does during the run."""
        if recorded.cancel == "tool":
            task = Task(self.api, run.run)
            self.assertTrue(eventually(lambda: task.poll() and "tool_start" in task.types()))
        elif recorded.cancel == "waiting":
            self.wait(run)
        elif recorded.cancel:
            self.wait_for_text(run, recorded.cancel)
        if recorded.cancel:
            self.assertEqual(self.api.cancel(run.thread, run.run).status, 202)
        for decision in recorded.decisions:
            self.wait(run)
            self.assertEqual(self.decide(run, decision).status, 202)
