#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What limits a device under a workload, by experiment: the same runs with each cost a little cheaper and a little dearer."""
import argparse
import json
import os
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "scripts")]
from common import arguments, experiment, runs  # noqa: E402

TEXT = """Says what limits a device under a workload. It runs the same commands with each cost a little cheaper
and a little dearer, all else equal, over several seeds. The table has elasticities: by how many per cent
throughput and latency change where a cost changes by one, with 95 % intervals.

Every time of device and host is in exactly one cost. So the elasticities of throughput must add up to -1, and
those of latency to +1. Where the interval of a sum leaves that out, the command says so, names no limit and
ends with 1."""
EXAMPLES = """Examples:
  ./hartzone explain lock-scaling/lock-scaling
  ./hartzone explain small/small --quick
  ./hartzone explain --device conzone-paper --workload random-read --seeds 1,2,3,4,5,6,7,8
  ./hartzone explain results/lock-scaling/mcs-8-1

docs/explain.md says how to read the table."""


class Formatter(arguments.Formatter, argparse.RawDescriptionHelpFormatter):
    """The examples stay lines."""


def options(words=None):
    p = argparse.ArgumentParser(prog="./hartzone explain", description=TEXT, epilog=EXAMPLES, allow_abbrev=False, formatter_class=Formatter)
    p.add_argument("point", nargs="?", metavar="DEVICE/WORKLOAD|FOLDER",
                   help="two names in configs, with a stroke between them, or a run of a study: its folder, or result.json in it")
    arguments.add_config(p, "--device", "devices", None, "the device, default lock-scaling")
    arguments.add_config(p, "--workload", "workloads", None, "the workload, default lock-scaling")
    arguments.add_number(p, "--workers", 0, 60, 0, "FTL workers; 0: as many as the device's file says")
    arguments.add_number(p, "--threads", 0, 64, 0, "host threads; 0: as many as the workload's file says")
    arguments.add_number(p, "--commands", 0, 10 ** 9, 0, "commands of each thread; 0: as many as the workload's file says")
    arguments.add_numbers(p, "--seeds", 1, arguments.MOST_SEED, "1,2,3,4,5", "comma-separated seeds, the same ones for each cost")
    arguments.add_number(p, "--change", 1, 50, 10, "per cent by which each cost is made cheaper and dearer")
    p.add_argument("--costs", choices=("groups", "all"), default="all", metavar="groups|all",
                   help="groups: seven costs, of which each is a group of those of all; a third of the runs, and narrower intervals")
    arguments.add_number(p, "--jobs", 0, 1024, 0, "runs at a time; 0: as many as the host has cores, or HARTZONE_JOBS says")
    arguments.add_path(p, "--out", pathlib.Path("results") / "explain", "FOLDER", "folder for explain.json and each run")
    p.add_argument("--resume", action="store_true", help="keep the runs that an earlier call left in --out, if files and programs are the same")
    p.add_argument("--quick", action="store_true", help="groups of costs and three seeds, but for what other options say")
    args = arguments.parsed(p, words)
    if args.point and (args.device or args.workload):
        p.error("name the point once: DEVICE/WORKLOAD or a folder, or --device and --workload")
    args.word = "explain"
    arguments.quickly(args, costs="groups", seeds=[1, 2, 3])
    if args.jobs:
        os.environ["HARTZONE_JOBS"] = str(args.jobs)
    return args


def files(args):
    """(name for people, device, workload) of the request."""
    folder = pathlib.Path(args.point or "")
    folder = folder.parent if folder.is_file() else folder
    if args.point and (folder / "result.json").exists():
        found = [folder / f"{part}.yaml" for part in ("device", "workload")]
        if not all(path.exists() for path in found):
            raise runs.StudyError(f"{folder} has no device.yaml and workload.yaml, which the runs of a study have: name --device and --workload")
        return str(folder), *(runs.read_yaml(path) for path in found)
    device, workload = args.device or "lock-scaling", args.workload or "lock-scaling"
    if args.point:
        device, stroke, workload = args.point.rpartition("/")
        if not stroke or not arguments.config_file("devices", device) or not arguments.config_file("workloads", workload):
            raise runs.StudyError(f"{args.point} is neither DEVICE/WORKLOAD, such as small/small, nor the folder of a run with result.json")
    return f"{device}/{workload}", runs.load_yaml("devices", device), runs.load_yaml("workloads", workload)


def changed(args, device, workload):
    if args.workers:
        device = runs.merged(device, {"harts": {"workers": args.workers}})
    if args.threads:
        workload = runs.merged(workload, {"threads": args.threads})
    if args.commands and workload.get("trace"):
        workload = runs.merged(workload, {"trace": {"max_ops": args.commands}})
    elif args.commands:
        workload = runs.merged(workload, {"common": {"total_ops": args.commands}})
        workload["common"].pop("total_bytes", None)
    return device, workload


def main():
    args = options()
    if len(set(args.seeds)) < 2:
        raise runs.StudyError("--seeds: an interval takes two seeds or more, each another one")
    name, device, workload = files(args)
    found = experiment.Experiment(args, name, *changed(args, device, workload))
    code = found.run()
    if found.complete():
        print(found.table())
        path = args.out / "explain.json"
        path.write_text(json.dumps(found.facts(), indent=2) + "\n", encoding="utf-8")
        print(f"\nfigures: {path}")
    return code


if __name__ == "__main__":
    runs.main(main, "explain")
