"""The times that a device on the virtual clock takes, each in exactly one class, and device and
workload files with one class scaled.

`TIMES` names every key of a device file, and `HOST` every key of a workload, that is a time or a
rate.
"""
# SPDX-License-Identifier: BSD-3-Clause
import copy
import dataclasses
import math


MOST_MHZ, MOST_CYCLES = 100000, 1000000  # HZ_MAX_MHZ, HZ_MAX_COST
FINEST = 100 # fractions of a cycle, if the limits allow it: 10 % of a cost of one cycle is then a
             # whole number

# class → (group, keys): section and key of a device file. A rate has a - before its key.
CLASSES = {
    "SLC reads": ("flash cells", ["timing.slc.read", "timing.slc.read_sigma"]),
    "SLC programs": ("flash cells", ["timing.slc.program", "timing.slc.program_sigma"]),
    "SLC erases": ("flash cells", ["timing.slc.erase", "timing.slc.erase_sigma"]),
    "reads": ("flash cells", ["timing.normal.read", "timing.normal.read_sigma"]),
    "programs": ("flash cells", ["timing.normal.program", "timing.normal.program_sigma"]),
    "erases": ("flash cells", ["timing.normal.erase", "timing.normal.erase_sigma"]),
    "channel transfers": ("channels", ["-timing.channel_bytes_per_s"]),
    "flash commands": ("channels", ["timing.command", "timing.cache_busy", "timing.suspend"]),
    "link transfers": ("link", ["-link.bytes_per_s"]),
    "link to the device": ("link", ["link.doorbell", "link.fetch"]),
    "link to the host": ("link", ["link.completion", "link.interrupt"]),
    "think time": ("host", ["workload.think", "workload.time_scale"]),
    "turnaround": ("host", ["workload.turnaround"]),
    "instructions": ("instructions", [f"clock.{key}" for key in ("insn", "load", "store", "mul", "div", "div_bit", "branch", "csr", "loop_exit")]),
    "lines held": ("synchronisation", ["clock.local"]),
    "lines of other harts": ("synchronisation", ["clock.remote", "clock.far", "clock.clean"]),
    "lines of memory": ("synchronisation", ["clock.memory", "clock.l2"]),
    "occupancy of lines": ("synchronisation", ["clock.occupancy", "clock.dispatch"]),
    "wakes": ("synchronisation", ["clock.wake", "clock.ipi"]),
    "pauses": ("synchronisation", ["clock.pause", "clock.pause_multiple"]),
    "time limits": ("time limits", ["timing.read_age_limit", "buffers.poll", "buffers.idle", "workload.hold"]),
}
NO_TIMES = {"clock.mhz": "the unit of all cycles: FINEST parts of a cycle are counted by raising it",
            "clock.cluster": "a number of harts", "clock.cache_bytes": "a size", "clock.cache_ways": "a number of ways", "clock.l2_bytes": "a size",
            "clock.l2_ways": "a number of ways", "clock.store_buffer": "a number of entries"}
EVERYTHING = "everything"
TWICE = 2
RATES = ("timing.channel_bytes_per_s", "link.bytes_per_s")
WHOLE_RATE = 1_000_000_000 # bytes a second: one in a nanosecond
WHOLE_MHZ = 1000
SECTIONS = "sections of locks" # what instructions take while a hart holds a spin lock
HANDOVERS = "hand-overs of locks" # transfers of lines that spin locks are in


@dataclasses.dataclass
class Cost:
    """A group of costs scaled together."""
    name: str
    group: str
    keys: list


def classes():
    return [Cost(name, group, keys) for name, (group, keys) in CLASSES.items()]


def groups():
    found = {}
    for cost in classes():
        found.setdefault(cost.group, []).extend(cost.keys)
    return [Cost(name, name, keys) for name, keys in found.items()]


def everything():
    return Cost(EVERYTHING, EVERYTHING, [key for cost in classes() for key in cost.keys])


def echoed(result, fields):
    """key → value in this run, of device and workload; a list if there are several. Costs of the
    clock are cycles."""
    found = {}
    for field in fields:
        if field["echo"] != "_":
            place = result["device"]
            for part in field["section"].split(".") if field["section"] else ():
                place = place.get(part, {})
            if isinstance(place, dict) and field["echo"] in place:
                found[f"{field['section']}.{field['key']}".lstrip(".")] = place[field["echo"]]
    return {**found, **echoed_workload(result["workload"])}


def echoed_workload(workload):
    found = {"workload.turnaround": workload["turnaround_ns"]}
    if isinstance(workload.get("threads"), list):
        found["workload.think"] = [thread["think_ns"] for thread in workload["threads"]]
    elif workload.get("trace", {}).get("timing") == "open":
        found["workload.time_scale"] = workload["trace"]["time_scale"]
    if workload.get("iotailor"):
        found["workload.hold"] = workload["iotailor"]["hold_ns"]
    return found


