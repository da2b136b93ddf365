"""Instructions per flash transaction against the number of dies, on the firmware's own harts under the virtual clock.

Starts tsu_check.elf for each size and prints a table; --out FILE writes it as JSON. Fails if a transaction at 1024 dies costs more
than 10 % above one at 16, or if two runs differ. Needs HARTZONE_VCLOCK and HARTZONE_FIRMWARE_DIR."""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from hztest.clock_machine import Machine  # noqa: E402
from hztest.needs import qemu_problem  # noqa: E402

DIES = [4, 16, 64, 256, 1024]
COUNT_ONLY = ("preset=ideal", "pause=0", "mhz=1000")  # a nanosecond of hart time is then one instruction


def measure(elf, plugin, dies):
    with Machine(elf, 2, plugin=plugin, options=COUNT_ONLY, ram_mb=512, extra=["-append", f"dies={dies}"]) as machine:
        machine.command[machine.command.index("-serial") + 1] = "stdio"
        if machine.run(120):
            raise SystemExit(machine.output)
        found = re.search(r"tsu_check: (.*) clock virtual", machine.output)
        if not found:
            raise SystemExit(f"tsu_check said nothing about the virtual clock:\n{machine.output}")
        words = found.group(1).split()
        row = {key: int(value) for key, value in zip(words[::2], words[1::2])}
        row["instructions"] = row.pop("per_transaction_ns")
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    options = parser.parse_args()
    plugin = os.environ.get("HARTZONE_VCLOCK", "")
    elf = os.path.join(os.environ.get("HARTZONE_FIRMWARE_DIR", ""), "firmware/images/tsu_check.elf")
    problem = qemu_problem() or next((f"{path or 'a path'} is not built" for path in (plugin, elf) if not os.path.exists(path)), None)
    if problem:
        print(f"skipped: {problem}")
        return 77
    rows = [measure(elf, plugin, dies) for dies in DIES]
    print(f"{'dies':>6} {'transactions':>13} {'instructions each':>19} {'steps':>7}")
    for row in rows:
        print(f"{row['dies']:6} {row['transactions']:13} {row['instructions']:19} {row['steps'] / row['transactions']:7.2f}")
    if options.out:
        with open(options.out, "w") as f:
            json.dump({"schema": "hartzone.bench.transaction/1", "rows": rows}, f, indent="\t")
    if measure(elf, plugin, 64) != rows[DIES.index(64)]:
        print("two runs with 64 dies differ")
        return 1
    if rows[-1]["instructions"] > 1.1 * rows[DIES.index(16)]["instructions"]:
        print("the cost of a transaction grows with the number of dies")
        return 1
    return 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
