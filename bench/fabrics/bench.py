#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""4 KiB reads a second of the NVMe/TCP target: on blocks in memory, and on the device with its clock virtual and real; CPU time of each read."""
import contextlib
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "tests" / "support")]
from common import arguments, report, runs  # noqa: E402
from hztest.needs import qemu_problem  # noqa: E402

GOAL = 20_000  # 4 KiB reads a second at depth 32, on two quiet cores
LONGEST_S = 600
DEVICE = {"device, virtual clock": "virtual", "device, real clock": "real"}
MEMORY = "memory"


def options():
    p = arguments.parser("fabrics", __doc__, "--quick", word="bench")
    arguments.add_quick(p)
    arguments.add_config(p, "--device", "devices", "legacy", "the device behind the target; its namespace 1 is of blocks")
    arguments.add_number(p, "--depth", 1, 127, 32, "queue depth")
    arguments.add_number(p, "--seconds", 1, 600, 3, "length of a measurement")
    arguments.add_number(p, "--rounds", 1, 100, 5, "measurements of each target, by turns; figures are medians")
    args = arguments.parsed(p)
    args.device = arguments.config_file("devices", args.device)
    return arguments.quickly(args, seconds=1, rounds=1)


def bench_program():
    return os.environ.get("HARTZONE_BENCH_FABRICS", str(TOP / "build/host/bin/hz-bench-fabrics"))


def called(*words):
    run = subprocess.run([bench_program(), *map(str, words)], capture_output=True, text=True, check=False, timeout=LONGEST_S, preexec_fn=runs.end_with_parent)
    if run.returncode:
        raise runs.StudyError(run.stderr.strip())
    return json.loads(run.stdout) if run.stdout else None


def ticks(pid):
    """CPU seconds of a process."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def descendants(pid):
    below = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            below.setdefault(int(path.read_text().rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
    found, waiting = [], [pid]
    while waiting:
        found += (children := below.get(waiting.pop(), []))
        waiting += children
    return found


class Target:
    """./hartzone serve --nvme-tcp, until the end of the block."""

    def __init__(self, device, clock):
        self.folder = tempfile.TemporaryDirectory(prefix="hz-bench-")
        words = [str(runs.driver()), "serve", "--device", str(device), "--clock", clock, "--nvme-tcp", "127.0.0.1:0"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=runs.end_with_parent,
                                        env={**os.environ, "HARTZONE_RUN_BASE": self.folder.name})
        said, found = "", None
        while not found:
            line = self.process.stdout.readline()
            said += line
            found = re.search(r"nvme connect -t tcp -a \S+ -s (\d+) -n (\S+)", line)
            if not line:
                raise runs.StudyError(f"the device ended: {said.strip()}")
        self.words = found.groups()

    def __enter__(self):
        called(*self.words, 0, 1)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.said = self.process.stdout.read()
        self.process.wait(LONGEST_S)
        self.process.stdout.close()
        self.folder.cleanup()

    def measure(self, seconds, depth):
        """CPU of the target is that of serve; the device is QEMU, a child of it."""
        def cpu():
            return ticks(self.process.pid), sum(map(ticks, descendants(self.process.pid)))

        before = cpu()
        figures = called(*self.words, seconds, depth)
        target, device = (after - then for after, then in zip(cpu(), before))
        return {**figures, "target_cpu_us_per_read": target * 1e6 / figures["reads"], "device_cpu_us_per_read": device * 1e6 / figures["reads"]}


def measured(name, args):
    """One device is up at a time: under the real clock it computes always."""
    if name == MEMORY:
        return called("memory", args.seconds, args.depth)
    with Target(args.device, DEVICE[name]) as target:
        return target.measure(args.seconds, args.depth)


def show(figures):
    rows = [[name, *(f"{of[key]:,.{digits}f}" if key in of else "" for key, digits in
                     (("reads_per_s", 0), ("most_reads_per_s", 0), ("p50_us", 0), ("p99_us", 0), ("target_cpu_us_per_read", 1), ("device_cpu_us_per_read", 1)))]
            for name, of in figures["targets"].items()]
    report.table([f"4 KiB reads, depth {figures['depth']}", "a second", "most", "p50, µs", "p99, µs", "CPU of the target, µs", "of the device, µs"], rows)
    print(f"goal for {GOAL:,} a second: " + ", ".join(f"{name} {of['reads_per_s'] / GOAL:.2f}" for name, of in figures["targets"].items()))
    print(f"load of the host before and after: {figures['load'][0]:.1f}, {figures['load'][1]:.1f} on {os.cpu_count()} cores; the reading host is a part of it")


def main():
    args = options()
    problem = qemu_problem()
    if problem:
        raise runs.StudyError(problem)
    args.out.mkdir(parents=True, exist_ok=True)
    load, rounds = [os.getloadavg()[0]], {name: [] for name in (MEMORY, *DEVICE)}
    progress = report.Progress(args.rounds * len(rounds))
    for _ in range(args.rounds):
        for name, found in rounds.items():
            progress.step(name)
            found.append(measured(name, args))
    progress.end()
    figures = {"schema": "hartzone-bench-fabrics-1", "depth": args.depth, "goal_reads_per_s": GOAL, "load": [*load, os.getloadavg()[0]], "targets": {}}
    for name, found in rounds.items():
        figures["targets"][name] = {key: statistics.median(one[key] for one in found) for key in found[0]}
        figures["targets"][name]["most_reads_per_s"] = max(one["reads_per_s"] for one in found)
    (args.out / "bench.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    show(figures)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    runs.main(main, "bench")
