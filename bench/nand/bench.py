#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The flash model against its configuration, and a transaction's instructions against the number of dies."""
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "studies"))
from common import arguments, runs  # noqa: E402


def options():
    return arguments.parser("nand", __doc__, "--out results/nand", word="bench").parse_args()


def main():
    args = options()
    build = TOP / "build"
    environment = {"HARTZONE_VCLOCK": str(build / "host/vclock/libvclock.so"), "HARTZONE_FIRMWARE_DIR": str(build / "firmware"), **os.environ}
    args.out.mkdir(parents=True, exist_ok=True)
    commands = [[os.environ.get("HARTZONE_BENCH_NAND", str(build / "host/bin/hz-bench-nand")), "--out", str(args.out / "nand.json")],
                [sys.executable, str(TOP / "tests/tsu/transaction_cost.py"), "--out", str(args.out / "transactions.json")]]
    sys.stdout.flush()
    for command in commands:
        code = subprocess.run(command, env=environment, check=False, preexec_fn=runs.end_with_parent).returncode
        if code:
            raise runs.StudyError(f"{pathlib.Path(command[-3]).name} ended with status {code}, see above")


if __name__ == "__main__":
    runs.main(main, "bench")
