# SPDX-License-Identifier: Apache-2.0
"""The kernel for bash: what cells do, and what is left of it."""

import os
import time
import unittest

from driver import Kernel, KernelTest, wait_for

LIMIT = 60


class BashTest(KernelTest):
    name = "bash"

    def output(self, code, **keys):
        return self.run_cell(code, **keys).text()

    def status(self, code):
        reply = self.fail_cell(code).reply
        self.assertEqual(reply["ename"], "ExitStatus")
        self.assertEqual(reply["traceback"], [])
        return int(reply["evalue"])


class State(BashTest):
    def test_lasts(self):
        self.run_cell(
            "v='a  b'; declare -A m=([k]=w); f() { echo \"f $1\"; }\n"
            "alias hi='echo hello'; cd /usr; set -o pipefail; export E=x\n"
            "exec 7</etc/passwd; set -- one 'two 2'; umask 027"
        )
        text = "a  b w f 1 hello /usr pipefail x root two 2 0027\n"
        self.assertEqual(
            self.output(
                "read -u7 line; set -o | grep -q 'pipefail.*on' && p=pipefail\n"
                "echo \"$v ${m[k]} $(f 1) $(hi) $PWD $p $(printenv E)"
                ' ${line%%:*} $2 $(umask)"'
            ),
            text,
        )
        self.run_cell("set +o pipefail; set --; umask 022")

    def test_status(self):
        self.assertEqual(self.status("(exit 7)"), 7)
        self.assertEqual(self.output("echo $?"), "7\n")
        self.assertEqual(self.output("echo $?"), "0\n")
        self.assertEqual(self.status("true | false"), 1)
        cell = self.kernel.run("kill -TERM $BASHPID; false | true; (kill -9 $BASHPID)")
        self.assertEqual(cell.reply["evalue"], "137")
        self.assertEqual(len(cell.of("error")), 1)

    def test_exit_ends_the_cell_only(self):
        self.run_cell("kept='x y'; g() { echo g; }; declare -r fix=1; shopt -s extglob")
        cell = self.fail_cell("echo out; exit 3; echo not")
        self.assertEqual((cell.text(), cell.reply["evalue"]), ("out\n", "3"))
        self.assertEqual(cell.text("stderr"), "")
        self.assertEqual(self.status("return 5; echo not"), 5)
        self.assertEqual(self.output('echo "$kept $(g) $fix"; exit'), "x y g 1\n")
        self.assertEqual(self.output('echo "$kept"; shopt -q extglob'), "x y\n")

    def test_errexit(self):
        cell = self.fail_cell("set -e; here=1; echo a; false; echo b")
        self.assertEqual((cell.text(), cell.reply["evalue"]), ("a\n", "1"))
        self.assertEqual(self.output("echo $here; set +e"), "1\n")
        self.assertEqual(self.status("set -u; echo $missing; echo not"), 1)
        self.assertEqual(self.output("set +u; echo ok"), "ok\n")

    def test_killed(self):
        self.run_cell("gone=1; cd /usr")
        for code, why in (
            ("kill -9 $$", "killed by signal 9"),
            ("exec true", "has ended"),
            ("trap 'echo bye' EXIT; exit 4", "has ended"),
        ):
            cell = self.kernel.run(code)
            self.assertIn("bash", cell.text("stderr"))
            self.assertIn(why, cell.text("stderr"))
            self.assertEqual(self.output('echo "<$gone>"'), "<>\n")
        self.assertEqual(self.kernel.run("exec /nonexistent").reply["status"], "error")
        self.assertEqual(self.output("echo on"), "on\n")


