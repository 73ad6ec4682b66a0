"""CFG-1, CFG-3, HTTP-5: the commands, their errors and their exit codes."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from e2e_case import Server, offline

from runnel_server import BINARY, environment, run_cli, to_yaml


class CliTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="runnel-cli-")
        self.addCleanup(holder.cleanup)
        self.directory = Path(holder.name)

    def write(self, text: str) -> str:
        path = self.directory / "bad.yaml"
        path.write_text(text)
        return str(path)

    def refused(self, *args: str, env: dict | None = None) -> str:
        """The command fails by itself with a message on stderr. Returns the message."""
        done = run_cli(*args, env=env)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertGreater(done.returncode, 0, f"killed by a signal: {done.stderr}")
        self.assertTrue(done.stderr.strip())
        return done.stderr

    def test_CFG_3_version(self):
        done = run_cli("version")

        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"\d+\.\d+")

    def test_CFG_3_help_everywhere(self):
        for args in ([], ["serve"], ["check"], ["migrate"], ["token"], ["version"]):
            with self.subTest(args):
                done = run_cli(*args, "--help")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("--help", done.stdout)

    def test_CFG_3_help_is_also_a_command(self):
        done = run_cli("help")

        self.assertEqual((done.returncode, done.stdout), (0, run_cli("--help").stdout))
        self.assertEqual(run_cli("help", "token").stdout, run_cli("token", "--help").stdout)
        self.assertIn("there is no command 'sevre'", self.refused("help", "sevre"))
        self.assertIn("did you mean help?", self.refused("hlep"))

    def test_CFG_3_without_a_command_the_help_is_told(self):
        done = run_cli()

        self.assertEqual((done.returncode, done.stdout), (2, ""))
        for command in ("serve", "check", "migrate", "token", "version"):
            self.assertRegex(done.stderr, rf"\n  {command} ")

    def test_CFG_3_help_tells_what_options_do_and_their_defaults(self):
        told = " ".join(run_cli("token", "--help").stdout.split())

        for words in ("(default: 24h)", "(default: sqlite)", "(default: ./runnel-data)", "such as 15m, 12h, 30d"):
            self.assertIn(words, told)
        self.assertNotIn("INT", told)
        self.assertIn("(default: 127.0.0.1:8080)", " ".join(run_cli("serve", "--help").stdout.split()))

    def test_CFG_3_every_error_says_who_speaks(self):
        absent = str(self.directory / "absent.yaml")
        for args, words in {("token",): "--user is required; see runnel token --help",
                            ("token", "--user", "x", "--ttl", "soon"): "--ttl must be a number of seconds from 1",
                            ("token", "--user", "x", "--ttl", "0"): "--ttl must be a number of seconds from 1",
                            ("serve", "--listen"): "see runnel serve --help", ("serve", "now"): "now",
                            ("check", "--config", absent): absent}.items():
            with self.subTest(args):
                done = run_cli(*args)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, r"^runnel: [^\n]*\n$")
                self.assertIn(words, done.stderr)

    def test_CFG_3_check_of_a_good_and_a_bad_file(self):
        good = self.directory / "good.yaml"
        good.write_text(to_yaml(offline(word_delay_ms=5, words=10)))

        self.assertEqual(run_cli("check", "--config", str(good)).returncode, 0)
        self.assertEqual(run_cli("check").returncode, 0)
        self.refused("check", "--config", self.write("models: [\n"))
        self.refused("check", "--config", str(self.directory / "absent.yaml"))

    def test_CFG_1_an_unknown_key_is_an_error_with_file_and_line(self):
        cases = {"htp:\n  keep_alive_s: 1\n": ("htp", 1), "http:\n  keep_alive_s: 1\n  keep_alve: 2\n": ("keep_alve", 3),
                 "models:\n  offline:\n    word_delay_ms: 5\n\n    wrods: 1\n": ("wrods", 5)}
        for text, (key, line) in cases.items():
            path = self.write(text)
            for command in (["check"], ["serve", "--listen", "127.0.0.1:0", "--data-dir", str(self.directory)]):
                with self.subTest(key, command=command[0]):
                    words = self.refused(*command, "--config", path)
                    self.assertIn(key, words)
                    self.assertRegex(words, rf"bad\.yaml\D{{0,12}}{line}\b")

    def test_CFG_1_values_of_the_wrong_kind_are_errors_with_file_and_line(self):
        for text in ("http:\n  keep_alive_s: soon\n", "http:\n  keep_alive_s: -1\n", "http: 5\n", "- a\n",
                     "models:\n  offline:\n    words: many\n"):
            with self.subTest(text):
                self.assertIn("bad.yaml", self.refused("check", "--config", self.write(text)))

    def test_CFG_1_unknown_flags_and_commands(self):
        self.assertEqual(self.refused("serve", "--lisen", "127.0.0.1:0"),
                         "runnel: unknown option --lisen; did you mean --listen?\n")
        self.assertEqual(self.refused("token", "--user=x", "--data_dir=/tmp"),
                         "runnel: unknown option --data_dir; did you mean --data-dir?\n")
        self.assertIn("--no-such-flag; the options are --help, --config, ", self.refused("serve", "--no-such-flag"))
        self.assertEqual(self.refused("token", "--usr", "x"), "runnel: unknown option --usr; did you mean --user?\n")
        self.assertEqual(self.refused("--hlep"), "runnel: unknown option --hlep; did you mean --help?\n")
        self.assertEqual(self.refused("token"), "runnel: --user is required; see runnel token --help\n")
        self.assertIn("subcommand is required", self.refused("--listen", "127.0.0.1:0"))
        self.assertIn("--user is required", self.refused("token", "--"))
        self.assertIn("did you mean serve?", self.refused("sevre"))
        self.refused("dance")
        self.refused("serve", "--listen", "nonsense", "--data-dir", str(self.directory))
        self.assertIn("port 99999 is not between 0 and 65535",
                      self.refused("serve", "--listen", "127.0.0.1:99999", "--data-dir", str(self.directory)))

    def test_HTTP_5_dev_mode_never_listens_elsewhere(self):
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
            with self.subTest(address):
                words = self.refused("serve", "--listen", address, "--data-dir", str(self.directory))
                self.assertIn("no auth key is configured, so the server is in dev mode", words)
                self.assertIn("Listen on 127.0.0.1, [::1] or localhost; or, to let other machines in, name a key in auth.keys",
                              words)

    def test_CFG_1_a_data_dir_that_cannot_be_used(self):
        file = self.directory / "file"
        file.write_text("")

        self.refused("serve", "--listen", "127.0.0.1:0", "--data-dir", str(file))

    def test_CFG_1_a_taken_port_is_a_clear_error(self):
        with Server(self.directory / "one") as one:
            words = self.refused("serve", "--listen", f"127.0.0.1:{one.port}", "--data-dir", str(self.directory / "two"))

        self.assertEqual(words.splitlines()[-1], f"runnel: 127.0.0.1:{one.port} is in use; try --listen 127.0.0.1:0 "
                                                 "for any free port")

    def test_CFG_1_a_tab_and_a_mistyped_key_are_named(self):
        self.assertIn("bad.yaml:4: tab used for indentation",
                      self.refused("check", "--config", self.write("listen: 127.0.0.1:1\nhttp:\n  json_depth: 9\n\tx: 1\n")))
        self.assertIn("did you mean keep_alive_s?",
                      self.refused("check", "--config", self.write("http:\n  keep_alve_s: 1\n")))

    def test_CFG_1_a_mistyped_variable_is_named(self):
        done = run_cli("check", env={"RUNNEL_LISTNE": "x"})

        self.assertIn("runnel: warning: the environment variable RUNNEL_LISTNE is not a setting; did you mean RUNNEL_LISTEN?",
                      done.stderr)

    def test_CFG_3_migrate_makes_the_database_and_may_be_repeated(self):
        data = self.directory / "data"

        for _ in range(2):
            done = run_cli("migrate", "--data-dir", str(data))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((data / "runnel.db").exists())

    def test_CFG_3_token_makes_the_user_and_works(self):
        with Server(self.directory / "s") as server:
            api = server.api("new-user")
            self.assertEqual(api.get("/api/v1/agent/threads").status, 200)
            self.assertEqual(run_cli("token", "--user", "x", "--data-dir", str(server.data)).stdout.count("\n"), 1)
        self.refused("token", "--data-dir", str(self.directory))
        self.refused("token", "--user", "", "--data-dir", str(self.directory))

    def test_CFG_3_a_token_made_before_the_first_start_works(self):
        server = Server(self.directory / "s")
        api = server.api("early")
        with server:
            api.address = server.address
            self.assertEqual(api.get("/api/v1/agent/threads").status, 200)

    def test_the_data_dir_that_the_server_makes_is_the_owners_only(self):
        with Server(self.directory / "s") as server:
            self.assertEqual(server.data.stat().st_mode & 0o077, 0)

    def test_CFG_1_flags_over_environment_over_file(self):
        config = self.write("listen: 127.0.0.1:1\n")
        done = subprocess.Popen([str(BINARY), "serve", "--config", config, "--listen", "127.0.0.1:0",
                                 "--data-dir", str(self.directory / "d")], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, env=environment({"RUNNEL_LISTEN": "127.0.0.1:2"}))
        try:
            line = next(l for l in done.stdout if b"listening" in l)
        finally:
            done.kill()
            done.wait()
            done.stdout.close()
        self.assertNotRegex(line, rb":(1|2)\s*$")


if __name__ == "__main__":
    unittest.main()
