#!/usr/bin/env python3
"""The flash model against its configuration, and a transaction's instructions against the number of dies."""
import argparse
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]


def main():
    p = argparse.ArgumentParser(prog="hartzone bench nand", description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results") / "bench-nand", help="folder for the JSON files")
    args = p.parse_args()
    build = TOP / "build"
    environment = {"HARTZONE_VCLOCK": str(build / "host/vclock/libvclock.so"), "HARTZONE_FIRMWARE_DIR": str(build / "firmware"), **os.environ}
    args.out.mkdir(parents=True, exist_ok=True)
    commands = [[os.environ.get("HARTZONE_BENCH_NAND", str(build / "host/bin/hz-bench-nand")), "--out", str(args.out / "nand.json")],
                [sys.executable, str(TOP / "tests/tsu/transaction_cost.py"), "--out", str(args.out / "transactions.json")]]
    sys.stdout.flush()
    return max(subprocess.run(command, env=environment, check=False).returncode for command in commands)


if __name__ == "__main__":
    sys.exit(main())
