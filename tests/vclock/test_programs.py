"""Random programs on the plugin and on the model: every sync point, every value read, every counter of the report is equal. And
the corners of the rules one by one, in programs that are written down."""
# SPDX-License-Identifier: BSD-3-Clause
import sys
import tempfile
import time

import model
import probe_image
import programs
from programs import LINES, program
from suite import Case, PLUGIN, main

COSTS = {
    **model.COSTS,
    "other": dict(insn=2, local=3, remote=101, far=101, memory=101, occupancy=67, wake=9, pause=21, ipi=75),
    # Instructions cost nothing and all else is round: many events fall on the same cycle.
    "coarse": dict(insn=0, local=10, remote=40, far=40, memory=40, occupancy=20, wake=10, pause=10, ipi=100),
    "ties": dict(insn=0, local=0, remote=10, far=10, memory=10, occupancy=10, wake=0, pause=10, ipi=0),
    # Two near clusters, small caches that spill, reads side by side.
    "cached": dict(insn=1, local=2, remote=30, far=90, memory=70, occupancy=20, wake=5, pause=10, ipi=60, data="moves", reads="merge", cluster=2,
                   cache_bytes=1024, cache_ways=4, layout=7),
    # By class of instruction.
    "classes": dict(insn=1, local=2, remote=40, far=40, memory=40, occupancy=20, wake=0, pause=10, ipi=100, load=2, store=1, mul=4, div=19, branch=3,
                    csr=7),
    # Releases do not wait; two buffers, one of them soon full.
    "buffered": dict(insn=1, local=2, remote=40, far=40, memory=40, occupancy=20, wake=3, pause=10, ipi=100, store_buffer=2),
    "stored": dict(insn=0, local=10, remote=40, far=80, memory=20, occupancy=20, wake=10, pause=10, ipi=100, reads="merge", cluster=4, data="moves",
                   store_buffer=8),
    # Every transfer counts, in one queue: as on a chip with a hub shared by all harts.
    "hub": dict(insn=1, local=3, remote=69, far=69, memory=41, clean=40, busy="access", occupancy=0, wake=0, pause=0, pause_multiple=32, ipi=60,
                data="ordered", dispatch=4, load=1, mul=8, div=28, div_bit=1, csr=2, cache_bytes=1024, cache_ways=4),
    # … with an arbiter that goes round.
    "turns": dict(insn=1, local=3, remote=69, far=69, memory=41, clean=40, busy="access", occupancy=0, wake=0, pause=0, pause_multiple=32, ipi=60,
                  data="ordered", dispatch=4, arbiter="turns", loop_exit=6, load=1, cache_bytes=1024, cache_ways=4),
    "round": dict(insn=0, local=10, remote=40, far=80, memory=100, clean=20, occupancy=20, dispatch=10, arbiter="turns", loop_exit=10, wake=10, pause=10,
                  ipi=100, reads="merge", cluster=2, store_buffer=2),
    "crowded": dict(insn=0, local=10, remote=40, far=80, memory=100, clean=20, occupancy=20, dispatch=10, lr="write", wake=10, pause=10, pause_multiple=16,
                    ipi=100, data="ordered", reads="merge", cluster=2, cache_bytes=256, cache_ways=2, l2_bytes=512, l2_ways=2, l2=30, store_buffer=2),
    "second": dict(insn=1, local=2, remote=40, far=60, memory=90, clean=30, busy="access", occupancy=0, lr="write", wake=0, pause=7, pause_multiple=10, ipi=100,
                   data="moves", cluster=3, cache_bytes=512, cache_ways=2, l2_bytes=4096, l2_ways=4, l2=25, layout=1 << 63, div=3, div_bit=2),
    # A plain access that misses takes back what the rest of its segment has counted, which is more than its site has room for.
    "dear": dict(insn=1, load=1000000, store=1000000, branch=1000000, local=2, remote=40, far=60, memory=90, clean=30, occupancy=20, wake=5, pause=7,
                 ipi=100, data="ordered", cache_bytes=512, cache_ways=2),
    "merged": dict(insn=0, local=10, remote=40, far=80, memory=20, occupancy=20, wake=10, pause=10, ipi=100, reads="merge", cluster=4),
}


def modelled(elf, run, costs, mhz):
    ram = bytearray(64 << 20)
    model.load_elf(elf, ram)
    offset = programs.LISTS - model.RAM
    ram[offset:offset + len(run.image)] = run.image
    m = model.Model(elf, len(run.logs), ram, costs, mhz)
    m.run()
    return m


