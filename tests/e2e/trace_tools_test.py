"""./hartzone trace: one recording in every format, what is detected, converted, cut, scaled and counted, in constant memory; and what is
refused. Our reading of blktrace's binary files is compared with blkparse's."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
TOP = pathlib.Path(__file__).resolve().parents[2]
START_S = 1600000000  # of recordings with dates as times
FILETIME = 116444736000000000  # 1970 since 1601, in 100 ns
DEVICE = 8 << 20 | 16

# One recording: time in us, read, 512-byte sector, sectors. Each format tells it with its own units and codes.
random.seed(1)
RECORDING = [(i * 1500 + random.randrange(1000), random.random() < 0.7, random.randrange(1 << 22) * 8, random.choice((8, 16, 64))) for i in range(60)]


def lines(one, recording, head=""):
    return (head + "".join(one(*record) + "\n" for record in recording)).encode()


def records(one, recording):
    return b"".join(one(*record) for record in recording)


def word(read, reads="R", writes="W"):
    return reads if read else writes


def blk_event(time_us, read, sector, sectors, action=1, payload=b""):
    return struct.pack("<IIQQIIIIIHH", 0x65617407, 1, time_us * 1000, sector, sectors * 512, action | (1 if read else 2) << 16, 77, DEVICE, 0, 0,
                       len(payload)) + payload


def blk_event2(time_us, read, sector, sectors):
    return struct.pack("<IIQQIIQIIHH12x", 0x65617408, 1, time_us * 1000, sector, sectors * 512, 77, 1 | (1 if read else 2) << 16, DEVICE, 0, 0, 0)


def in_every_format(recording):
    """Content by format, with times in ns since START_S or since 0, and stream 0 unless another
    number is given."""
    return {
        "native": lines(lambda t, r, s, n: f"{t * 1000} 0 {word(r, 'read', 'write')} {s} {n}", recording, "hartzone-trace 1 unit=512\n"),
        "fio3": lines(lambda t, r, s, n: f"{t} /d {word(r, 'read', 'write')} {s * 512} {n * 512}", recording, "fio version 3 iolog\n"),
        "mqsim": lines(lambda t, r, s, n: f"{t * 1000} 0 {s} {n} {word(r, 1, 0)}", recording),
        "disksim": lines(lambda t, r, s, n: f"{t / 1000:.6f} 0 {s} {n} {word(r, 1, 0)}", recording),
        "fiu": lines(lambda t, r, s, n: f"{t * 1000} 4892 syslogd {s} {n} {word(r)} 0 0 531e779b1ee8f5f3", recording),
        "msr": lines(lambda t, r, s, n: f"{FILETIME + START_S * 10**7 + t * 10},hm,0,{word(r, 'Read', 'Write')},{s * 512},{n * 512},5", recording,
                     "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"),
        "systor": lines(lambda t, r, s, n: f"{START_S + t // 10**6}.{t % 10**6:06}000,0.1,{word(r)},0,{s * 512},{n * 512}", recording,
                        "Timestamp,Response,IOType,LUN,Offset,Size\n"),
        "alibaba": lines(lambda t, r, s, n: f"0,{word(r)},{s * 512},{n * 512},{START_S * 10**6 + t}", recording),
        "spc": lines(lambda t, r, s, n: f"0,{s},{n * 512},{word(r)},{t / 10**6:.6f}", recording),
        "thesios": lines(lambda t, r, s, n: f"f,spanner,{s * 512},{word(r, 'READ', 'WRITE')},{n * 512},{START_S + t // 10**6}.{t % 10**6:06}", recording,
                         "filename,application,file_offset,op_type,request_io_size_bytes,start_time\n"),
        "blkparse": lines(lambda t, r, s, n: f"  8,16   0        1     {t // 10**6}.{t % 10**6:06}000    77  Q   {word(r)} {s} + {n} [a b]", recording),
        "blktrace": records(blk_event, recording),
        "blktrace2": records(blk_event2, recording),
        "vscsi1": records(lambda t, r, s, n: struct.pack("<IIIHHQQ", 1, n * 512, 1, word(r, 0x28, 0x2a), 1 << 8, s, t), recording),
        "vscsi2": records(lambda t, r, s, n: struct.pack("<HHIIIQQQ", word(r, 0x88, 0x8a), 2 << 8, 1, n * 512, 1, s, t, 9), recording),
        # whole seconds and no directions, or only one of them:
        "tencent": lines(lambda t, r, s, n: f"{START_S + t // 10**6},{s},{n},{word(r, 0, 1)},0", recording),
        "vscsi": lines(lambda t, r, s, n: f"1,{33898 + t // 10**6},{word(r, '28', '2a')},{n * 512},{s}", recording),
        "fio2": lines(lambda t, r, s, n: f"/d {word(r, 'read', 'write')} {s * 512} {n * 512}", recording, "fio version 2 iolog\n/d add\n"),
        "oracle-general": records(lambda t, r, s, n: struct.pack("<IQIq", t // 10**6, s, n * 512, -1), recording),
    }


def as_read(line):
    time_ns, _, operation, *place = line.split()
    return int(time_ns), operation, *(int(number) for number in place[:2])


@unittest.skipUnless(os.path.exists(DRIVER), f"{DRIVER or 'HARTZONE_DRIVER'} is not built")
class Tools(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="hz-tools-")
        self.folder = pathlib.Path(self.temporary.name)
        self.file = self.folder / "t"

    def tearDown(self):
        self.temporary.cleanup()

    def trace(self, *words, content=None):
        if content is not None:
            self.file.write_bytes(content)
        return subprocess.run([DRIVER, "trace", *map(str, words)], capture_output=True, text=True, check=False)

    def good(self, *words, content=None):
        run = self.trace(*words, content=content)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def refused(self, *words, says, content=None):
        run = self.trace(*words, content=content)
        self.assertEqual((run.returncode, run.stdout), (1, ""), run.stderr)
        self.assertIn(says, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        return run.stderr

    def converted(self, *words, content=None):
        head, *rest = self.good(*words, self.file, "--out", "-", content=content).splitlines()
        self.assertIn(head, ("hartzone-trace 2 unit=1", "hartzone-trace 2 unit=1 space=shared"))
        return rest


class Formats(Tools):
    def test_every_format_is_covered(self):
        shown = self.good("detect", "--help").split("auto|", 1)[1].split()[0].split("|")
        self.assertEqual(sorted(shown), sorted(in_every_format([])))

    def test_all_say_the_same(self):
        wanted = [(t * 1000, word(r, "read", "write"), s * 512, n * 512) for t, r, s, n in RECORDING]
        for name, content in in_every_format(RECORDING).items():
            with self.subTest(format=name):
                detected = json.loads(self.good("detect", self.file, "--json", content=content))
                self.assertEqual((detected["format"], detected["format_from"]), (name, "detected"))
                found = [as_read(line) for line in self.converted("convert")]
                self.assertEqual(detected["first_records"][0], self.converted("convert")[0])
                self.assertEqual([place for _, _, *place in found], [place for _, _, *place in wanted])
                if name != "oracle-general":
                    self.assertEqual([operation for _, operation, *_ in found], [operation for _, operation, *_ in wanted])
                if name not in ("tencent", "vscsi", "fio2", "oracle-general"):
                    self.assertEqual([time - found[0][0] for time, *_ in found], [time - wanted[0][0] for time, *_ in wanted])

    def test_what_is_asked_beside_is_kept_or_named(self):
        """A journal's durability; requests that are none; zones; each in one call."""
        event = "8,0 0 {} 0.000{}00000 1 Q {} {} + 8 [jbd2]\n"
        text = "".join(event.format(i, i, letters, 8 * i) for i, letters in enumerate(("WS", "FWFS", "N", "WFS", "ZA", "ZRA", "WZ"), 1)).encode()
        self.assertEqual([line.split(" ", 2)[2] for line in self.converted("convert", content=text)],
                         ["write 4096 4096 sync", "write 8192 4096 flush-first durable sync", "write 16384 4096 durable sync",
                          "append 20480 4096", "reset-all"])
        said = self.trace("convert", self.file, "--out", "-").stderr.splitlines()
        self.assertEqual(said, [f"hartzone: left out, since no operation and no word says it: {what}: 1"
                                for what in ("requests that neither read, write nor discard (N)", "writes of zeros (WZ)")])
        found = json.loads(self.good("summary", self.file, "--json"))
        self.assertEqual(found["marks"], {"durable": 2, "flush-first": 1, "sync": 3})
        self.assertEqual(sum(found["left_out"].values()), 2)
        self.assertIn("marks       durable 2, flush-first 1, sync 3", self.good("summary", self.file))

    def test_strange_files_are_read_or_named(self):
        """Traces rewritten by spreadsheets and other programs."""
        msr = in_every_format(RECORDING)["msr"]
        clean = self.converted("convert", content=msr)
        self.assertEqual(self.converted("convert", content=b"\xef\xbb\xbf" + msr + b"\n \n"), clean)
        self.refused("convert", self.file, "--out", "-", content=b"", says=f"{self.file}:1: the file is empty")
        self.refused("convert", self.file, "--out", "-", content=msr.decode().encode("utf-16"), says=f"{self.file}:1: the text is UTF-16")
        self.refused("convert", self.file, "--out", "-", content=b"3,W,0,4096,-5000\n3,R,0,4096,0\n",
                     says=f"{self.file}:1: field 5 '-5000': expected a time from 0 on: add as much to all times of the file")
        self.refused("convert", self.file, "--out", "-", content=b"fio version 3 iolog\n0 /my disk add\n",
                     says=f"{self.file}:2: the file name '/my disk' has a blank in it")

    def test_converting_again_changes_nothing(self):
        first = self.good("convert", self.file, "--out", "-", content=in_every_format(RECORDING)["msr"])
        self.assertEqual(self.good("convert", self.file, "--out", "-", content=first.encode()), first)

    @unittest.skipUnless(shutil.which("blkparse"), "blkparse is not installed (scripts/setup installs blktrace)")
    def test_blkparse_reads_the_same_in_a_binary_file(self):
        content = b"".join(blk_event(*record, action=action) for record in RECORDING for action in (1, 7, 8))
        binary = self.converted("convert", content=content)
        text = subprocess.run(["blkparse", "-i", "-"], input=content, capture_output=True, check=True).stdout
        self.assertIn(b" Q ", text)
        parsed = [as_read(line) for line in self.converted("convert", content=text)]
        first = as_read(binary[0])[0]  # blkparse counts from the first event
        self.assertEqual(parsed, [(time - first, *rest) for time, *rest in map(as_read, binary)])

    def test_the_own_recordings(self):
        for path in sorted(TOP.glob("traces/*.hzt.xz")):
            found = json.loads(self.good("summary", path, "--json"))
            self.assertEqual((found["format"], found["compression"]), ("native", "xz"))
            self.assertGreater(found["records"], 1000)
            self.assertLessEqual(found["footprint"]["touched_bytes"], found["footprint"]["read_bytes"] + found["footprint"]["written_bytes"])


