"""What the script that makes the old database and its test share: the files, the users, and the server they start."""

import json
import shutil
from pathlib import Path
from urllib.parse import urlencode

from flow_case import copy_flows
from model_case import model_config, price_list, provider

from fake_provider import FakeProvider
from runnel_server import Api, Server

FOLDER = Path(__file__).with_name("old_database")
DUMP, ANSWERS = FOLDER / "runnel.sql", FOLDER / "answers.json"
ANN, BOB = "ann", "bob"
DIALECTS = ({"dialect": "v2"}, {"dialect": "ag-ui", "agui": "1.0"}, {"dialect": "ag-ui", "agui": "0.0"})
KEPT = 100 * 365 * 24 * 3600  # In seconds: no log expires, however old the dump is.
# Composed and decomposed, joined, and right-to-left characters, separators, non-characters, and other planes.
ODD = ("e\u0301 \u00e9 \U0001f469\u200d\U0001f4bb \u202eabc\u202c \u2066x\u2069 \u2028 \u2029 \u00a0 \ufeff \uffff "
       "\U0010ffff \u0085 \u007f \"\\/\b\f\n\r\t 你好")


def make_server(folder: Path, fake: FakeProvider) -> Server:
    flows, prices = folder / "flows", folder / "prices.yaml"
    shutil.rmtree(flows, ignore_errors=True)
    copy_flows(flows)
    folder.mkdir(exist_ok=True)
    prices.write_text(json.dumps(price_list()))
    return Server(folder, model_config(prices, [provider(fake.base_url)], {"default": "fake"},
                                       flows={"default": "router_worker", "dir": json.dumps(str(flows))},
                                       tools={"test": True}, retention={"events_s": KEPT}))


def frames(api: Api, target: str) -> list[list[str]]:
    with api.open("GET", target) as stream:
        assert stream.status == 200, (target, stream.status)
        return [[frame.id, frame.event, frame.data.decode()] for frame in stream]


def run_targets(thread: str, run: str) -> list[str]:
    """All requests about a run that has ended."""
    return [f"/api/v1/agent/runs/{thread}?{urlencode({'runId': run})}",
            *(Api.events_path(thread, run, **dialect) for dialect in DIALECTS)]


def thread_targets(thread: str) -> list[str]:
    """All requests about a thread whose runs have all ended."""
    history = f"/api/v1/agent/history?{urlencode({'threadId': thread, 'limit': 200})}"
    usage = [f"/api/v1/usage?{urlencode({'threadId': thread, 'groupBy': group})}" for group in ("model", "day")]
    return [f"/api/v1/agent/threads/{thread}", history, *usage]


def ask(api: Api, target: str):
    """The answer as plain data: the frames of an event stream, or else the body."""
    if "/events?" in target:
        return frames(api, target)
    answer = api.get(target)
    assert answer.status == 200, (target, answer.status, answer.body)
    return answer.json
