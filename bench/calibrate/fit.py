"""Costs of the virtual clock from figures of a host: which figures each follows from, and what a host does not show. The lock curves are not
looked at."""
# SPDX-License-Identifier: BSD-3-Clause
import dataclasses

import schema
from micro import busy, cycles

SUPERSCALAR = 0.75   # cycles of an instruction that waits for none: below it a core does several at once
DIV_BITS = 57        # by which the dividend of div_long is longer than its divisor, 11 of div_short
SHORT_BITS = 11
STORES = (8, 16, 24, 32, 40, 48, 56, 64, 72)
CHOICES = ("preset", "data", "reads", "busy", "arbiter", "lr")
TWO = "needs two cores"
FLUSH = "needs an instruction that gives a line back to memory, which user code of this architecture has not everywhere"

# What the clock has and no program of a host sees: cost → why.
NOT_SHOWN = {
    "data": "moves: plain accesses fetch lines here; whether one waits its turn as `ordered` has it is hidden by an out-of-order core",
    "ipi": "a signal through the operating system is no interrupt of a controller",
    "csr": "user code has no such register",
    "lr": "user code cannot see how a load-reserved fetches its line",
    "dispatch": "so is `arbiter`: which queue transfers stand in is not seen from outside",
    "loop_exit": "a host's predictor learns loops as short as those of a lock",
    "pause_multiple": "a host's PAUSE has no such rule",
}


@dataclasses.dataclass
class Caches:
    """Of the host: bytes and ways, 0 for none; and cores of a cluster, 0: all are near."""
    private: tuple = (0, 0)
    shared: tuple = (0, 0)
    cluster: int = 0


@dataclasses.dataclass
class Rule:
    """A cost, names of the figures that it follows from, how, and why they may be missing."""
    cost: str
    of: tuple
    value: object
    missing: str = TWO


def miss(f, name):
    """Cycles of an access beyond those of one that finds its line."""
    how = name.split()[1]
    return max(0, cycles(f[name] - f[f"access {how} own_dirty"]))


def beyond(f, name):
    return max(0, cycles(f[name]) - 1)


def of_class(f, name):
    """An instruction's cycles beyond one: of a core that does several at once what the unit takes, of another until the result is there."""
    return beyond(f, name if f["apart"] < SUPERSCALAR or f"{name}_wanted" not in f else f"{name}_wanted")


def clean(f):
    """0 where it is as `remote`, within a spread."""
    cost, remote = miss(f, "access amo clean"), miss(f, "access amo dirty")
    return cost if cost < 0.95 * remote else 0


def div_bit(f):
    return max(0, cycles((f["div_long"] - f["div_short"]) / (DIV_BITS - SHORT_BITS)))


def store_buffer(f):
    """As many stores as are given away behind one that waits for memory: before they take half of its time."""
    wait = miss(f, "access load nowhere")
    taken = [n for n in STORES if f[f"stores {n}"] - f[f"stores {STORES[0]}"] < wait / 2 + n - STORES[0]]
    return max(taken) if taken and f[f"stores {STORES[0]}"] < wait / 2 else 0


def reads(f):
    """`queue` if each reader more makes the last one later, by an eighth of a transfer or more."""
    numbers = sorted(int(name.split()[1]) for name in f if name.startswith("fanout "))
    last = [f[f"fanout {n}"] for n in (numbers[0], numbers[-1])]
    return "queue" if (last[1] - last[0]) / (numbers[-1] - numbers[0]) > miss(f, "access amo dirty") / 8 else "merge"


def contended(f):
    return busy(f, cycles(f["access amo dirty"]))


