"""The package hartzone as a user has it, installed by pip into a clean virtual environment; and every program of examples/."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import STRICT, device_problem  # noqa: E402

MISSING = device_problem("HARTZONE_FIRMWARE", "HARTZONE_PLUGIN", "HARTZONE_DRIVER", "HARTZONE_LIBRARY")
NEEDED = "import setuptools, wheel, pandas, matplotlib"


def system_python():
    """A python3 with the modules to build the package; Debian's, if another one comes first in
    PATH."""
    return next((python for python in (sys.executable, "/usr/bin/python3")
                 if subprocess.run([python, "-c", NEEDED + ", pip"], capture_output=True, check=False).returncode == 0), None)


PYTHON = system_python()
if not PYTHON:
    MISSING = MISSING or "python3-pip, python3-setuptools, python3-wheel, python3-pandas or python3-matplotlib are not installed"

DEVICE = """
import hartzone
with hartzone.Device("small", workers=2) as device:
    info = device.info()
    assert info.zones == 12 and info.blocks == 12 * info.zone_blocks and not info.protection, info
    assert device.identify(1)[24:32] == b"Hartzone"
    assert device.log_page(2, 512)[3] == 100
    with device.queue() as queue:
        data = bytes(i % 251 for i in range(2 * hartzone.BLOCK_BYTES))
        assert queue.latency_ns == 0
        queue.write(0, data, fua=True)
        assert queue.append(0, data) == 2 and queue.latency_ns > 0
        assert queue.read(2, 2) == data
        queue.verify(0, 4)
        assert queue.compare(2, data) and not queue.compare(2, bytes(len(data)))
        queue.write_zeroes(info.zone_blocks, 3)
        assert queue.read(info.zone_blocks, 3) == bytes(3 * hartzone.BLOCK_BYTES)
        queue.write_zeroes(info.zone_blocks + 3, 1, deallocate=True)
        assert queue.read(info.zone_blocks + 3, 1) == bytes(hartzone.BLOCK_BYTES)
        queue.deallocate((0, 2), (info.zone_blocks, 1))
        assert queue.compare(2, data), "of a sequential zone nothing goes away"
        queue.copy(2 * info.zone_blocks, (3, 1), (2, 1))
        assert queue.copy_append(2 * info.zone_blocks, (2, 2), fua=True) == 2 * info.zone_blocks + 2
        half = hartzone.BLOCK_BYTES
        assert queue.read(2 * info.zone_blocks, 4) == data[half:2 * half] + data[:half] + data[:2 * half]
        zones = list(queue.zones())
        assert len(zones) == 12 and zones[0].write_pointer == 4 and zones[0].state is hartzone.ZoneState.IMPLICIT_OPEN
        try:
            queue.write(4, data, durable=True)
            raise SystemExit("this device does not protect writes")
        except hartzone.StatusError as error:
            assert error.status == 0x002 and not info.durable_writes, error
        try:
            queue.write(2, data, in_place=True)
            raise SystemExit("nothing is written in place on this device")
        except hartzone.StatusError as error:
            assert error.status == 0x002 and not info.in_place, error
        queue.finish_zone(0)
        assert [z.start for z in queue.zones(state=hartzone.ZoneState.FULL)] == [0] and next(queue.zones()).write_pointer is None
        for call in (lambda: queue.write(0, data), lambda: list(queue.zones(from_block=info.blocks))):
            try:
                call()
                raise SystemExit("the device refuses this")
            except hartzone.StatusError as error:
                assert error.status in (0x1b9, 0x80), (error, error.status)
        for call in (lambda: queue.write(0, b"x"), lambda: queue.read(0, 0), lambda: device.queue(65)):
            try:
                call()
                raise SystemExit("the library refuses this")
            except hartzone.HartzoneError as error:
                assert not isinstance(error, hartzone.StatusError), error
        other = hartzone.Device(attach=device.run_directory)
        with other.queue() as second:
            assert second.number != queue.number and second.read(2, 2) == data
        other.close()
        device.kill()
    try:
        queue.flush()
    except hartzone.HartzoneError as error:
        assert "queue is closed" in str(error)
