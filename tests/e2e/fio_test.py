"""Jobs of fio on a device of ours, by its own engine: sequential, random and zoned ones with verification, several at once as threads and
as processes, trims, syncs, a second call that finds what the first has written; errors that are reported."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import HANG_S, device_problem, fio_problem  # noqa: E402

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
MISSING = device_problem() or fio_problem()

ZONE, CAPACITY = 512 << 10, 384 << 10  # of device small


@unittest.skipIf(MISSING, MISSING)
class Fio(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-fio-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, *words, environment=None):
        return subprocess.run([DRIVER, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.folder, timeout=HANG_S,
                              env={**os.environ, **(environment or {})})

    def jobs(self, *words, device=("--device", "small")):
        """fio's JSON output for its jobs, which must end well."""
        run = self.call("fio", *device, "--output-format=json", *words)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        done = json.loads(run.stdout[run.stdout.index("{\n"):])["jobs"]  # behind its warnings
        self.assertEqual([job["error"] for job in done], [0] * len(done))
        self.assertEqual([file.name for file in self.folder.glob("*.state")], [])
        return done, run.stderr

    def file(self, *lines):
        file = self.folder / "job.fio"
        file.write_text("\n".join(lines) + "\n")
        return file

    def test_zones_sequential_and_random(self):
        """Writes that lead to resets, and every block read again."""
        (first, second), _ = self.jobs(self.file(
            "[global]", "bs=16k", "verify=crc32c", "iodepth=8", "size=2m", "max_open_zones=4", "[sequential]", "rw=write",
            "[random]", "stonewall", "rw=randwrite", "io_size=6m", "offset=3m"))
        self.assertEqual(first["write"]["total_ios"], 2 * (1 << 20) // ZONE * CAPACITY // (16 << 10))
        self.assertEqual(first["read"]["total_ios"], first["write"]["total_ios"])
        self.assertGreater(second["write"]["total_ios"], 4 * CAPACITY // (16 << 10), "zones were written twice, so they were reset")
        self.assertGreater(second["read"]["total_ios"], 0)
        self.assertGreater(first["iodepth_level"]["8"], 50, "eight were under way")

    def test_a_block_size_above_a_command_is_several(self):
        """As a kernel splits it: on zones and blocks, more of it under way than the queue takes, and a rest that is no whole command."""
        for device, block, depth, size in (("default", "1m", 4, "16m"), ("small-legacy", "1m", 1, "4m"), ("small-legacy", "1540k", 2, "4620k"),
                                           ("small-legacy", "1m", 200, "4m")):
            with self.subTest(device=device, block=block):
                (job,), _ = self.jobs("--name=a", "--rw=write", f"--iodepth={depth}", "--verify=crc32c", f"--bs={block}", f"--size={size}",
                                      device=("--device", device))
                self.assertGreater(job["read"]["total_ios"], 2)
        run = self.call("fio", "--device", "small-legacy", "--name=a", "--rw=write", "--bs=128m", "--size=128m")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("a request is of at most 67108864 bytes", run.stderr)

    def test_several_jobs_at_once(self):
        """Each with a queue of its own, in processes and in threads."""
        for kind in ("--thread=0", "--thread=1"):
            done, _ = self.jobs("--numjobs=4", kind, "--name=a", "--rw=randwrite", "--bs=16k", "--size=1m", "--offset_increment=1m",
                                "--verify=crc32c", "--iodepth=4", "--max_open_zones=4", "--job_max_open_zones=1")
            self.assertEqual(len(done), 4)
            for job in done:
                self.assertGreater(job["read"]["total_ios"], 0)

    def test_a_block_device(self):
        """Random overwrites at any place, trims that read as zeros, syncs, and writes that are durable by themselves."""
        block = ("--device", "small-legacy", "--image", self.folder / "image")
        (job,), _ = self.jobs("--name=a", "--rw=randwrite", "--bs=16k", "--size=4m", "--fsync=16", "--iodepth=16", "--verify=xxhash",
                              device=block)
        self.assertGreater(job["sync"]["total_ios"], 5)
        (job,), _ = self.jobs("--name=t", "--rw=trim", "--bs=256k", "--size=4m", device=block)
        self.assertEqual(job["trim"]["total_ios"], 16)
        (zeros,), _ = self.jobs("--name=z", "--rw=read", "--bs=64k", "--size=4m", "--verify=pattern", "--verify_pattern=0x00",
                                device=block)
        self.assertEqual(zeros["read"]["total_ios"], 64)
        self.jobs("--name=s", "--rw=write", "--bs=8k", "--size=256k", "--sync=1", device=block)

    def skip_if_fio_has_fdp(self):
        found = re.search(r"fio-(\d+)\.(\d+)", subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout)
        if found and tuple(map(int, found.groups())) >= (3, 34):
            self.skipTest("fio 3.34 and later have options fdp and fdp_pli themselves, which our engine does not serve (docs/guide/fio.md)")

    def room(self, image):
        """Blocks that are left in the superblock of each handle."""
        run = self.call("nvme", *image, "fdp", "status", "-o", "json")
        self.assertEqual(run.returncode, 0, run.stderr)
        return [one["ruamw"] for one in json.loads(run.stdout)["ruhss"]]

    @unittest.skipUnless(shutil.which("nvme") or os.path.exists("/usr/sbin/nvme"), "nvme-cli is not installed (scripts/setup installs it)")
    def test_handles_of_flexible_data_placement(self):
        self.skip_if_fio_has_fdp()
        """fio's own options: writes name the handles of the list in turn, all commands of a request the same, and reads find the data."""
        image = ("--device", "small-fdp", "--image", self.folder / "image")
        unit, *others = self.room(image)
        self.assertEqual(others, [unit] * 3)
        words = ("--name=a", "--rw=write", "--bs=16k", "--size=160k", "--verify=crc32c", "--fdp=1")
        self.jobs(*words, "--fdp_pli=3,1", device=image)
        self.assertEqual(self.room(image), [unit, unit - 20, unit, unit - 20])
        self.jobs(*words, "--offset=160k", "--io_size=64k", device=image)
        self.assertEqual(self.room(image), [unit - 4, unit - 24, unit - 4, unit - 24])
        self.jobs(*words[:-1], "--offset=320k", "--io_size=16k", device=image)
        self.assertEqual(self.room(image)[0], unit - 8, "without fdp=1 no handle is named, which is the first one")
        self.jobs("--name=large", "--rw=write", "--bs=1m", "--size=1m", "--offset=512k", "--iodepth=1", "--fdp=1", "--fdp_pli=2", device=image)
        self.assertEqual(self.room(image)[3], unit - 24)

    def test_handles_that_cannot_be_named(self):
        self.skip_if_fio_has_fdp()
        for device, words, says in (("small-fdp", ("--fdp=1", "--fdp_pli=4"), "the device has 0 to 3"), ("small-fdp", ("--fdp=1", "--fdp_pli=1,"), "such as 0,2"),
                                    ("small-fdp", ("--fdp_pli=1",), "fdp=1 that they name any: add it"),
                                    ("small-legacy", ("--fdp=1",), "its file sets fdp.handles")):
            run = self.call("fio", "--device", device, "--name=a", "--rw=write", "--bs=16k", "--size=64k", *words)
            self.assertNotEqual(run.returncode, 0, words)
            self.assertIn(says, run.stderr + run.stdout, words)

    def test_a_second_call_finds_what_the_first_wrote(self):
        words = "--bs=16k --size=1m --verify=crc32c --iodepth=4 --verify_state_save=0"
        script = (f"set -e; {DRIVER} fio --name=a --rw=write --do_verify=0 {words}; "
                  f"{DRIVER} fio --name=a --rw=read {words} --output-format=terse")
        run = self.call("serve", "--device", "small", "--", "sh", "-c", script)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        bad = script.replace("--rw=read --bs", "--rw=read --verify_pattern=7 --bs").replace("--rw=read", "--rw=read --verify=sha1", 1)
        bad = bad.replace("--verify=crc32c --iodepth=4 --verify_state_save=0 --output", "--verify=sha1 --iodepth=4 --output")
        run = self.call("serve", "--device", "small", "--", "sh", "-c", bad)
        self.assertNotEqual(run.returncode, 0, "another checksum is found to be wrong")

    def test_the_virtual_clock(self):
        """Latencies of the device, the same each time."""
        words = ("--name=a", "--rw=randwrite", "--bs=16k", "--size=1m", "--iodepth=4", "--max_open_zones=2", "--randrepeat=1")
        said = [self.jobs(*words, device=("--device", "small", "--clock", "virtual"))[1] for _ in range(2)]
        self.assertRegex(said[0], r"a: write, latency of the device: \d+ commands, mean [0-9.]+ us")
        self.assertEqual(said[0], said[1])

    def test_an_end_before_its_time(self):
        """A signal to the command ends the jobs too, and leaves nothing but the image."""
        image = self.folder / "image"
        runs = self.folder / "runs"
        runs.mkdir()
        environment = {**os.environ, "HARTZONE_RUN_BASE": str(runs)}
        words = ("--name=a", "--rw=randwrite", "--bs=16k", "--size=1m", "--time_based=1", "--runtime=1h")
        with subprocess.Popen([DRIVER, "fio", "--device", "small", "--image", str(image), *words, "--status-interval=1"], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as run:
            for line in run.stdout:
                if "IOPS" in line:
                    break
            run.terminate()
            run.stdout.read()
            self.assertEqual((run.wait(HANG_S), list(runs.iterdir())), (130, []))
        self.assertEqual(self.call("image", "check", image).returncode, 0)

    def test_a_killed_command_takes_its_jobs_along(self):
        """Nobody passes a signal on that it does not survive; the jobs of an attached command end all the same."""
        device = subprocess.Popen([DRIVER, "serve", "--device", "small"], stdout=subprocess.PIPE, text=True)
        for clean_up in (device.stdout.close, device.wait, device.terminate):
            self.addCleanup(clean_up)
        device.stdout.readline()
        words = ("--name=a", "--rw=randwrite", "--bs=16k", "--size=1m", "--time_based=1", "--runtime=20", "--status-interval=1")
        with subprocess.Popen([DRIVER, "fio", "--attach", device.stdout.readline().strip(), *words], cwd=self.folder,
                              stdout=subprocess.PIPE, text=True) as run:
            while "IOPS" not in run.stdout.readline():
                pass
            run.kill()
            left = run.stdout.read()  # until the last of the jobs has gone
        self.assertNotIn("run=20", left, "they ended before their time")

    def test_a_job_that_is_killed_fails_the_call(self):
        """fio itself ends with 0 then."""
        words = ("--device", "small-legacy", "--name=a", "--rw=randread", "--bs=4k", "--size=64k", "--time_based=1", "--runtime=100",
                 "--status-interval=1")
        with subprocess.Popen([DRIVER, "fio", *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            while "IOPS" not in run.stdout.readline():
                pass
            fio, = self.children(run.pid, "fio")
            job, = self.children(fio, "fio")
            os.kill(job, signal.SIGABRT)
            _, stderr = run.communicate(timeout=HANG_S)
        self.assertEqual(run.returncode, 1)
        self.assertIn("1 of 1 jobs of fio were killed", stderr)

    @staticmethod
    def children(parent, name):
        """Processes of this name that it has started."""
        found = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                before, behind = stat.read_text().rsplit(")", 1)
            except OSError:
                continue
            if before.split("(", 1)[1] == name and int(behind.split()[1]) == parent:
                found.append(int(stat.parent.name))
        return found

    def test_errors_are_reported(self):
        run = self.call("fio", "--device", "small", "--name=a", "--rw=randwrite", "--bs=16k", "--size=1m", "--zonemode=none")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("hartzone: a: write at ", run.stderr + run.stdout)
        self.assertIn("Zone Invalid Write", run.stderr + run.stdout)
        run = self.call("fio", "--device", "small", "--name=a", "--rw=read", "--bs=512", "--size=1m")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("bs is a multiple of 4096", run.stderr + run.stdout)
        nothing_boots = {"HARTZONE_QEMU": "/bin/false"}
        for words, says in (((), "say which job"), (("nosuch.fio",), "nosuch.fio"), (("--nosuch",), "nosuch"), (("--name=a", "-x"), "-x"),
                            (("--attach", "/nonexistent", "--name=a"), "there is no run folder")):
            run = self.call("fio", *words, environment=nothing_boots)
            self.assertEqual((run.returncode, run.stdout), (1, ""), words)
            self.assertIn(says, run.stderr, words)
            self.assertNotIn("QEMU ended", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
