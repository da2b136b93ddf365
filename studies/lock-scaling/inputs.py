"""Device and workload of a point of the lock study: its files, the case, a trace, cost models, and what a seed changes."""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import functools
import json
import pathlib
import subprocess

import scaling
import schema
from common import runs

CASES = pathlib.Path(__file__).resolve().parent / "cases"
COHERENCE = ("local", "remote", "far", "memory", "clean", "dispatch", "occupancy", "wake", "ipi")  # keys of the device file's clock section
IN_ZONES = {"append", "reset", "reset-all", "finish", "open", "close"}  # operations of traces that only zones have
TRACE_DEPTH = 16  # commands under way of each thread that replays a trace
TRACE_OPS_QUICK = 2000


def cost_models():
    """name → the device file's clock section."""
    defaults = {f["key"]: f["default"] for f in schema.device_fields() if f["section"] == "clock" and f["key"] in COHERENCE}
    presets = {name: {"preset": name} for name, _ in schema.choices("clock_preset") if name != "rocket"}
    return {"rocket": {}, **presets, "buffered": {"store_buffer": 8}, "half": {key: value // 2 for key, value in defaults.items()},
            "2x": {key: value * 2 for key, value in defaults.items()}}


def costs_named(word):
    """The section `clock` of a name, or of a device file. Raises ValueError with a sentence."""
    if word in cost_models():
        return cost_models()[word]
    try:
        clock = runs.read_yaml(pathlib.Path(word)).get("clock")
    except (OSError, runs.StudyError):
        clock = None
    if not isinstance(clock, dict):
        raise ValueError(f"'{word}' is neither one of {', '.join(cost_models())} nor a YAML file with a section clock, such as ./hartzone calibrate writes")
    return clock


def costs_word(words):
    """'a,b.yaml' → ['a', 'b.yaml']"""
    for word in words.split(","):
        try:
            costs_named(word)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return words.split(",")


def cases():
    """name → its file: its changes to the device and to the workload; a null leaves a key out."""
    return {path.stem: path for path in sorted(CASES.glob("*.yaml"))}


def case_of(args, part):
    return runs.read_yaml(cases()[args.case]).get(part, {})


def as_the_case_says(args):
    """A case may name what it compares, where the command line does not."""
    for key, value in case_of(args, "study").items():
        if key not in args.named:
            setattr(args, key, value)
    return args


@functools.cache
def operations(path):
    """Kinds of operations in a trace. Raises StudyError with what is wrong with it."""
    summary = subprocess.run([str(runs.driver()), "trace", "summary", "--json", str(path)], capture_output=True, text=True, check=False)
    if summary.returncode:
        raise runs.StudyError(f"--trace: {summary.stderr.strip().removeprefix('hartzone: ')}")
    return set(json.loads(summary.stdout)["operations"])


def case_of_trace(path):
    """The case whose device such a trace is replayed on."""
    return "zoned-trace" if operations(path) & IN_ZONES else "block-trace"


def without_nulls(values):
    return {key: without_nulls(value) if isinstance(value, dict) else value for key, value in values.items() if value is not None}


def device_of(args, kind, granularity, workers, costs, architecture):
    device = without_nulls(runs.merged(runs.load_yaml("devices", args.device), case_of(args, "device")))
    device = runs.merged(device, {"harts": {"workers": workers}, "locks": {"kind": {"default": kind}, "stats": "all"}})
    for dealt in ("frontiers", "collectors"):  # no more of them than workers are allowed
        if device.get("conventional", {}).get(dealt):
            device["conventional"][dealt] = min(workers, device["conventional"][dealt])
    if architecture != "pipeline":
        device["harts"]["architecture"] = architecture
    elif args.hil > 1:
        device["harts"]["hils"] = args.hil
    if args.tsu:
        device["harts"]["tsus"] = args.tsu
    if granularity == "owner":
        device["harts"]["routing"] = "owner"
    elif granularity != "device":
        device["locks"]["granularity"] = {"default": args.shards if granularity == "sharded" else granularity}
    if costs_named(costs):
        device = runs.merged(device, {"clock": costs_named(costs)})
    return device


def replayed(args, threads, seed):
    """A trace as fast as the queues allow. What it holds is not drawn, so a seed changes when the host acts (runs.seeded)."""
    quick = {"max_ops": TRACE_OPS_QUICK} if args.quick else {}
    zoned = {} if operations(args.trace) & IN_ZONES else {"split": "address"}
    return runs.seeded({"name": "trace", "mapping": "direct", "verify": False,
                        "trace": {"file": str(args.trace.resolve()), "threads": threads, "queue_depth": TRACE_DEPTH, **zoned, **quick}}, seed)


def workload_of(args, workers, load, seed):
    threads = workers if load == scaling.GROWING else max(args.workers)
    if args.trace:
        return replayed(args, threads, seed)
    workload = runs.seeded(without_nulls(runs.merged(runs.merged(runs.load_yaml("workloads", args.workload), case_of(args, "workload")),
                                                     {"threads": threads})), seed)
    if args.quick: # half of a case's commands, enough for its purpose
        workload["common"]["total_ops"] = case_of(args, "workload").get("common", {}).get("total_ops", 400) // 2
    return workload
