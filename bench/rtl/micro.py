"""Micro-benchmarks of bench rtl: requests to a machine, results in cycles, and the costs of the
virtual clock derived from them."""
# SPDX-License-Identifier: BSD-3-Clause
import statistics

import schema

ACCESSES = ("load", "store", "amo", "lr", "release")
PRIORS = ("nowhere", "dirty", "clean", "own_clean", "own_dirty")
FEW, MANY, WANTED = 32, 96, 9 # program/micro.c
# Access, state of the line, and number of other harts with this state.
STATES = [("amo", "own_dirty", 0), ("amo", "own_clean", 0), ("amo", "nowhere", 0), ("amo", "dirty", 1), ("amo", "clean", 1), ("amo", "clean", 3),
          ("load", "own_dirty", 0), ("load", "nowhere", 0), ("load", "dirty", 1), ("load", "clean", 1), ("store", "own_dirty", 0),
          ("store", "dirty", 1), ("store", "clean", 1), ("lr", "own_dirty", 0), ("lr", "dirty", 1), ("lr", "clean", 1)]
STREAMED, HANDED, ROUNDS, QUEUE_APART = 40, 40, 8, 15
MIDDLE_BITS, LONG_BITS = 26, 57  # by which the dividends of div_middle and rem_long are longer than their divisors
WAY_COUNTS, WAY_APART = (1, 2, 4, 8, 16), 65536  # one line more than each count, all in one set
MOST_HIT = 8 # cycles of a step of a walk that hits
SET_APART = tuple(64 << n for n in range(1, 11)) # bytes between lines


def instructions():
    return [row["name"] for row in schema.rows("bench/rtl/program/instructions.def", "INSTRUCTION", ("name", "before", "code"))]


def scenes(harts):
    """name → (scene, harts, words), except the walks, which follow one another."""
    asked = {"core": ("core", 1, [])}
    for access, prior, others in STATES:
        if others < harts:
            asked[f"access {access} {prior} {others}"] = ("access", max(2, others + 1), [ACCESSES.index(access), PRIORS.index(prior), others])
    for n in range(2, harts + 1):
        asked[f"stream {n}"] = ("stream", n, [ACCESSES.index("amo"), STREAMED])
        asked[f"fanout {n}"] = ("fanout", n, [ROUNDS])
    for n in range(1, harts + 1):
        asked[f"crowd {n}"] = ("crowd", n, [])
    asked["queue one"] = ("queue", harts, [QUEUE_APART, 0])
    asked["queue own"] = ("queue", harts, [0, 1])
    asked["handover"] = ("handover", 2, [HANDED])
    asked.update({f"walk {n + 1} {WAY_APART}": ("walk", 1, [n + 1, WAY_APART]) for n in WAY_COUNTS})
    return asked


def figures(answers):
    """name → cycles, from the answers of the scenes."""
    out = {name: (many - few) / (MANY - FEW) for name, few, many in zip(instructions(), answers["core"][0::2], answers["core"][1::2])}
    for name, values in answers.items():
        scene, *words = name.split()
        if scene == "access":
            out[name] = statistics.median(values[1:])
        elif scene in ("stream", "handover"):
            begin, end = min(values[0::2]), max(values[1::2])
            out[name] = (end - begin) / (STREAMED * int(words[0]) if words else 2 * HANDED)
        elif scene == "fanout":
            rounds = [values[i:i + int(words[0])] for i in range(0, len(values), int(words[0]))]
            out[f"{name} write"] = statistics.median(r[0] for r in rounds)
            out[f"{name} last"] = statistics.median(max(r[1:]) for r in rounds)
        elif scene == "crowd":
            out[name] = sum(values[8:]) / len(values[8:])
        elif name == "queue one" and len(values) > 4: # two harts have no order but one
            out["queue in turn"] = int(values[1::2] == [0, *range(len(values) // 2 - 1, 0, -1)])
        elif name == "queue own":
            out["queue gap"] = (max(values[0::2]) - min(values[0::2])) / (len(values) / 2 - 1)
        elif scene == "walk":
            out[f"{name} first"], out[f"{name} best"] = values
    return out


def walks(ask):
    """Bytes and ways of a hart's cache: the most lines of one set that stay, then the distance of
    lines of one set."""
    def stays(lines, apart):
        first, best = ask("walk", 1, [lines, apart])
        return best < lines * MOST_HIT + first / lines / 2
    ways = max((n for n in WAY_COUNTS if stays(n, WAY_APART)), default=0)
    apart = next((apart for apart in SET_APART if ways and not stays(ways + 1, apart)), 0)
    return {"cache_ways": ways, "cache_bytes": ways * apart}


def cycles(value):
    """Half a cycle and more is one."""
    return int(value + 0.5)


def costs(f, cache):
    """Options of the virtual clock, derived from these figures only."""
    insn = cycles(f["addi"])

    def beyond(name):
        return cycles(f[name]) - insn

    def moved(state):
        """… of a miss, beyond that of a hit."""
        return cycles(f[f"access amo {state}"] - f["access amo own_dirty 0"])
    div_bit = cycles((f["rem_long"] - f["div_middle"]) / (LONG_BITS - MIDDLE_BITS))
    return {"preset": "free", "insn": insn, "local": beyond("amo"), "remote": moved("dirty 1"), "far": moved("dirty 1"), "clean": moved("clean 1"),
            "memory": moved("nowhere 0"), **busy(f, beyond("amo") + moved("dirty 1")), "wake": 0, **pause(f, insn), "data": "ordered",
            **hub(f), "load": beyond("load_wanted"), "store": beyond("store"), "mul": beyond("mul") - WANTED * insn,
            "div": beyond("rem_long") - WANTED * insn - div_bit * LONG_BITS, "div_bit": div_bit, "branch": beyond("branch_not_taken"),
            "loop_exit": cycles(loop_exit(f, insn)), "csr": beyond("csr"), **cache}


def loop_exit(f, insn):
    """16 loops in a loop have 17 ends."""
    turn = (f["loops_40"] - f["loops_8"]) / (16 * (40 - 8))
    return (f["loops_8"] - 16 * 8 * turn - (1 + 16 * 3) * insn) / 17


def busy(f, access):
    """How long a contended line is busy: for the access, or a number of cycles."""
    crowd = max(f[name] for name in f if name.startswith("stream"))
    return {"busy": "access"} if crowd > 0.9 * access else {"busy": "occupancy", "occupancy": cycles(crowd)}


def pause(f, insn):
    """It ends at a multiple of a number of cycles if the instructions after it do not make the
    whole longer."""
    if abs(f["pause_addi_9"] - f["pause"]) < 4.5 and abs(f["pause_addi_20"] - f["pause"]) < 10:
        return {"pause": 0, "pause_multiple": cycles(f["pause_addi_20"])}
    return {"pause": cycles(f["pause"]) - insn}


def hub(f):
    """A hart that fetches a line of its own while others fight for one waits if there is one queue
    for all."""
    crowds = [f[name] for name in f if name.startswith("crowd")]
    if max(crowds) < 1.5 * crowds[0]:
        return {}
    return {"dispatch": max(1, cycles(f["queue gap"])), "arbiter": "turns" if f.get("queue in turn") else "arrival"}