with hartzone.Device("small-zms") as device:
    budget = device.info().in_place
    assert device.in_place() == (budget, 0, 0, 0, 0, 0) and budget == 64
    with device.queue() as queue:
        block = lambda text: text.ljust(hartzone.BLOCK_BYTES, b".")
        queue.write(0, b"".join(block(b"%d" % i) for i in range(8)))
        queue.write(3, block(b"three"), in_place=True)
        assert queue.read(2, 3) == block(b"2") + block(b"three") + block(b"4")
        queue.write(8, bytes(32 * hartzone.BLOCK_BYTES))
        queue.write(40, bytes(32 * hartzone.BLOCK_BYTES))
        queue.write(8, bytes(hartzone.BLOCK_BYTES), in_place=True)
        for number in range(9, budget + 6, 16):
            count = min(16, budget + 6 - number)
            queue.write(number, bytes(count * hartzone.BLOCK_BYTES), in_place=True)
        try:
            queue.write(0, block(b"") * 2, in_place=True)
            raise SystemExit("one of these is beyond the budget")
        except hartzone.StatusError as error:
            assert error.status == hartzone.IN_PLACE_BUDGET and "Budget" in str(error), error
        assert queue.read(0, 1) == block(b"0") and device.in_place().refused_writes == 1
        used = device.in_place()
        assert (used.used, used.written) == (budget - 1, budget - 1), used
        queue.finish_zone(0)
        while device.in_place().used:
            queue.read(0, 1)
        assert device.in_place().folded == budget - 1 and queue.read(3, 1) == block(b"three")
# Reclaim unit handles: what one writes shares no superblock with what another one writes (tests/ftl/fdp_test.cpp); here, who is refused.
with hartzone.Device("small-fdp") as device, device.queue() as queue:
    assert device.handles() == 4
    for number in range(4):
        queue.write(number, b"%d" % number + bytes(hartzone.BLOCK_BYTES - 1), handle=number)
    assert [queue.read(number)[:1] for number in range(4)] == [b"0", b"1", b"2", b"3"]
    try:
        queue.write(0, bytes(hartzone.BLOCK_BYTES), handle=4)
        raise SystemExit("there is no such handle")
    except hartzone.HartzoneError as error:
        assert "this device has 4 reclaim unit handles" in str(error), error
with hartzone.Device("zrwa.yaml") as device, device.queue() as queue:
    assert device.zrwa() == (2, 16, 4) and device.handles() == 0
    queue.open_zone(0, zrwa=True)
    queue.write(9, b"9".ljust(hartzone.BLOCK_BYTES))
    queue.write(9, b"n".ljust(hartzone.BLOCK_BYTES))
    assert next(queue.zones()).write_pointer == 0 and queue.read(9)[:1] == b"n"
    queue.flush_zrwa(11)
    assert next(queue.zones()).write_pointer == 12
    try:
        queue.flush_zrwa(12)
        raise SystemExit("a part of the granularity is not flushed")
    except hartzone.StatusError as error:
        assert error.status == 0x002, error
