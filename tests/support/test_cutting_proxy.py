"""The proxy that loses connections: it passes on everything else unchanged."""

import unittest

import fake_scripts as scripts
from cutting_proxy import CuttingProxy
from fake_provider import FakeProvider
from http_client import Cut, Http

MODELS = "/v1/models"


class Proxy(unittest.TestCase):
    def setUp(self):
        self.fake = self.enterContext(FakeProvider())

    def through(self, path: str, cuts: list[int]) -> tuple[CuttingProxy, Http]:
        proxy = self.enterContext(CuttingProxy(self.fake.address, path, cuts))
        return proxy, Http(("127.0.0.1", proxy.port))

    def test_what_is_not_to_be_cut_comes_as_it_is(self):
        proxy, http = self.through("/none", [1])

        self.assertEqual(http.get(MODELS).json, Http(self.fake.address).get(MODELS).json)
        [exchange] = proxy.exchanges
        self.assertEqual((exchange.target, exchange.status), (MODELS, 200))
        self.assertEqual(exchange.headers["connection"], "close")

    def test_an_answer_is_lost_after_so_many_bytes(self):
        proxy, http = self.through("models", [20, 60])

        with self.assertRaises((Cut, ConnectionResetError)):
            http.get(MODELS)
        with self.assertRaises((Cut, ConnectionResetError)):
            http.get(MODELS)
        self.assertEqual(http.get(MODELS).status, 200)
        self.assertEqual([exchange.passed for exchange in proxy.of("models")][:2], [20, 60])
        self.assertEqual(len(proxy.of("models")), 3)

    def test_the_server_notices_that_a_client_has_left(self):
        self.fake.script(scripts.stalled(["Hel"]))
        _, http = self.through("/none", [])
        with http.open("POST", "/v1/chat/completions", {"model": "fake", "stream": True,
                                                        "messages": [{"role": "user", "content": "Hi"}]}) as stream:
            self.assertEqual(stream.status, 200)

        self.assertTrue(self.fake.wait_for(lambda: self.fake.calls[-1].outcome == "abandoned"))


if __name__ == "__main__":
    unittest.main()