def counters_of_report(report):
    return {"orders": report["orders"], "switches": report["switches"], "parks": report["parks"], "wakes": report["wakes"],
            "harts": [(h["cycles"], h["counted"], h.get("data"), h.get("store_buffer")) for h in report["harts"]],
            "lines": {int(line.pop("line").rsplit("0x", 1)[1].rstrip(")"), 16): line for line in report["lines"]}}


COUNTED = ("accesses", "transfers", "queue_cycles", "parks", "wakes", "data_transfers")


def counters_of_model(m):
    switches = {}
    for before, now in zip(m.order, m.order[1:]):
        if before[1] != now[1]:
            switches[now[2]] = switches.get(now[2], 0) + 1
    shown = sorted((number for number, line in m.lines.items() if line.accesses or line.data_transfers),
                   key=lambda number: (-m.lines[number].transfers - m.lines[number].data_transfers, number))[:programs.SHOWN_LINES]
    lines = {number << 6: {k: getattr(m.lines[number], k) for k in COUNTED} for number in shown}
    return {"orders": len(m.order), "switches": {**switches, "total": sum(switches.values())}, "parks": m.parks, "wakes": m.wakes,
            "harts": [(m.clock(h), m.counted(h), m.fetches(h) if m.cost["data"] != "free" else None,
                       h.buffered if m.cost["store_buffer"] else None) for h in m.harts], "lines": lines}