print("well")
"""

RUNS = """
import sys, hartzone
result = hartzone.run(device="small", workload="small", quick=True, seed=3)
assert result["violations"] == [] and result["seed"] == 3
frame = result.frame()
assert set(frame["command"]) == {"read", "write"} and (frame["iops"] > 0).all() and (frame["latency_p99_ns"] > 0).all()
sweep = hartzone.sweep({"queue_depth": [1, 8], "seed": [1, 2]}, device="small", workload="small", quick=True)
frame = sweep.frame()
assert frame[["queue_depth", "seed"]].values.tolist() == [[1, 1], [1, 2], [8, 1], [8, 2]]
assert frame["digest"].nunique() == 4 and len(sweep.commands()) == 8
again = hartzone.run(device="small", workload="small", quick=True, queue_depth=8, seed=2)
assert again["digest"] == frame["digest"][3], "the same run has the same result"
own = {"zones": {"max_open": 6}}
frame = hartzone.sweep({"device.timing.command": ["200ns", "9us"]}, device=own, workload="small", quick=True).frame()
assert frame["device.timing.command"].tolist() == ["200ns", "9us"] and frame["elapsed_ns"].is_monotonic_increasing and own == {"zones": {"max_open": 6}}
for call, says in ((lambda: hartzone.run(device="nosuch"), "--device: there is no file nosuch"),
                   (lambda: hartzone.run(nosuch=1), "--nosuch"),
                   (lambda: hartzone.Device("nosuch"), "configs/devices has only"),
                   (lambda: hartzone.sweep({"seed": 5}), "give a list of values"),
                   (lambda: hartzone.sweep({"device.x": [1]}, device="small"), "give device as a dictionary")):
    try:
        call()
        raise SystemExit("nothing was said of " + says)
    except hartzone.HartzoneError as error:
        assert says in str(error), error
sys.modules["pandas"] = None
try:
    result.frame()
    raise SystemExit("without pandas")
except hartzone.HartzoneError as error:
    assert "need pandas" in str(error)