def rules(caches, harts):
    """harts: of the largest measurement."""
    streams = tuple(f"stream {n}" for n in harts if n > 1) or ("stream 2",)
    fanouts = tuple(f"fanout {n}" for n in harts if n > 1)
    far = "access amo dirty far" if caches.cluster else "access amo dirty"
    out = [
        Rule("mhz", ("mhz",), lambda f: cycles(f["mhz"])),
        Rule("local", ("access amo own_dirty",), lambda f: beyond(f, "access amo own_dirty")),
        Rule("remote", ("access amo dirty", "access amo own_dirty"), lambda f: miss(f, "access amo dirty")),
        Rule("far", (far, "access amo own_dirty"), lambda f: miss(f, far)),
        Rule("clean", ("access amo clean", "access amo dirty", "access amo own_dirty"), clean),
        Rule("memory", ("access load nowhere", "access load own_dirty"), lambda f: miss(f, "access load nowhere"), FLUSH),
        Rule("occupancy", (*streams, "access amo dirty"), contended),
        Rule("pause", ("pause",), lambda f: beyond(f, "pause")),
        Rule("reads", (*fanouts, "access amo dirty", "access amo own_dirty"), reads) if len(fanouts) > 1 else
        Rule("reads", ("fanout 3",), reads, "needs three cores"),
        *(Rule(name, (name, "apart"), lambda f, name=name: of_class(f, name)) for name in ("load", "store", "mul")),
        Rule("div", ("div_long", "div_short", "apart"), lambda f: max(0, beyond(f, "div_short") - div_bit(f) * SHORT_BITS)),
        Rule("div_bit", ("div_long", "div_short"), div_bit),
        Rule("branch", ("turn",), lambda f: max(0, cycles(f["turn"]) - 2)), # of a loop of two instructions
        Rule("store_buffer", (*(f"stores {n}" for n in STORES), "access load nowhere", "access load own_dirty"), store_buffer, FLUSH),
    ]
    if caches.shared[0]:
        out.append(Rule("l2", ("walk shared", "access load own_dirty"), lambda f: max(0, cycles(f["walk shared"] - f["access load own_dirty"]))))
    return out


def word_of(cost, value):
    """As in files: the word of a choice."""
    return schema.choices(f"clock_{cost}")[value][0] if cost in CHOICES else value


def limits():
    """cost → (least, most, what preset `free` has) of a device file."""
    fields = [f for f in schema.device_fields() if f["section"] == "clock"]
    free = schema.clock_preset("free")
    return {f["key"]: (f["least"], f["most"], word_of(f["key"], free.get(f["key"], f["default"]))) for f in fields}


def within(cost, value, bounds, remarks):
    low, high, _ = bounds[cost]
    if isinstance(value, int) and not low <= value <= high:
        kept = min(max(value, low), high)
        remarks.append({"cost": cost, "why": f"{value} is beyond what the clock takes ({low} to {high})", "kept": kept})
        return kept
    return value


def of_caches(caches):
    out = {}
    if caches.private[0]:
        out.update(cache_bytes=caches.private[0], cache_ways=caches.private[1] or 8)
    if caches.shared[0]:
        out.update(l2_bytes=caches.shared[0], l2_ways=caches.shared[1] or 8)
    return {key: value for key, value in {**out, "cluster": caches.cluster}.items() if value}


def sets_fit(costs, bounds, remarks):
    """The clock wants a power of two of sets: the largest cache of whole sets below."""
    for size, ways in (("cache_bytes", "cache_ways"), ("l2_bytes", "l2_ways")):
        if size in costs:
            most, of = min(costs[size], bounds[size][1]), min(costs[ways], bounds[ways][1])
            fitting, costs[ways] = max((n * 64 << ((most // (n * 64)).bit_length() - 1), n) for n in (of, 1 << of.bit_length() - 1))
            if fitting != costs[size]:
                remarks.append({"cost": size, "why": f"the clock has a power of two of sets, and at most {bounds[size][1]} bytes: not {costs[size]}",
                                "kept": fitting})
            costs[size] = fitting


def doubt(figure):
    return f"with a spread of {100 * figure.spread:.0f} % and {100 * figure.lost:.0f} % of its time taken by other programs"


def costs(figures, caches, harts):
    """(section `clock`, remarks: {"cost", "why", "kept"}) of name → Figure."""
    bounds, out, remarks = limits(), {"preset": "free", "insn": 1, "data": "moves"}, []
    f = {name: figure.value for name, figure in figures.items()}
    for rule in rules(caches, harts):
        default = bounds[rule.cost][2]
        kept = out["remote"] if rule.cost == "far" and "remote" in out else default
        wide = next((name for name in rule.of if name in f and not figures[name].usable()), None)
        if any(name not in f for name in rule.of):
            remarks.append({"cost": rule.cost, "why": rule.missing, "kept": kept})
        elif wide:
            remarks.append({"cost": rule.cost, "why": f"'{wide}' is not usable, {doubt(figures[wide])}", "kept": kept})
        else:
            value = rule.value(f)
            found = value if isinstance(value, dict) else {rule.cost: value}
            out.update({key: within(key, value, bounds, remarks) for key, value in found.items()})
    out.update(of_caches(caches))
    if "l2" not in out and out.pop("l2_bytes", None):
        out.pop("l2_ways")
        remarks.append({"cost": "l2_bytes", "why": "the cost of the shared cache is not there", "kept": 0})
    sets_fit(out, bounds, remarks)
    return out, remarks


def wake(host, clock):
    """What a hand-over between two cores takes beyond the transfers of the clock: how long a waiter takes to look again."""
    return max(0, cycles(host - clock))