class Code(BashTest):
    def test_syntax(self):
        for code in ("echo a\nfi", "echo 'unbalanced", 'echo "', "echo $(", "((", "}"):
            cell = self.fail_cell(code)
            self.assertTrue(cell.text("stderr").startswith("bash: "), cell.text("stderr"))
        self.assertEqual(self.output("echo fine"), "fine\n")

    def test_words(self):
        for code, text in (
            ("cat <<E\na $((1+1)) 'b'\nE", "a 2 'b'\n"),
            ("cat <<'E'\n$x\nE\n", "$x\n"),
            ("echo 'it'\\''s' \"q\"", "it's q\n"),
            ('echo "wow!" !! !x', "wow! !! !x\n"),
            ("echo ä€😀", "ä€😀\n"),
            ("# nothing", ""),
            ("", ""),
            ("printf 'no newline'", "no newline"),
            ("read x; echo \"<$x>\"; cat", "<>\n"),
            ("for i in 1 2\ndo\n  echo $i\ndone", "1\n2\n"),
            ("echo a\0b", "ab\n"),
            ("yes | head -n 1", "y\n"),
            ("sh -c 'kill -9 $$' || echo $? $LINENO", "137 1\n"),
        ):
            cell = self.run_cell(code)
            self.assertEqual((cell.text(), cell.text("stderr")), (text, ""))
        code = "x='%s'; echo ${#x}" % ("y" * 300000)
        self.assertEqual(self.output(code), "300000\n")

    def test_prompts_and_traces_are_not_shown(self):
        self.run_cell("PS1='prompt> '; PS2='more> '; set -x")
        cell = self.run_cell("echo a\necho b")
        self.assertEqual(cell.text(), "a\nb\n")
        self.assertEqual(cell.text("stderr"), "++ echo a\n++ echo b\n")
        self.run_cell("set +x")

    def test_redirections_of_a_cell(self):
        self.assertEqual(self.output("exec 2>&1; echo a >&2"), "a\n")
        cell = self.run_cell("echo a; echo b >&2")
        self.assertEqual((cell.text(), cell.text("stderr")), ("a\n", "b\n"))

    def test_traps(self):
        self.assertEqual(self.output("trap 'echo usr' USR1; kill -USR1 $$"), "usr\n")
        self.assertEqual(self.output("kill -USR1 $$; trap - USR1"), "usr\n")
        self.assertEqual(self.status("trap 'echo err' ERR; false"), 1)
        self.run_cell("trap - ERR")

    def test_silent(self):
        cell = self.kernel.run("s=1; false", silent=True)
        self.assertEqual((cell.reply["status"], cell.messages), ("error", []))
        self.assertEqual(self.output("echo $s"), "1\n")


class Output(BashTest):
    def test_background(self):
        # It has our pipes, and lives on; its output comes when it does.
        identity = self.kernel.send(
            "mkfifo \"$HOME/go\"; { read <\"$HOME/go\"; echo late; } & echo now"
        )
        self.assertEqual(self.kernel.collect(identity).text(), "now\n")
        self.kernel.run('echo >"$HOME/go"; wait; echo waited', store_history=False)
        cell = self.run_cell("rm \"$HOME/go\"; jobs")
        self.assertEqual(cell.text(), "")

    def test_binary(self):
        text = self.output("printf 'a\\377\\0\\001b\\n'")
        self.assertTrue(text.startswith("a") and text.endswith("b\n"), text)

    def test_huge(self):
        """Its memory stays what it is, and nothing is lost."""
        before = memory(self.kernel)
        cell = self.run_cell("yes 0123456789abcde | head -c 64000000")
        self.assertEqual(sum(len(c["text"]) for c in cell.of("stream")), 64000000)
        self.assertLess(memory(self.kernel) - before, 48 << 10)


class Interrupts(BashTest):
    def interrupted(self, code, times=1):
        """Interrupt a cell once it says that it is ready."""
        identity = self.kernel.send(code)
        wait_for(self.kernel, identity, "go")
        for _ in range(times):
            self.kernel.manager.interrupt_kernel()
        return self.kernel.collect(identity)

    def assertInterrupted(self, cell, code=None):
        name = cell.reply.get("ename")
        self.assertEqual(name, "KeyboardInterrupt", (code, cell.reply, cell.messages))

    def test_survived(self):
        self.run_cell("still=here")
        # Ready is what has begun: bash misses a signal while it forks.
        sleep = "sh -c 'echo go >&2; exec sleep 1000'"
        for code in (
            "%s; echo not",
            "echo go; while :; do :; done; echo not",
            "echo go; while :; do sleep 0.01; done",
            "sleep 1000 | %s",
            "x=$(%s); echo not",
            "( %s; echo not ); echo not",
            "wait & %s; wait; echo not",
            "f() { %s; echo not; }; f; echo not",
            "read x < <(%s); echo not",
        ):
            cell = self.interrupted(code.replace("%s", sleep))
            self.assertInterrupted(cell, code)
            self.assertNotIn("not", cell.text())
            self.assertEqual(self.output("echo $still"), "here\n", code)

    def test_subshell_that_missed_it(self):
        """As one does that is struck while it is being started."""
        cell = self.interrupted(
            "(trap '((++struck > 1)) && exit 1' INT; echo go; while :; do :; done)"
        )
        self.assertInterrupted(cell)

    def test_twice(self):
        """What ignores an interrupt is killed; bash too, if it is the one."""
        self.run_cell("still=here")
        cell = self.interrupted("(trap '' INT; echo go; sleep 1000)", 2)
        self.assertInterrupted(cell)
        self.assertEqual(self.output("echo $still"), "here\n")
        cell = self.interrupted("trap '' INT; echo go; while :; do :; done", 2)
        self.assertIn("killed by signal 9", cell.text("stderr"), cell.reply)
        self.assertEqual(self.output('echo "<$still>"'), "<>\n")

    def test_background_is_spared(self):
        begun = "until grep -q sleep /proc/$job/cmdline; do :; done"
        self.run_cell("sleep 1000 & job=$!; " + begun)
        self.interrupted("echo go; sleep 1000")
        self.run_cell("kill -0 $job && kill $job")

    def test_deadline(self):
        metadata = {"sandbox": {"deadline": 0.2}}
        cell = self.kernel.run("still=1; sleep 1000", metadata=metadata)
        self.assertEqual(cell.reply["ename"], "TimeoutError")
        self.assertEqual(self.output("echo $still"), "1\n")