class ProgramsCase(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory(prefix="hz-programs-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.elf = probe_image.build(cls.folder.name, "programs.S")
        cls.meeting = programs.symbols(cls.elf)["op_meet"]


class Corners(ProgramsCase):
    """Instructions cost 1 cycle of 1 ns, a transfer 40, a wake 100."""

    def run_lists(self, *lists, options=()):
        with programs.Programs(self.elf, lists, 1, plugin=PLUGIN, options=options) as run:
            self.assertEqual(run.run(), 0, run.output)
            return run.results(run.words), run.report()

    def stored(self, *others, left=0):
        """Whether hart 0's SC to the first word stores, while hart 1 does something between LR and SC that leaves a value."""
        logs, _ = self.run_lists(program(("lr", LINES), ("think", 500), ("sc", LINES, 7), ("add", LINES)),
                                 program(("think", 100), *others))
        self.assertEqual(logs[0][2], left if logs[0][1] else 7, "what an SC says is what it did")
        return not logs[0][1]

    def test_an_sc_stores_only_while_its_reservation_is_intact(self):
        self.assertTrue(self.stored())
        self.assertTrue(self.stored(("lr", LINES)))
        self.assertTrue(self.stored(("add", LINES + 64)))
        self.assertFalse(self.stored(("add", LINES)), "the value it finds is the same as before")
        self.assertFalse(self.stored(("swap", LINES, 5), ("swap", LINES, 0)), "the value is the same again")
        self.assertFalse(self.stored(("swapw", LINES + 4, 1), ("swapw", LINES + 4, 0)))
        self.assertFalse(self.stored(("add", LINES + 8, 1)), "another word of the line")

    def test_a_failed_sc_breaks_no_reservation(self):
        """Else two harts could make each other fail for ever."""
        logs, _ = self.run_lists(program(("lr", LINES), ("think", 500), ("lr", LINES), ("think", 500), ("sc", LINES, 7)),
                                 program(("think", 100), ("lr", LINES), ("think", 60), ("take", LINES, 0), ("think", 600), ("sc", LINES, 5)))
        self.assertEqual((logs[0][2], logs[1][2]), (0, 1))

    def test_an_sc_to_another_word_fails(self):
        logs, _ = self.run_lists(program(("lr", LINES), ("sc", LINES + 8, 7), ("add", LINES + 8), ("sc", LINES, 7), ("add", LINES)))
        self.assertEqual(logs[0], [0, 1, 0, 1, 0])

    def test_an_sc_of_another_width_fails(self):
        for first, second in (("lr", "scw"), ("lrw", "sc")):
            for value in 0, 1, 2**32, 2**64 - 1:
                logs, _ = self.run_lists(program(("store", LINES, value), (first, LINES), (second, LINES, 7), ("load", LINES)))
                self.assertEqual(logs[0][1:], [1, value])

    def test_an_sc_fails_where_anything_has_changed_its_word(self):
        """The hart's own accesses break no reservation, nor do plain stores of others; but the word must hold what LR found."""
        for change, stores in ((("add", LINES, 1), 0), (("add", LINES, 0), 1), (("store", LINES, 1), 0), (("store", LINES, 0), 1)):
            logs, _ = self.run_lists(program(("lr", LINES), change, ("sc", LINES, 7)))
            self.assertEqual(logs[0][-1], 1 - stores, change)
        self.assertFalse(self.stored("sync", ("store", LINES, 5), left=5))
        self.assertTrue(self.stored("sync", ("store", LINES, 0)), "nobody sees it")
        self.assertTrue(self.stored("sync", ("store", LINES + 8, 5)), "another word of the line")

    def test_the_hand_of_a_set_moves_when_a_line_gives_way(self):
        """Two ways: lines A and B; hart 0 takes A away, whose way C then uses; the next line finds no way unused, and A's comes first."""
        a, b, c, d = (LINES + 1024 * i for i in range(4))
        reads = [("lr", a), ("lr", b), ("think", 2000), ("lr", c), ("lr", d), "now", ("lr", b), "now", ("lr", c), "now"]
        for options, missed in ((["cache_bytes=128", "cache_ways=2"], [False, True]), ([], [False, False])):
            logs, _ = self.run_lists(program(("think", 1000), ("add", a)), program(*reads), options=["insn=0", *options])
            before, between, after = logs[1][-5::2]
            self.assertEqual([between - before == 40, after - between == 40], missed, logs[1])

    def test_a_broken_reservation_does_not_end_a_wait(self):
        logs, _ = self.run_lists(program("now", ("lr", LINES), ("wait", 1000)), program(("think", 100), ("add", LINES)))
        self.assertGreaterEqual(logs[0][2], logs[0][0] + 1000)

    def waits(self, target, ipi):
        """When the first of two waits ends, whose deadline is at 1000, and whether a wake that takes effect at 900 + ipi is left for
        the second. Instructions cost nothing, so all times are exact."""
        lists = [program() for _ in range(4)]
        lists[target] = program(("wait", 1000), ("wait", 5000))
        lists[(target + 1) % 4] = program(("charge", 900), ("wake", target))
        logs, _ = self.run_lists(*lists, options=["insn=0", "local=0", "remote=0", "memory=0", "occupancy=0", "pause=10", f"ipi={ipi}"])
        first, second = logs[target]
        return first, second - first < 5000

    def test_a_wake_by_the_deadline_is_used_up(self):
        """Also on the same cycle, whichever hart it is; a later one is remembered."""
        for target in range(4):
            self.assertEqual(self.waits(target, 99), (999, False))
            self.assertEqual(self.waits(target, 100), (1000, False))
            self.assertEqual(self.waits(target, 101), (1000, True))

    def times(self, store_buffer, *operations):
        """Of each `now`, from the first on. Instructions cost nothing, so all times are exact."""
        logs, _ = self.run_lists(program("now", *operations), options=["insn=0", f"store_buffer={store_buffer}"])
        return [time - logs[0][0] for time in logs[0]]

    def test_a_release_waits_in_the_store_buffer(self):
        """The hart goes on after 2 cycles; its next access that is no release waits for the line's 40."""
        released = ("release", LINES), "now", "sync", "now"
        self.assertEqual(self.times(0, *released), [0, 40, 40])
        self.assertEqual(self.times(1, *released), [0, 2, 2])
        for access in "addw", "lr":
            logs, _ = self.run_lists(program("now", ("release", LINES), (access, LINES + 64), "now"), options=["insn=0", "store_buffer=1"])
            self.assertEqual(logs[0][-1] - logs[0][0], 80)

    def test_a_full_store_buffer_waits_for_its_oldest_store(self):
        """Stores are done at 40, 80, 120, one after the other; the third enters when the first has left."""
        three = ("release", LINES), ("release", LINES + 64), "now", ("release", LINES + 128), "now"
        self.assertEqual(self.times(2, *three), [0, 4, 42])
        self.assertEqual(self.times(3, *three), [0, 4, 6])

    def test_a_waiter_wakes_when_the_store_has_its_line(self):
        for entries, wakes in ((0, 140), (1, 140)):
            logs, _ = self.run_lists(program(("charge", 100), ("release", LINES)), program("now", ("lr", LINES), "nto", "now"),
                                     options=["insn=0", f"store_buffer={entries}"])
            self.assertEqual(logs[1][2] - logs[1][0], wakes)

    def test_a_store_makes_its_line_dirty_though_it_need_not_fetch_it(self):
        """Hart 0 takes the line when hart 1 has loaded it, and then stored to it or not."""
        costs = []
        for second in "load", "store":
            logs, _ = self.run_lists(program(("charge", 5000), "now", ("add", LINES), "now"), program(("load", LINES), (second, LINES)),
                                     options=["insn=0", "data=ordered", "remote=40", "clean=15"])
            costs.append(logs[0][2] - logs[0][0])
        self.assertEqual(costs[1] - costs[0], 40 - 15)

    def test_who_stays_lets_nobody_in_before_its_next_freeze(self):
        """Hart 1 adds to a word at the time at which hart 0 stores to another that it must fetch, and then, in a freeze, reads the first."""
        for options, seen in ((["data=ordered"], 1), (["data=moves"], 0), ([], 0)):
            for stay in ((), ("stay",)):
                logs, _ = self.run_lists(program(("add", LINES), ("charge", 1000), "freeze", *stay, "thaw", ("store", LINES + 64), "freeze", ("load", LINES), "thaw"),
                                         program(("store", LINES + 64), ("charge", 1000), ("add", LINES, 1)), options=["insn=0", "remote=40", "memory=40", *options])
                self.assertEqual(logs[0][-1], 0 if stay else seen, f"{options} {stay}")

    def reports_of_freezes(self, *options):
        """Runs that differ only inside a freeze of hart 0, which ends at the same time."""
        for looks in ([("take", LINES + 128, 100)],
                      ["now", ("lr", LINES), ("add", LINES + 64, 0), ("wake", 1), ("lr", LINES), ("sc", LINES), ("take", LINES + 128, 100)],
                      [("take", LINES + 128, 40), ("take", LINES + 128, 40), ("take", LINES + 128, 20)]):
            logs, report = self.run_lists(program("freeze", *looks, "thaw", "now", ("add", LINES + 192)),
                                          *[program(*[("add", LINES + 192)] * 20) for _ in range(3)], options=["ipi=100000", *options])
            hand_overs = report.pop("host")["hand_overs"]
            yield report, logs[0][-2:], hand_overs

    def test_a_freeze_counts_nothing(self):
        """Everything but the host's part is the same, also under a perturbed schedule."""
        for options in ((), ("jitter=1:500",), ("jitter=2:500",)):
            (first, *others) = self.reports_of_freezes(*options)
            for report, log, _ in others:
                self.assertEqual((report, log), first[:2])
            self.assertGreater(len({hand_overs for _, _, hand_overs in [first, *others]}), 1)


class FrozenWaits(ProgramsCase):
    """A hart that would have to wait for another with its clock frozen ends the run, which says where."""

    def ended(self, place, *operations, harts=2):
        lists = [program(("think", 5)) for _ in range(harts - 1)] + [program("freeze", "freeze_again", "thaw", "freeze_again", *operations, "thaw", "thaw")]
        with programs.Programs(self.elf, lists, 1, plugin=PLUGIN) as run:
            self.assertEqual(run.run(), 3, run.output)
            self.assertRegex(run.output.splitlines()[0], rf"^vclock: FROZEN WAIT: hart {harts - 1} would have to wait for another hart at "
                             rf"{place}, but its clock is frozen since op_freeze\+0x0 \(0x[0-9a-f]+\)$")
            report = run.report()
            self.assertEqual((report["end"], report["reason"], report["deterministic"]), ("frozen-wait", "frozen-wait", False))

    def test_waits_are_named(self):
        for harts in (2, 5):
            self.ended(r"op_pause\+0x0 \(0x[0-9a-f]+\) \(pause\)", "pause", harts=harts)
            self.ended(r"op_nto\+0x0 \(0x[0-9a-f]+\) \(wrs.nto\)", ("lr", LINES), "nto", harts=harts)
            self.ended(r"op_sto\+0x[0-9a-f]+ \(0x[0-9a-f]+\) \(wrs.sto\)", ("lr", LINES), ("sto", 100), harts=harts)
            self.ended(r"op_wait\+0x[0-9a-f]+ \(0x[0-9a-f]+\) \(wait\)", ("wait", 100), harts=harts)

    def test_a_loop_that_does_not_pause_is_named(self):
        self.ended(r"op_grab\+0x0 \(0x[0-9a-f]+\) \(amo\)", ("grab", LINES, 1), ("grab", LINES, 1))

    def test_what_waits_for_nobody_is_allowed(self):
        lists = [program("freeze", ("take", LINES, 500), ("lr", LINES), ("sto", 0), ("wait", 0), ("grab", LINES, 1), "thaw", "pause",
                         ("lr", LINES), ("sto", 100), ("wait", 100)), program()]
        with programs.Programs(self.elf, lists, 1, plugin=PLUGIN) as run:
            self.assertEqual(run.run(), 0, run.output)


class Random(ProgramsCase):
    def compare(self, harts, costs, mhz, count, seed):
        generator = programs.Generator(seed, harts)
        lists = generator.lists(count)
        options = [f"mhz={mhz}", *(f"{k}={v}" for k, v in COSTS[costs].items())]
        with programs.Programs(self.elf, lists, generator.lines, plugin=PLUGIN, options=options) as run:
            self.assertEqual(run.run(), 0, run.output)
            report, trace = run.report(), run.trace()
            results = run.results(run.words)
            self.assertTrue(report["deterministic"], report["reason"])
            m = modelled(self.elf, run, COSTS[costs], mhz)
            expected = run.results(lambda at, n: [m.peek(at + 8 * i) for i in range(n)])
        self.check_order(trace, m.order)
        for hart, (real, right) in enumerate(zip(results, expected)):
            self.assertEqual(real, right, f"values that hart {hart} read")
        self.assertEqual(counters_of_report(report), counters_of_model(m))
        return len(trace)

    def check_order(self, trace, expected):
        if trace == expected:
            return
        at = next((i for i, (real, right) in enumerate(zip(trace, expected)) if real != right), min(len(trace), len(expected)))
        hart = trace[at][1] if at < len(trace) else expected[at][1]
        program = sum(h == hart and kind == "amo" and self.meeting <= pc < self.meeting + 16 for _, h, kind, pc in trace[:at])
        names = {address: name for name, address in programs.symbols(self.elf).items() if name.startswith("op_")}

        def show(entry):
            place = max((a for a in names if a <= entry[3]), default=None)
            return f"{entry[0]:>10} hart {entry[1]} {entry[2]} {names.get(place)}"
        lines = [f"sync point {at}, program {program} of hart {hart}:"]
        for title, order in (("plugin", trace), ("model", expected)):
            lines += [title] + [show(e) for e in order[max(0, at - 8):at + 3]]
        self.fail("\n".join(lines))

    def test_programs(self):
        """Thousands, over harts, costs and frequencies."""
        begin, orders, total = time.monotonic(), 0, 0
        for seed, (harts, costs, mhz, count) in enumerate(MATRIX):
            with self.subTest(harts=harts, costs=costs, mhz=mhz, seed=seed):
                orders += self.compare(harts, costs, mhz, count, seed)
                total += count
        print(f"{total} programs, {orders} sync points equal, {time.monotonic() - begin:.0f} s", file=sys.stderr)


MATRIX = (
    (1, "free", 1000, 100), (2, "coarse", 1000, 1000), (2, "free", 1000, 400), (2, "ties", 1000, 400), (3, "coarse", 1000, 800),
    (3, "other", 1600, 300), (4, "ties", 1000, 300), (4, "free", 333, 300), (5, "coarse", 1000, 500), (8, "free", 1000, 150),
    (8, "coarse", 1000, 150), (8, "ideal", 1000, 100), (2, "plain", 1000, 200), (4, "cached", 1000, 200), (3, "classes", 1000, 200), (6, "merged", 1000, 150), (5, "buffered", 1000, 150),
    (8, "stored", 1600, 100), (7, "cached", 1600, 100), (16, "ties", 1000, 60), (16, "other", 1600, 60), (32, "free", 1000, 25),
    (64, "coarse", 1000, 8), (1, "hub", 1000, 100), (2, "hub", 1000, 200), (4, "hub", 1000, 150), (3, "crowded", 1000, 150), (5, "crowded", 1600, 100),
    (2, "second", 1000, 150), (7, "second", 333, 60), (16, "hub", 1000, 20), (16, "crowded", 1000, 20),
    (2, "turns", 1000, 200), (4, "turns", 1600, 150), (16, "turns", 1000, 20), (3, "round", 1000, 150), (8, "round", 1000, 50),
    (3, "dear", 1000, 100),
)

if __name__ == "__main__":
    main()