assert result.rows()[0]["ops"] > 0
print("well")
"""


@unittest.skipIf(MISSING, MISSING)
class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hz python ")
        cls.addClassCleanup(cls.folder.cleanup)
        scratch = pathlib.Path(cls.folder.name)
        shutil.copytree(TOP / "python", scratch / "python", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        shutil.copy(TOP / "CMakeLists.txt", scratch)
        for name in ("build", "configs"):
            (scratch / name).symlink_to(TOP / name)
        cls.python = scratch / "venv/bin/python3"
        cls.away = scratch / "away"  # from where nothing of the tree can be imported
        cls.away.mkdir()
        cls.clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "VIRTUAL_ENV")}
        cls.called(PYTHON, "-m", "venv", "--system-site-packages", scratch / "venv")
        cls.called(cls.python, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", scratch / "python")

    @classmethod
    def called(cls, *words, **changes):
        environment = {name: value for name, value in {**cls.clean, **changes}.items() if value}
        run = subprocess.run([str(word) for word in words], cwd=cls.away, env=environment, capture_output=True, text=True, check=False,
                             stdin=subprocess.DEVNULL)
        if run.returncode:
            raise AssertionError(f"{words}: {run.stdout}{run.stderr}")
        return run.stdout

    def python_says(self, program, **changes):
        return self.called(self.python, "-c", program, **changes)

    def test_devices(self):
        small = (TOP / "configs/devices/small.yaml").read_text()
        for key, more in ("blocks_per_plane: 23", "blocks_per_plane: 29"), ("slc_blocks_per_plane: 9", "slc_blocks_per_plane: 15"):
            self.assertIn(key, small)
            small = small.replace(key, more)
        (self.away / "zrwa.yaml").write_text(small + "zrwa: {count: 2, size: 64 KiB, flush_granularity: 16 KiB}\n")
        self.assertEqual(self.python_says(DEVICE), "well\n")

    def test_runs(self):
        self.assertEqual(self.python_says(RUNS), "well\n")

    def test_it_finds_what_the_tree_has_built(self):
        if not (TOP / "build/host/lib/libhartzone.so").exists():
            self.skipTest("this build is not in build/host")
        found = self.python_says("from hartzone import places; print(places.libhartzone(), places.program())",
                                 HARTZONE_LIBRARY="", HARTZONE_DRIVER="").split("hz python ")
        self.assertRegex(" ".join(found), r"build/host/lib/libhartzone.so .*build/host/bin/hartzone")

    def test_what_is_missing_is_named(self):
        for variable, call in (("HARTZONE_LIBRARY", "hartzone.Device()"), ("HARTZONE_DRIVER", "hartzone.run()")):
            program = f"import hartzone\ntry:\n    {call}\nexcept hartzone.HartzoneError as error:\n    print(error)"
            self.assertEqual(self.python_says(program, **{variable: "/nowhere"}), f"{variable} names /nowhere, which does not exist\n")

    def test_its_records_are_those_of_the_header(self):
        """A C compiler says how large each is and where its last field lies."""
        records = {"hartzone_options": ("Options", "workers"), "hartzone_info": ("Info", "in_place"), "hartzone_zone": ("ZoneRecord", "state"),
                   "hartzone_zones": ("Zones", "zone"), "hartzone_in_place": ("InPlace", "folded"), "iovec": ("Part", None)}
        lines = "".join(f'printf("%zu %zu\\n", sizeof(struct {c}), {f"offsetof(struct {c}, {last})" if last else "(size_t)0"});'
                        for c, (_, last) in records.items())
        source = pathlib.Path(self.folder.name) / "sizes.c"
        source.write_text(f"#include <hartzone.h>\n#include <stdio.h>\nint main(void) {{ {lines} return 0; }}\n")
        self.called("cc", source, f"-I{TOP}/host-driver/include", "-o", source.with_suffix(""))
        in_python = "".join(f"print(ctypes.sizeof(l.{name}), {f'l.{name}.{last}.offset' if last else 0});" for name, last in records.values())
        self.assertEqual(self.python_says("import ctypes, hartzone.binding as l;" + in_python), self.called(source.with_suffix("")))

    def test_python_examples(self):
        says = {"zones": "after a reset: EMPTY", "sweep": "queue_depth"}
        self.assertEqual(sorted(says), sorted(path.stem for path in TOP.glob("examples/*.py")))
        for name, expected in says.items():
            self.assertIn(expected, self.called(self.python, TOP / f"examples/{name}.py"))

    def test_notebooks(self):
        """Each runs from top to bottom and draws; its cells are stored without output."""
        says = {"lock_scaling": "True True"}
        self.assertEqual(sorted(says), sorted(path.stem for path in TOP.glob("examples/*.ipynb")))
        for name, expected in says.items():
            cells = json.loads((TOP / f"examples/{name}.ipynb").read_text())["cells"]
            code = [cell for cell in cells if cell["cell_type"] == "code"]
            self.assertFalse(any(cell["outputs"] or cell["execution_count"] for cell in code), "clear all outputs before you save")
            program = "\n\n".join("".join(cell["source"]) for cell in code).replace("WORKERS = [1, 2, 4, 8]", "WORKERS = [1, 2]") + "\nprint(len(plt.get_fignums()))\n"
            self.assertRegex(self.python_says(program, MPLBACKEND="agg"), rf"{expected}\n[1-9]\n$")

    def test_the_readme(self):
        for program in re.findall(r"^```\n(import hartzone\n.*?)^```", (TOP / "python/README.md").read_text(), re.DOTALL | re.MULTILINE):
            self.assertIn("True", self.python_says(program))


@unittest.skipIf(MISSING, MISSING)
class Examples(unittest.TestCase):
    def test_c_examples(self):
        says = {"write_and_report": "what comes back is what was written", "deep_queue": "read 15 took"}
        self.assertEqual(sorted(says), sorted(path.stem for path in TOP.glob("examples/*.c")))
        library = pathlib.Path(os.environ["HARTZONE_LIBRARY"]).parent
        with tempfile.TemporaryDirectory(prefix="hz-examples-") as folder:
            for name, expected in says.items():
                with self.subTest(example=name):
                    program = pathlib.Path(folder) / name
                    subprocess.run(["cc", "-Wall", "-Wextra", *STRICT, TOP / f"examples/{name}.c", f"-I{TOP}/host-driver/include", f"-L{library}",
                                    "-lhartzone", f"-Wl,-rpath,{library}", "-o", program], check=True)
                    run = subprocess.run([program], capture_output=True, text=True, check=False)
                    self.assertEqual((run.returncode, run.stderr), (0, ""))
                    self.assertIn(expected, run.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
