#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many records a second ./hartzone trace reads, counts and converts, by format, and in how much memory."""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "studies"))
from common import arguments, report, runs  # noqa: E402

BLOCKS = 1 << 24  # 64 GiB of 4 KiB blocks, accessed at random
REPEATED = 100_000  # requests that are made up; a trace repeats them with other times
FORMATS = {
    "oracle-general": lambda t, block: struct.pack("<IQIq", t // 10**9, block * 8, 4096, -1),
    "blktrace": lambda t, block: struct.pack("<IIQQIIIIIHH", 0x65617407, 1, t, block * 8, 4096, 1 | 1 << 16, 7, 8 << 20, 0, 0, 0),
    "vscsi2": lambda t, block: struct.pack("<HHIIIQQQ", 0x28, 2 << 8, 1, 4096, 1, block * 8, t // 1000, 9),
    "native": lambda t, block: f"{t} 0 read {block} 1\n".encode(),
    "alibaba": lambda t, block: f"7,R,{block * 4096},4096,{t // 1000}\n".encode(),
    "msr": lambda t, block: f"{128166372003061629 + t // 100},hm,0,Read,{block * 4096},4096,4571\n".encode(),
}
HEADS = {"native": b"hartzone-trace 1\n"}


def options():
    p = arguments.parser("trace", __doc__, "--records 300000", word="bench")
    arguments.add_seed(p)
    arguments.add_number(p, "--records", 100_000, 1_000_000_000, 10_000_000, "records of each trace")
    return p.parse_args()


def write(path, name, count, seed):
    """The same requests again and again, each time in seconds that follow."""
    generator = random.Random(seed)
    blocks = [generator.randrange(BLOCKS) for _ in range(REPEATED)]
    with open(path, "wb") as file:
        file.write(HEADS.get(name, b""))
        for first in range(0, count, REPEATED):
            part = blocks[:count - first]
            file.write(b"".join(FORMATS[name]((first + i) * 1000, block) for i, block in enumerate(part)))


def measured(words, count):
    """Records per second of CPU time, which other load on this host affects little, and the peak of
    memory in MiB."""
    with subprocess.Popen([str(runs.driver()), "trace", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          preexec_fn=runs.end_with_parent) as child:
        out = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise runs.StudyError(f"trace {words[0]} ended with status {child.returncode}")
    return out, {"records_per_s": count / (usage.ru_utime + usage.ru_stime), "peak_mib": usage.ru_maxrss / 1024}


def main():
    args = options()
    args.out.mkdir(parents=True, exist_ok=True)
    rows, figures = [], []
    with tempfile.TemporaryDirectory(prefix="hz-bench-trace-", dir=args.out) as folder:
        path, converted = pathlib.Path(folder) / "trace", pathlib.Path(folder) / "converted"
        for name in FORMATS:
            write(path, name, args.records, args.seed)
            out, summary = measured(["summary", path, "--json"], args.records)
            if json.loads(out)["records"] != args.records:
                raise runs.StudyError(f"{name}: not every record was counted")
            _, convert = measured(["convert", path, "--out", converted], args.records)
            converted.unlink()
            figures.append({"format": name, "records": args.records, "summary": summary, "convert": convert})
            rows.append([name, *(text for kind in (summary, convert) for text in (f"{kind['records_per_s'] / 1e6:.1f}", f"{kind['peak_mib']:.0f}"))])
    report.table(["format", "summary, M records/s", "peak MiB", "convert, M records/s", "peak MiB"], rows)
    (args.out / "bench.json").write_text(json.dumps({"formats": figures}, indent=2) + "\n")


if __name__ == "__main__":
    runs.main(main, "bench")