class Edits(Tools):
    NATIVE = in_every_format(RECORDING)["native"]

    def test_cut(self):
        everything = self.converted("convert", content=self.NATIVE)
        self.assertEqual(self.converted("cut", "--skip", 10, "--records", 20), everything[10:30])
        first = as_read(everything[0])[0]
        kept = [line for line in everything if 15_000_000 <= as_read(line)[0] - first < 45_000_000]
        self.assertEqual(self.converted("cut", "--from", "15ms", "--to", "45ms"), kept)
        self.assertGreater(len(kept), 10)

    def test_scale(self):
        everything = [as_read(line) for line in self.converted("convert", content=self.NATIVE)]
        fast = [as_read(line) for line in self.converted("scale", "--time", "0.5")]
        first = everything[0][0]
        self.assertEqual([time for time, *_ in fast], [first + (time - first) // 2 for time, *_ in everything])
        dense = [as_read(line) for line in self.converted("scale", "--addresses", "0.25")]
        chunk = 1 << 20
        self.assertEqual([offset for _, _, offset, _ in dense], [offset // chunk // 4 * chunk + offset % chunk for _, _, offset, _ in everything])

    def test_files(self):
        out = self.folder / "out"
        self.assertEqual(self.good("convert", self.file, "--out", out, content=self.NATIVE), f"60 records in {out}\n")
        before = out.read_bytes()
        self.refused("convert", self.file, "--out", out, says=f"{out}: the file exists")
        self.assertEqual(out.read_bytes(), before)
        self.refused("cut", self.file, "--from", "10s", "--out", self.folder / "none", says="none of its 60 records is left")
        self.refused("convert", self.file, says="say where with --out FILE")
        self.refused("convert", self.file, "--out", out / "below", says=f"--out: the folder {out} cannot be made")
        self.assertEqual(sorted(os.listdir(self.folder)), ["out", "t"])
        self.good("convert", self.file, "--out", self.folder / "new" / "folder" / "out")

    def test_a_broken_record_leaves_no_half_trace(self):
        content = in_every_format(RECORDING)["spc"] + b"0,1,x,R,1\n"
        self.refused("convert", self.file, "--out", self.folder / "out", content=content, says=f"{self.file}:61: field 3 'x': expected a size")
        self.assertEqual(os.listdir(self.folder), ["t"])
        run = self.trace("convert", self.file, "--out", self.folder / "out", "--skip-bad", 1)
        self.assertEqual(run.returncode, 0)
        self.assertIn(f"{self.file}:61: field 3 'x'", run.stderr)

    def test_addresses_that_cannot_be_scaled(self):
        zones = b"hartzone-trace 1\n0 0 write 0 1\n1 0 reset z3\n"
        self.refused("scale", self.file, "--addresses", 2, "--out", "-", content=b"hartzone-trace 1\n1 0 reset z3\n",
                     says=f"{self.file}:2: an address in a zone cannot be scaled")
        self.refused("scale", self.file, "--addresses", 2, "--out", self.folder / "out", content=zones, says=f"{self.file}:3: ")

    def test_a_file_that_ends_before_its_first_line(self):
        self.refused("summary", self.file, content=(TOP / "traces/git.hzt.xz").read_bytes()[:20], says=f"{self.file}:1: the xz data end early")

    def test_a_name_that_is_no_text(self):
        self.file = self.folder / os.fsdecode(b"t\xff")
        for command in ("detect", "summary"):
            found = json.loads(self.good(command, "--json", self.file, content=self.NATIVE))
            self.assertIn("t\ufffd", json.dumps(found, ensure_ascii=False))

    def test_a_full_disk(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.file.write_bytes(self.NATIVE)
            run = subprocess.run([DRIVER, "trace", "convert", self.file, "--out", "-"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (1, "hartzone: -: the trace cannot be written: No space left on device\n"))


class Large(Tools):
    """Objects at random addresses of 2^50 bytes, so that neither the bitmap nor the sample holds them all."""

    def write(self, count):
        generator = random.Random(count)
        tail = struct.pack("<Iq", 4096, -1)
        ids = generator.sample(range(1 << 38), 200_000)
        with open(self.file, "wb") as file:
            for i in range(0, count, len(ids)):
                head = struct.pack("<I", i // len(ids))
                shift = i // len(ids) << 38
                file.write(b"".join(head + struct.pack("<Q", (number + shift) * 8) + tail for number in ids))

    def peak(self, *words):
        child = subprocess.Popen([DRIVER, "trace", *map(str, words)], stdout=subprocess.PIPE)
        out = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stdout.close()
        self.assertEqual(child.returncode, 0)
        return out, usage.ru_maxrss

    def test_memory_does_not_grow(self):
        peaks = {}
        for count in (400_000, 2_000_000):
            self.write(count)
            out, summary_kib = self.peak("summary", self.file, "--json")
            found = json.loads(out)
            self.assertEqual((found["records"], found["footprint"]["method"], found["skew"]["method"]), (count, "hyperloglog", "sampled"))
            self.assertAlmostEqual(found["footprint"]["touched_bytes"] / (count * 4096), 1, delta=4 * found["footprint"]["standard_error"])
            self.assertAlmostEqual(found["skew"]["hottest"][3]["accesses_part"], 0.2, delta=0.02)
            _, convert_kib = self.peak("convert", self.file, "--out", self.folder / f"out{count}")
            peaks[count] = (summary_kib, convert_kib)
        for small, large in zip(*peaks.values()):
            self.assertLess(large, small + 4096, peaks)
        self.assertLess(max(max(two) for two in peaks.values()), 160 * 1024, peaks)

    def test_ctrl_c_leaves_nothing(self):
        self.write(2_000_000)
        with open("/dev/null", "w", encoding="utf-8") as nowhere, subprocess.Popen(
                [DRIVER, "trace", "convert", self.file, "--out", self.folder / "out"], stdout=nowhere, stderr=subprocess.PIPE, text=True) as child:
            while not (self.folder / "out.part").exists() and child.poll() is None:
                time.sleep(0.001)
            child.send_signal(signal.SIGINT)
            said = child.stderr.read()
        if child.returncode:  # else it was faster than we
            self.assertEqual(child.returncode, 130, said)
            self.assertEqual(os.listdir(self.folder), ["t"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