class Words(BashTest):
    def matches(self, code):
        reply = self.kernel.ask("complete_request", code=code, cursor_pos=len(code))
        self.assertEqual(reply["status"], "ok")
        start = reply["cursor_start"]
        return [code[:start] + match for match in reply["matches"]]

    def test_complete(self):
        self.run_cell(
            "cd \"$HOME\"; mkdir -p words; cd words; touch 'two words' other; mkdir dir\n"
            "my_variable=1; my_function() { :; }; my_array=()"
        )
        for code, found in (
            ("my_f", ["my_function"]),
            ("ls; my_f", ["ls; my_function"]),
            ("echo $my_v", ["echo $my_variable"]),
            ("echo \"${my_v", ['echo "${my_variable']),
            ("unset my_v", ["unset my_variable"]),
            ("cat tw", ["cat two\\ words"]),
            ("cat two\\ w", ["cat two\\ words"]),
            ("cat <oth", ["cat <other"]),
            ("cd ", ["cd dir/"]),
            ("nothing_like_it", []),
            ("kill SIGUSR", ["kill SIGUSR1", "kill SIGUSR2"]),
        ):
            self.assertEqual(self.matches(code), found)
        self.run_cell("set -eu")
        self.assertEqual(self.matches("nothing_like_it"), [])
        self.assertEqual(self.output("echo $my_variable; set +eu"), "1\n")

    def test_inspect(self):
        self.run_cell("shown=(1 2); shout() { echo LOUD; }")
        for word, part in (
            ("cd", "directory"),
            ("if", "then"),
            ("shown", "declare -a shown"),
            ("shout", "LOUD"),
            ("env", "/env"),
        ):
            reply = self.kernel.ask("inspect_request", code=word, cursor_pos=1)
            self.assertTrue(reply["found"], word)
            self.assertIn(part, reply["data"]["text/plain"])
        reply = self.kernel.ask("inspect_request", code="nothing_here", cursor_pos=3)
        self.assertFalse(reply["found"])

    def test_status_survives_questions(self):
        self.assertEqual(self.status("(exit 9)"), 9)
        self.matches("ec")
        self.assertEqual(self.output("echo $?"), "9\n")


class End(unittest.TestCase):
    def test_nothing_is_left(self):
        """A shutdown ends all that cells have started."""
        kernel = Kernel("bash")
        try:
            cell = kernel.run(
                "sleep 1001 & (sleep 1002 &); (trap '' INT TERM HUP; sleep 1003) &\n"
                "mkdir -p \"$HOME/end\"; trap 'echo >\"$HOME/end/trap\"' EXIT; echo $$"
            )
            session = os.getsid(int(cell.text().split()[-1]))
            self.assertGreater(len(members(session)), 3)
            kernel.client.shutdown()
            wait_until(lambda: not members(session))
            self.assertTrue(os.path.exists(os.environ["HOME"] + "/end/trap"))
        finally:
            kernel.stop()

    def test_while_a_cell_runs(self):
        kernel = Kernel("bash")
        try:
            identity = kernel.send("echo $$; echo go; sleep 1004")
            session = os.getsid(kernel.manager.provisioner.process.pid)
            wait_for(kernel, identity, "go")
            self.assertGreater(len(members(session)), 1)
            kernel.client.shutdown()
            wait_until(lambda: not members(session))
        finally:
            kernel.stop()


def members(session):
    """The living processes of a session."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name) as file:
                state, _, _, owner = file.read().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(owner) == session and state not in "ZX":
            found.append(int(name))
    return found


def wait_until(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


def memory(kernel):
    with open("/proc/%d/status" % kernel.manager.provisioner.process.pid) as file:
        return int([line for line in file if line.startswith("VmHWM")][0].split()[1])


if __name__ == "__main__":
    unittest.main()