def code(result, classes):
    """Parts of classes, so in no sum: name → options of the virtual clock that let them take {} thousandths of their time. classes: names
    of lock classes in the order of their numbers, or none."""
    masks, taken = {}, {lock["class"] for lock in result["locks"] if lock["acquisitions"]}
    for hart in result["harts"]:
        masks[hart["role"]] = masks.get(hart["role"], 0) | 1 << hart["id"]
    out = {f"instructions of {role} harts": f"pace={{}},pace_harts={mask:#x}" for role, mask in masks.items()}
    if result["device"]["locks"]["stats"] == "all":
        for what, option in ((SECTIONS, "hold"), (HANDOVERS, "transfer")):
            out[what] = f"{option}={{}}"
            out.update({f"{what}, class {name}": f"{option}={{}},{option}_class={number}" for number, name in enumerate(classes) if name in taken})
    return out


def used(values, key):
    """Whether the device has this key and takes time for it."""
    value = values.get(key.lstrip("-"))
    if key.lstrip("-") == "buffers.poll" and values.get("buffers.handover") != "polled":
        return False
    if key == "clock.l2" and not values.get("clock.l2_bytes"):
        return False
    return any(value) if isinstance(value, list) else bool(value)


def parts(values):
    """Factor on the clock's costs and frequency, so that costs of few cycles can change by small
    steps."""
    cycles = [values[key] for cost in classes() for key in cost.keys if key.startswith("clock.") and key in values]
    return max(1, min(FINEST, MOST_MHZ // values["clock.mhz"], MOST_CYCLES // max(2 * max(cycles, default=1), 1)))


class Files:
    """Device and workload of a point, and the values that its run reported for them."""

    def __init__(self, device, workload, values, of_code=None):
        self.device, self.workload, self.values, self.parts, self.code = device, workload, values, parts(values), of_code or {}

    def has(self, cost):
        return any(used(self.values, key) for key in cost.keys)

    def scaled(self, cost, factor):
        """(device, workload, logarithm of the cost's actual change: the mean over its keys, each of
        which is a whole number)."""
        device, workload, logs = copy.deepcopy(self.device), copy.deepcopy(self.workload), []
        asked = set(cost.keys) if cost else set()
        for key in everything().keys:
            if used(self.values, key):
                by = factor if key in asked else 1.0
                value, log = self.value(key, by)
                logs += [log] * (key in asked)
                if by != 1.0 or key.startswith("clock."):
                    put(device, workload, key.lstrip("-"), value)
        put(device, workload, "clock.mhz", self.values["clock.mhz"] * self.parts)
        return device, workload, sum(logs) / len(logs) if logs else 0.0

    def doubled(self):
        """[(device, workload)]: like this one, but with whole nanoseconds and nothing drawn; the same with each cost twice as large. If each time
        is in a cost, the same things happen in both, in the second at twice the times."""
        device, workload, values = copy.deepcopy(self.device), copy.deepcopy(self.workload), dict(self.values)
        changed = {key: WHOLE_RATE // max(1, round(WHOLE_RATE / values[key])) for key in RATES if used(values, key)}
        changed |= {key: [0] * len(sigmas) if isinstance(sigmas, list) else 0 for key, sigmas in values.items() if key.endswith("_sigma")}
        changed |= {"clock.mhz": WHOLE_MHZ, "clock.div_bit": 0} # the time of a division depends on its operands
        for key, value in changed.items():
            put(device, workload, key, value)
        for part in (workload, workload.get("common") or {}, *(entry or {} for entry in workload.get("each") or [])):
            part.pop("think_distribution", None)
        whole = Files(device, workload, {**values, **changed})
        whole.parts = 1
        return [whole.scaled(cost, TWICE)[:2] for cost in (None, everything())]

    def value(self, key, by):
        old = self.values[key.lstrip("-")]
        if key == "workload.time_scale":
            return old * by, math.log(by)
        more = self.parts if key.startswith("clock.") else 1
        olds = old if isinstance(old, list) else [old]
        news = [max(1, round(o * more / by if key.startswith("-") else o * more * by)) if o else 0 for o in olds]
        sign = -1 if key.startswith("-") else 1
        logs = [sign * math.log(n / (o * more)) for n, o in zip(news, olds) if o]
        while len(news) > 1 and news[-1] == news[-2] and key != "workload.think": # the last one applies to the rest
            news.pop()
        return (news if isinstance(old, list) else news[0]), sum(logs) / len(logs)


def put(device, workload, key, value):
    section, name = key.rsplit(".", 1)
    if key == "workload.think":
        put_think(workload, value)
    elif key == "workload.time_scale":
        workload["trace"]["time_scale"] = value
    elif key == "workload.hold":
        workload["iotailor"]["hold"] = value
    elif section == "workload":
        workload[name] = value
    else:
        place = device
        for part in section.split("."):
            if place.get(part) is None:
                place[part] = {}
            place = place[part]
        place[name] = value


def put_think(workload, thinks):
    """One for each thread; if all are equal, the file has one value."""
    each = [dict(entry or {}) for entry in workload.get("each") or []]
    for entry in each:
        entry.pop("think", None)
    if len(set(thinks)) == 1:
        workload["common"] = {**(workload.get("common") or {}), "think": thinks[0]}
    else:
        each += [{} for _ in range(len(thinks) - len(each))]
        for entry, think in zip(each, thinks):
            entry["think"] = think
    if each:
        workload["each"] = each
