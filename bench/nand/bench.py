#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The flash model against its configuration: fixed devices, or one device's flash, in a host program's memory and on the machine."""
import json
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "tests" / "support")]
from common import arguments, runs  # noqa: E402
from hztest.clock_machine import Machine  # noqa: E402
from hztest.needs import qemu_problem  # noqa: E402

BLOCK_BYTES = 60 << 10 # HZ_FLASHBENCH_BYTES
LONGEST_S = 600


def options():
    p = arguments.parser("nand", __doc__, "--device conzone-paper --rig", word="bench")
    arguments.add_config(p, "--device", "devices", None, "measure the flash of this device under its scheduler: operations, rows of them, dies, channels, planes, and who waits for whom; "
                         "on the rig, which is the TSU in a host program whose code takes no time, and on harts of the machine under the virtual clock")
    p.add_argument("--rig", action="store_true", help="measure on the rig only, which needs no QEMU")
    args = p.parse_args()
    if args.rig and not args.device:
        p.error("--rig says where a device's flash is measured: name the device with --device")
    args.device = args.device and arguments.config_file("devices", args.device)
    return args


def place(variable, default):
    return os.environ.get(variable, str(TOP / "build" / default))


def called(command, **more):
    """Runs a command to its end; returns its output on request."""
    run = subprocess.run(command, check=False, preexec_fn=runs.end_with_parent, **more)
    if run.returncode:
        raise runs.StudyError(f"{pathlib.Path(command[1 if command[0] == sys.executable else 0]).name} ended with status {run.returncode}, see above")
    return run.stdout


def fixed_devices(args):
    environment = {**os.environ, "HARTZONE_VCLOCK": place("HARTZONE_PLUGIN", "host/vclock/libvclock.so"),
                   "HARTZONE_FIRMWARE_DIR": place("HARTZONE_FIRMWARE_DIR", "firmware")}
    called([bench_program(), "--out", str(args.out / "nand.json")], env=environment)
    called([sys.executable, str(TOP / "tests/tsu/transaction_cost.py"), "--out", str(args.out / "transactions.json")], env=environment)


def bench_program():
    return place("HARTZONE_BENCH_NAND", "host/bin/hz-bench-nand")


def run_image(args):
    """The block that flashbench.elf leaves, in a file."""
    block = args.out / "block.bin"
    plan = json.loads(called([bench_program(), "--device", str(args.device), "--plan", str(block)], stdout=subprocess.PIPE))
    elf = os.path.join(place("HARTZONE_FIRMWARE_DIR", "firmware"), "firmware/images/flashbench.elf")
    with Machine(elf, plan["harts"], plugin=place("HARTZONE_PLUGIN", "host/vclock/libvclock.so"), options=plan["clock"],
                 ram_mb=plan["ram_mb"]) as machine:
        machine.command[machine.command.index("-serial") + 1] = "stdio"
        machine.write(plan["address"], block.read_bytes())
        if machine.run(LONGEST_S):
            raise runs.StudyError(f"the machine failed: {machine.output.strip()}")
        block.write_bytes(machine.read(plan["address"], BLOCK_BYTES))
    return block


def one_device(args):
    command = [bench_program(), "--device", str(args.device), "--out", str(args.out / "nand.json")]
    if not args.rig:
        problem = qemu_problem()
        if problem:
            raise runs.StudyError(problem)
        command += ["--image-block", str(run_image(args))]
    called(command)


def main():
    args = options()
    args.out.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    if args.device:
        one_device(args)
    else:
        fixed_devices(args)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    runs.main(main, "bench")
