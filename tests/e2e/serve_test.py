"""A device that stays up: used by processes at once and in turn, by one that is killed, and shut down in order by a signal, with an image
that keeps what was written; nothing is left behind."""
# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest import processes  # noqa: E402
from hztest.needs import HANG_S, device_problem, fio_problem  # noqa: E402

MISSING = device_problem()
DRIVER, GUEST = os.environ.get("HARTZONE_DRIVER", ""), os.environ.get("HARTZONE_GUEST", "")
BLOCK = 4096
# Which one depends on the command under way: an admin command, I/O, or none.
OWNER_LEFT = "the owner of the device.* closed it or (ended|resets its controller)|the machine .* (ended|does not run)"
CHANNEL_EACH = """name: two
geometry: {channels: 2, chips_per_channel: 1, planes_per_die: 2, blocks_per_plane: 40, slc_blocks_per_plane: 16, pages_per_block: 24}
zones: {max_open: 4, max_active: 4}
buffers: {count: 4}
namespaces: {channels: [0, 1]}
"""


@unittest.skipIf(MISSING, MISSING)
class Serve(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-serve-")
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name) / "runs"
        self.base.mkdir()
        self.image = str(pathlib.Path(folder.name) / "image")
        self.environment = {**os.environ, "HARTZONE_RUN_BASE": str(self.base)}

    def call(self, *words, data=None):
        return subprocess.run([DRIVER, *map(str, words)], capture_output=True, check=False, input=data, env=self.environment, timeout=HANG_S)

    def good(self, *words, data=None):
        run = self.call(*words, data=data)
        self.assertEqual(run.returncode, 0, (words, run.stderr))
        return run.stdout

    def up(self, *words, device="small"):
        """A device, and its run folder as it was printed."""
        device = subprocess.Popen([DRIVER, "serve", "--device", str(device), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=self.environment, text=True)
        self.addCleanup(device.stderr.close)
        self.addCleanup(device.stdout.close)
        self.addCleanup(device.wait)
        self.addCleanup(device.kill)
        first = device.stdout.readline()
        self.assertEqual(first, "the device is up; its run folder is\n", device.stderr.read() if not first else "")
        return device, device.stdout.readline().strip()

    def guest(self, role, folder, zone):
        guest = subprocess.Popen([GUEST, "--guest", role, folder, str(zone)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=self.environment, text=True)
        self.addCleanup(guest.stderr.close)
        self.addCleanup(guest.stdout.close)
        self.addCleanup(guest.wait)
        self.addCleanup(guest.kill)
        self.assertEqual(guest.stdout.readline(), "ready\n")
        return guest

    def stopped(self, device, number):
        """It ends well, and leaves nothing."""
        device.send_signal(number)
        self.assertEqual((device.wait(HANG_S), device.stderr.read()), (0, ""))
        self.assertEqual(list(self.base.iterdir()), [])
        self.assertEqual(processes.naming(self.base), [])

    def test_several_at_once_one_of_them_killed(self):
        device, folder = self.up("--image", self.image)
        self.assertEqual(self.good("serve", "--list").decode().split(), [folder])
        self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(folder + "/control").st_mode), 0o600)
        endless, working = self.guest("endless", folder, 3), self.guest("work", folder, 4)
        data = bytes(i % 251 for i in range(2 * BLOCK))
        self.good("nvme", "--attach", folder, "write", "-s", 0, "-c", 1, "-z", len(data), data=data)
        endless.kill()
        endless.wait()
        self.good("nvme", "--attach", folder, "zns", "finish-zone", "-s", 128)
        self.assertEqual(self.good("nvme", "--attach", folder, "read", "-s", 0, "-c", 1, "-z", len(data))[:len(data)], data)
        self.assertEqual((working.wait(HANG_S), working.stderr.read()), (0, ""), "another's death cost it something")
        self.assertRegex(self.good("info", "--zones", "--attach", folder).decode(), r"zone at 128 +full")
        self.stopped(device, signal.SIGINT)
        kept = self.good("nvme", "--device", "small", "--image", self.image, "read", "-s", 0, "-c", 1, "-z", len(data))
        self.assertEqual(kept[:len(data)], data, "the image has what the clients wrote")

    def test_stopped_while_one_is_at_work(self):
        device, folder = self.up("--image", self.image)
        endless = self.guest("endless", folder, 3)
        self.stopped(device, signal.SIGTERM)
        self.assertEqual(endless.wait(HANG_S), 1)
        self.assertRegex(endless.stderr.read(), OWNER_LEFT)
        self.good("image", "check", self.image)
        run = self.call("info", "--attach", folder)
        self.assertEqual((run.returncode, run.stdout), (1, b""))
        self.assertIn(b"there is no run folder", run.stderr)

    def test_a_killed_server_leaves_nothing(self):
        device, folder = self.up()
        device.kill()
        device.wait()
        wait = subprocess.run(["timeout", str(HANG_S), "sh", "-c", f"while [ -e {folder} ]; do sleep 0.05; done"], check=False)
        self.assertEqual(wait.returncode, 0)
        self.assertEqual(self.good("serve", "--list"), b"")

    def test_a_command_on_the_device(self):
        run = self.call("serve", "--device", "small", "--clock", "virtual", "--", "sh", "-c",
                        f"{DRIVER} nvme zns finish-zone -s 128 >&2; {DRIVER} nvme zns report-zones -d 2 -o json; exit 7")
        self.assertEqual(run.returncode, 7, run.stderr)
        self.assertEqual([zone["state"] for zone in json.loads(run.stdout)["zone_list"]], ["EMPTY", "FULL"])
        self.assertEqual(list(self.base.iterdir()), [])

    def workload(self, name, *threads, ops=60):
        """Of a thread for each dict of keys."""
        file = self.base.parent / (name + ".yaml")
        common = {"read_ratio": 0.4, "block": "16 KiB", "queue_depth": 4, "total_ops": ops}
        file.write_text(json.dumps({"name": name, "mapping": "direct", "threads": len(threads), "common": common, "each": threads}))
        return file

    def run_on(self, folder, workload, *words):
        run = self.call("run", "--attach", folder, "--workload", workload, "--out", self.base.parent / workload.stem, *words)
        result = json.loads((self.base.parent / workload.stem / "result.json").read_text())
        return run, result

    def cores(self, *words):
        """Number of cores allowed for the users of a device."""
        return int(self.good("serve", "--device", "small", *words, "--", sys.executable, "-c", "import os; print(len(os.sched_getaffinity(0)))"))

    def test_under_the_virtual_clock_all_stay_on_a_core_that_is_free(self):
        """Which other runs on this host may just have taken, hence the repetition."""
        self.assertTrue(any(self.cores("--clock", "virtual") == 1 for _ in range(200)), "of 200 devices none stayed on one core")

    def test_else_they_may_run_on_all_cores(self):
        """Under the real clock, if the user chooses, and when each core is taken: by others, or by us."""
        ours = os.sched_getaffinity(0)
        self.assertEqual(self.cores("--clock", "real"), len(ours))
        self.assertEqual(self.cores("--clock", "virtual", "--vclock", "pin=off"), len(ours))
        for core in ours:
            self.take(core)
        self.assertEqual(self.cores("--clock", "virtual"), len(ours))

    def take(self, core):
        """As a run does; as soon as none has it."""
        name, end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), time.monotonic() + HANG_S
        self.addCleanup(name.close)
        while True:
            try:
                return name.bind(f"\0hartzone-core-{core}")
            except OSError:
                self.assertLess(time.monotonic(), end, f"another process keeps core {core}")
                time.sleep(0.01)

    def test_runs_beside_the_data_of_others(self):
        device, folder = self.up("--clock", "virtual")
        data = bytes(i % 241 for i in range(BLOCK))
        self.good("nvme", "--attach", folder, "write", "-s", 0, "-z", BLOCK, data=data)
        for kept in (1, 3):
            run, result = self.run_on(folder, self.workload("two", {"zones": 1}, {"zones": 1}))
            self.assertEqual((run.returncode, result["attached"], result["kept_zones"], result["violations"]), (0, True, kept, []), run.stderr)
            self.assertGreater(result["verified_bytes"], 0)
            self.assertFalse(result["deterministic"])
        self.assertEqual(self.good("nvme", "--attach", folder, "read", "-s", 0, "-z", BLOCK)[:BLOCK], data)
        named = self.workload("named", {"zones": 1, "first_zone": 6})
        run, result = self.run_on(folder, named)
        self.assertEqual((run.returncode, result["violations"]), (0, []), run.stderr)
        run, result = self.run_on(folder, named)
        self.assertEqual(run.returncode, 1)
        self.assertIn("names zone 6 (first_zone), which holds data of others", result["error"])
        run, result = self.run_on(folder, self.workload("many", {"zones": 9}))
        self.assertEqual(run.returncode, 1)
        self.assertIn("6 zones are partly written, not by this run", result["error"])
        self.stopped(device, signal.SIGINT)

    def test_runs_on_any_namespace(self):
        two = self.base.parent / "two.yaml"
        two.write_text(CHANNEL_EACH)
        device, folder = self.up("--clock", "virtual", device=two)
        data = bytes(i % 241 for i in range(BLOCK))
        self.good("nvme", "--attach", folder, "write", "-n", 2, "-s", 0, "-z", BLOCK, data=data)
        both = self.workload("both", {"zones": 1}, {"zones": 1})
        for kept in (1, 3):
            run, result = self.run_on(folder, both, "--namespaces", "1,2")
            self.assertEqual((run.returncode, result["kept_zones"], result["violations"]), (0, kept, []), run.stderr)
            self.assertEqual([queue["nsid"] for queue in result["queues"]], [1, 2])
            self.assertGreater(min(part["ftl"]["host_write_bytes"] for part in result["namespaces"]), 0)
        self.assertEqual(self.good("nvme", "--attach", folder, "read", "-n", 2, "-s", 0, "-z", BLOCK)[:BLOCK], data)
        named = self.workload("named", {"zones": 1, "first_zone": 0})
        run, result = self.run_on(folder, named, "--namespaces", "2")
        self.assertEqual(run.returncode, 1)
        self.assertIn("names zone 0 (first_zone) of namespace 2, which holds data of others", result["error"])
        run, result = self.run_on(folder, both, "--namespaces", "3")
        self.assertIn("the device has 2, and no namespace 3", result["error"])
        self.stopped(device, signal.SIGTERM)

    def test_files_and_jobs_on_any_namespace(self):
        """Each namespace has its own files, besides those of fio."""
        four = self.base.parent / "four.yaml"
        text = (TOP / "configs" / "devices" / "conzone-f2fs.yaml").read_text()
        for key, value in (("blocks_per_plane: 145", 4 * 49), ("slc_blocks_per_plane: 10", 4 * 10), ("count: 128", 32)):
            text = text.replace(key, f"{key.split()[0]} {value}")
        four.write_text(text + "namespaces: {count: 4}\n")
        device, folder = self.up("--clock", "virtual", device=four)
        for nsid in (1, 2):
            self.good("sqlite", "--attach", folder, "--namespace", nsid, "a.db", f"create table t(v); insert into t values({nsid});")
        for nsid in (2, 1):
            said = self.good("sqlite", "--attach", folder, "--namespace", nsid, "a.db", "select v from t")
            self.assertEqual(said.decode().strip(), str(nsid))
        with subprocess.Popen([DRIVER, "sqlite", "--attach", folder, "a.db"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env=self.environment) as first:
            first.stdin.write("select v from t;\n")
            first.stdin.flush()
            self.assertEqual(first.stdout.readline(), "1\n")
            self.assertEqual(self.good("sqlite", "--attach", folder, "--namespace", 2, "a.db", "select v from t"), b"2\n")
            second = self.call("sqlite", "--attach", folder, "a.db", "select v from t")
            self.assertIn(b"another program has the files of this namespace", second.stderr)
        if not fio_problem():
            job = ("--rw=write", "--bs=16k", "--size=192k", "--verify=crc32c", "--thread")
            self.good("fio", "--attach", folder, "--name=a", "--nsid=3", *job, "--name=b", "--nsid=4", *job)
            for nsid in (3, 4):
                self.assertTrue(any(self.good("nvme", "--attach", folder, "read", "-n", nsid, "-s", 0, "-z", BLOCK)[:BLOCK]), "what fio wrote")
        self.good("rocksdb", "--attach", folder, "--namespace", 2, "fillseq", "check", "--keys", 300, "--memtable", 1)
        self.assertEqual(self.good("sqlite", "--attach", folder, "a.db", "select v from t").decode().strip(), "1")
        refused = self.call("sqlite", "--attach", folder, "--namespace", 5, "a.db", "select 1")
        self.assertIn(b"namespace 5 is not attached; those that are: 1, 2, 3, 4", refused.stderr)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn(b"takes the number of a namespace, 1 to 16", self.call("files", "update", "--namespace", 17).stderr)
        self.stopped(device, signal.SIGTERM)

    def test_runs_at_once_keep_apart_by_naming_zones(self):
        device, folder = self.up()
        each = [self.workload(f"run{i}", {"zones": 1, "first_zone": 2 + i}, ops=(60, 5000, 400)[i]) for i in range(3)]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for run, result in pool.map(lambda workload: self.run_on(folder, workload), each):
                self.assertEqual((run.returncode, result.get("error"), result.get("violations")), (0, None, []), run.stderr)
                self.assertGreaterEqual(result["ftl"]["host_read_bytes"], result["totals"]["read"]["bytes"])
        self.stopped(device, signal.SIGTERM)

    def test_a_run_whose_device_ends(self):
        device, folder = self.up()
        long = self.workload("long", {"zones": 4, "total_ops": 10000000, "block": "4 KiB"})
        run = subprocess.Popen([DRIVER, "run", "--attach", folder, "--workload", str(long)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=self.environment, text=True)
        self.assertIn("long on small", run.stdout.readline())
        self.stopped(device, signal.SIGTERM)
        _, said = run.communicate(timeout=HANG_S)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(said, OWNER_LEFT)

    def test_blocks_of_others_are_written_on_demand_only(self):
        device = self.call("serve", "--device", "legacy", "--", "sh", "-c", f"""
            {DRIVER} run --workload {self.workload("blocks", {})} && exit 9
            {DRIVER} run --workload {self.workload("blocks", {})} --overwrite || exit 8""")
        self.assertEqual(device.returncode, 0, device.stderr)
        self.assertIn(b"blocks that may hold data of others on this device: --overwrite lets it", device.stderr)

    def test_what_is_refused(self):
        self.environment["HARTZONE_QEMU"] = "/bin/false"
        for words, says in ((("serve", "--list", "--device", "small"), "leave out --device"),
                            (("serve", "--", "/nonexistent"), "there is no program /nonexistent"),
                            (("info", "--attach", "/tmp", "--device", "small"), "leave out --device"),
                            (("run", "--attach", "/tmp", "--device", "small"), "leave out --device"),
                            (("run", "--attach", "/tmp", "--timeline", "x"), "leave out --timeline"),
                            (("run", "--overwrite"), "give --attach too"),
                            (("info", "--attach", "/nonexistent"), "there is no run folder /nonexistent")):
            run = self.call(*words)
            self.assertEqual((run.returncode, run.stdout, len(run.stderr.splitlines())), (1, b"", 1), words)
            self.assertIn(says, run.stderr.decode())


if __name__ == "__main__":
    unittest.main(verbosity=2)
