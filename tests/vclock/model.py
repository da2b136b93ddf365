"""Independent discrete-event model of harts under the virtual clock, from the rules in docs/internals/virtual-clock.md and clock-costs.md.

It shares no code with the plugin: instruction counts come from objdump (rv64.py), time from a heap of events. Events
are the sync points; the event with the smallest (clock, hart) happens next."""
# SPDX-License-Identifier: BSD-3-Clause
import heapq
import struct

from rv64 import LOADS, MASK, RAM, STORES, SYNC_WORDS, Code, expand, place, reg, signed, word

SLOTS = 0x80200000
UART, ECAM, ECAM_END = 0x10000000, 0x30000000, 0x40000000
COSTS = {
    "free": dict(insn=1, local=2, remote=40, far=40, memory=40, occupancy=20, wake=0, pause=10, ipi=100),
    "ideal": dict(insn=1, local=0, remote=0, far=0, memory=0, occupancy=0, wake=0, pause=10, ipi=0),
    "plain": dict(insn=1, local=2, remote=40, far=40, memory=40, occupancy=20, wake=0, pause=10, ipi=100, data="moves"),
    "rocket": dict(insn=1, local=3, remote=69, far=69, memory=41, clean=41, busy="access", occupancy=20, wake=0, pause=0, pause_multiple=32, ipi=100,
                   data="ordered", dispatch=8, arbiter="turns", load=1, mul=7, div=4, div_bit=1, loop_exit=6, csr=2, cache_bytes=16384, cache_ways=4),
}
# What a set of costs need not name: classes of instructions that cost no more than others, data as the plugin gets it, reads of a line that merge, harts of a cluster,
# caches, where memory lies in them, entries of a store buffer.
CLASSES = ("load", "store", "mul", "div", "branch", "csr")
USUAL = dict(data="free", reads="queue", busy="occupancy", lr="read", clean=0, dispatch=0, arbiter="arrival", loop_exit=0, pause_multiple=0, div_bit=0, l2=20, l2_bytes=0, l2_ways=8,
             cluster=0, cache_bytes=0, cache_ways=8, layout=0, store_buffer=0, **dict.fromkeys(CLASSES, 0))
NEVER = float("inf")
ORDERED_HYPERCALLS = {0x100: "sync", 0x102: "wait", 0x103: "wake", 0x109: "take"}
AMO = {
    "amoswap": lambda old, v: v, "amoadd": lambda old, v: old + v, "amoor": lambda old, v: old | v,
    "amoand": lambda old, v: old & v, "amoxor": lambda old, v: old ^ v, "amomaxu": max, "amominu": min,
    "amomax": lambda old, v: max(signed(old), signed(v)), "amomin": lambda old, v: min(signed(old), signed(v)),
}


class Line:
    def __init__(self):
        self.holders, self.watchers, self.busy, self.dirty = set(), set(), 0, False
        self.accesses = self.transfers = self.queue_cycles = self.parks = self.wakes = self.data_transfers = 0


def moved(number, layout):
    """By how many lines the 512 bytes of a line are moved, with a seed: splitmix64 after so many draws."""
    z = layout + (number - (RAM >> 6) >> 3) * 0x9e3779b97f4a7c15 & MASK
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
    z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
    return z ^ z >> 31 if layout else 0


class Ways:
    """A cache: by set the line numbers of its ways, and the way that gives way next."""

    def __init__(self):
        self.sets, self.hand = {}, {}

    def find(self, number, size, ways, layout, used):
        """(the ways of its set, the one for a line): the way it was in, else the first unused one, else that of the set's hand."""
        index = (number + moved(number, layout)) % (size // 64 // ways)
        held = self.sets.setdefault(index, [None] * ways)
        if number in held:
            return held, held.index(number)
        way = next((w for w in range(ways) if not used(held[w])), None)
        if way is None:
            way = self.hand.get(index, 0)
            self.hand[index] = (way + 1) % ways
        return held, way


class Hart:
    def __init__(self, number, entry, device_tree):
        self.number, self.pc, self.x = number, entry, [0] * 32
        self.x[10], self.x[11] = number, device_tree
        self.n = 0              # instructions
        self.offset = 0         # clock = n * insn + offset, unless frozen
        self.frozen, self.frozen_at = 0, 0
        self.frozen_from, self.skipped = 0, 0  # instructions at the freeze; inside freezes
        self.stays = False      # until the next freeze: plain accesses are no sync points
        self.line = None        # reserved
        self.pair = None        # address, size and value of the LR that an SC may follow
        self.parked = 0         # number of the park, 0 = not parked
        self.parks = 0
        self.park = None        # kind of wait: wrs.nto, wrs.sto, wait or take
        self.deadline = NEVER
        self.wake_at = None     # a remembered wake
        self.cache = Ways()
        self.fetched = dict(near=0, far=0, memory=0, l2=0, cycles=0)  # by plain accesses
        self.stores = []        # when each store that left through the buffer is done, oldest first
        self.buffered = dict(stores=0, waited=0)


class Model:
    def __init__(self, elf, harts, ram, costs, mhz=1000):
        """ram: bytearray with image, device tree and parameters, as a loader leaves it."""
        self.cost, self.mhz = {**USUAL, **costs}, mhz
        self.ram = ram
        self.views = {n: memoryview(ram).cast(c) for n, c in ((1, "B"), (2, "H"), (4, "I"), (-4, "i"), (8, "Q"))}
        moves = self.cost["data"] == "moves"
        self.code = Code(elf, self.views, not moves, self.load_data if moves else self.load, self.store_data if moves else self.store, self.csr,
                         {name: self.cost[name] for name in (*CLASSES, "div_bit", "loop_exit")}, self.cost["data"] == "ordered")
        self.shared = Ways()
        self.next_transfer = 0  # begins then or later
        self.waiting, self.last_in_turn = {}, 0  # hart → the line that it waits for; hart of the
                                                 # last transfer
        self.lines, self.events, self.ended = {}, [], False
        self.order = []         # (clock, hart, kind, pc) of every sync point outside freezes
        self.parks = self.wakes = 0
        tree = find_device_tree(ram)
        self.harts = [Hart(i, RAM, tree) for i in range(harts)]
        for h in self.harts:
            self.poke(SLOTS + 64 * h.number, 0x315F4B434F4C4356)

    # Memory
    def load(self, address, size):
        n = abs(size)
        if address < RAM:
            v = self.device(address, n)
        elif address % n == 0:
            v = self.views[n][(address - RAM) // n]
        else:
            v = int.from_bytes(self.ram[address - RAM:address - RAM + n], "little")
        return v if size > 0 or not v >> (8 * n - 1) else (v - (1 << 8 * n)) & MASK

    def store(self, address, n, value):
        if address >= RAM:
            offset = address - RAM
            self.ram[offset:offset + n] = (value & ((1 << 8 * n) - 1)).to_bytes(n, "little")

    def load_data(self, address, size):
        self.touch(address, abs(size), False)
        return self.load(address, size)

    def store_data(self, address, n, value):
        self.touch(address, n, True)
        self.store(address, n, value)

    def poke(self, address, value):
        self.views[8][(address - RAM) // 8] = value & MASK

    def peek(self, address):
        return self.views[8][(address - RAM) // 8]

    def device(self, address, n):
        """Just enough devices for boot: an idle UART, and a PCI bus with nothing but QEMU's host bridge."""
        if UART <= address < UART + 0x100:
            return 0x60
        if ECAM <= address < ECAM_END:
            return {0: 0x00081B36, 8: 0x06000000}.get(address - ECAM, 0) if address - ECAM < 4096 else (1 << 8 * n) - 1
        return 0

    def csr(self, h, name):
        return h.number if name == "mhartid" else 0

    def argument(self, h, which):
        return self.peek(SLOTS + 64 * h.number + 16 + 8 * which)

    # Clock
    def clock(self, h):
        return h.frozen_at if h.frozen else h.n * self.cost["insn"] + h.offset

    def charge(self, h, cycles):
        if not h.frozen:
            h.offset += cycles

    def advance_to(self, h, cycles):
        late = cycles - self.clock(h)
        if late > 0:
            h.offset += late
            h.frozen_at += late

    def counted(self, h):
        return (h.frozen_from if h.frozen else h.n) - h.skipped

    def deadline_of(self, h):
        """slot.arg0 in cycles, rounded up."""
        cycles = -(-self.argument(h, 0) * self.mhz // 1000)
        return cycles if cycles < 1 << 57 else NEVER

    # Running: an event is (clock, hart, what), and what is a function of the hart, or the number of a park that ends by deadline
    def turn(self, h, what):
        self.count += 1
        heapq.heappush(self.events, (self.clock(h), h.number, self.count, what))

    def run(self):
        self.count = 0
        for h in self.harts:
            self.turn(h, self.advance)
        while self.events and not self.ended:
            time, number, _, what = heapq.heappop(self.events)
            h = self.harts[number]
            if callable(what):
                what(h)
            elif h.parked == what:
                self.end_park(h, time)(h)

    def advance(self, h):
        """Plain code up to the next event, which is put on the heap."""
        blocks, insns, x, pc, self.running = self.code.blocks, self.code.insns, h.x, h.pc, h
        while True:
            if pc in blocks:
                pc = blocks[pc](h, x)
            elif pc in insns:
                h.pc = pc
                h.n += 1
                if not self.reach(h, insns[pc]):
                    return
                pc = h.pc
            else:
                self.code.make(pc)

    def reach(self, h, i):
        """A synchronising instruction: True if it needs no order and the hart goes on at once."""
        imm = i.raw >> 20
        if i.name == "wfi":
            return False
        if i.plain:
            return self.plain(h, i)
        if i.name in ("wrs.nto", "wrs.sto"):
            return self.wait_reservation(h, i)
        if i.name == "pause":
            self.pause(h)
        elif i.raw & 0xFFFFF == 0x02013 and imm not in ORDERED_HYPERCALLS:
            h.pc = i.next
            return self.hypercall(h, imm)
        self.turn(h, lambda h: self.perform(h, i))
        return False

    def perform(self, h, i):
        """The sync point of instruction i has come."""
        m = i.atomic
        hypercall = ORDERED_HYPERCALLS.get(i.raw >> 20, "")
        self.record(h, m[1] if m and m[1] in ("lr", "sc") else "amo" if m else i.name if i.raw in SYNC_WORDS else hypercall, i.pc)
        h.pc = i.next
        if m:
            self.come_to_atomic(h, i, m)
            return
        if hypercall == "wait" and not self.wait_for_wake(h):
            return
        if hypercall == "wake":
            self.wake(h)
        elif hypercall == "take" and not self.look(h):
            return
        self.advance(h)

    def record(self, h, kind, pc):
        if not h.frozen:
            self.order.append((self.clock(h), h.number, kind, pc))

    def hypercall(self, h, imm):
        if imm == 0x101:
            self.poke(SLOTS + 64 * h.number + 8, self.clock(h) * 1000 // self.mhz)
        elif imm == 0x104:
            if not h.frozen:
                h.frozen_at, h.frozen_from, h.stays = self.clock(h), h.n, False
            h.frozen += 1
        elif imm == 0x105:
            h.frozen -= 1
            if not h.frozen:
                h.offset = h.frozen_at - h.n * self.cost["insn"]
                h.skipped += h.n - h.frozen_from
        elif imm == 0x107:
            self.advance_to(h, self.clock(h) + (self.argument(h, 0) * self.mhz + 500) // 1000)
        elif imm == 0x130:
            h.stays = True
        elif imm == 0x1FF:
            self.ended = True
            return False
        elif imm != 0x10A:  # WINDOW says where files are seen: nothing to the clock
            raise NotImplementedError(f"hypercall {imm:#x}")
        return True

    # Waiting
    def pause(self, h):
        self.charge(h, self.cost["pause"])
        if self.cost["pause_multiple"]:
            self.charge(h, -self.clock(h) % self.cost["pause_multiple"])

    def start_park(self, h, kind, deadline, then):
        self.parks += not h.frozen
        h.parks += 1
        h.parked, h.park, h.deadline, h.then = h.parks, kind, deadline, then
        if deadline != NEVER:
            self.count += 1
            heapq.heappush(self.events, (deadline, h.number, self.count, h.parked))

    def end_park(self, h, time):
        h.parked, h.park = 0, None
        self.advance_to(h, time)
        return h.then

    def wait_reservation(self, h, i):
        """WRS: parks while the reservation holds; True if the hart goes on."""
        h.pair, line = None, h.line
        if line is None:
            self.pause(h)
            self.turn(h, lambda h: self.perform(h, i))
            return False
        h.pc = i.next
        deadline = self.deadline_of(h) if i.name == "wrs.sto" else NEVER
        if deadline <= self.clock(h):
            h.line = None
            return True
        line.parks += not h.frozen

        def then(h):
            h.line = None
            self.advance(h)
        self.start_park(h, i.name, deadline, then)
        return False

    def wait_for_wake(self, h):
        """HZ_VC_WAIT; True if the hart goes on."""
        deadline = self.deadline_of(h)
        if h.wake_at is not None and h.wake_at <= deadline:
            self.advance_to(h, h.wake_at)
            h.wake_at = None
            return True
        if deadline <= self.clock(h):
            return True
        self.start_park(h, "wait", deadline, self.advance)
        return False

    def wake(self, h):
        """HZ_VC_WAKE takes effect after `ipi`: by the deadline it ends the wait, later it is remembered, one at most."""
        target = self.argument(h, 0)
        if target >= len(self.harts):
            return
        self.wakes += not h.frozen
        other, at = self.harts[target], self.clock(h) + self.cost["ipi"]
        if other.park == "wait" and at <= other.deadline:
            self.turn(other, self.end_park(other, at))
        elif other.wake_at is None:
            other.wake_at = at

    def look(self, h):
        """HZ_VC_TAKE finds something, or its time is over: True if the hart goes on."""
        word, deadline = self.argument(h, 1), self.deadline_of(h)
        self.access(h, word, False)
        if self.peek(word) or deadline <= self.clock(h):
            self.take(h, word)
            return True
        h.line.parks += not h.frozen

        def then(h):
            self.take(h, word)
            self.advance(h)
        self.start_park(h, "take", deadline, then)
        return False

    def take(self, h, word):
        value = self.peek(word)
        h.line = None
        self.poke(SLOTS + 64 * h.number + 24, value)
        if value:
            self.poke(word, 0)
            self.access(h, word, True)

    # Turns
    def come_to_atomic(self, h, i, m):
        def then(h):
            self.atomic(h, i, m)
            self.advance(h)
        if self.cost["arbiter"] != "turns" or h.frozen or self.is_release(i) and m[1] not in ("lr", "sc") and self.cost["store_buffer"]:
            then(h)
            return
        line = self.lines.setdefault(self.address_of(h, i) >> 6, Line())

        def wanted():
            return m[1] != "sc" or h.line is line
        self.drained(h)
        self.turn(h, lambda h: self.take_turn(h, line, m[1] != "lr" or self.cost["lr"] == "write", wanted, then))

    def take_turn(self, h, line, alone, wanted, then):
        """An access that needs a transfer waits in the hub."""
        if self.cost["arbiter"] != "turns" or h.frozen or not wanted() or self.has(h, line, alone):
            then(h)
            return
        self.waiting[h.number] = line
        self.look_at_hub(h, line, wanted, then)

    def look_at_hub(self, h, line, wanted, then):
        cycles = self.until_next_look(h) if wanted() else 0
        if cycles:
            line.queue_cycles += cycles
            h.offset += cycles
            self.turn(h, lambda h: self.look_at_hub(h, line, wanted, then))
            return
        del self.waiting[h.number]
        if wanted():
            self.last_in_turn = h.number
        then(h)

    def until_next_look(self, h):
        first = max(self.waiting, key=lambda number: (number < self.last_in_turn, number))
        late = max(self.waiting[first].busy, self.next_transfer) - self.clock(h)
        return late if late > 0 else 0 if first == h.number else self.cost["dispatch"]

    # Lines
    def address_of(self, h, i):
        o = i.operands
        return h.x[place(o[-1])[1]] if "(" in o[-1] else h.x[reg(o[-1])]

    def is_release(self, i):
        return i.raw >> 25 & 3 == 1 and not reg(i.operands[0])

    def atomic(self, h, i, m):
        kind, n = m[1], 8 if m[2] == "d" else 4
        o, x = i.operands, h.x
        address = self.address_of(h, i)
        old = self.load(address, n if n == 8 else -n)
        if kind == "lr":
            result = old
            h.pair = (address, n, old)
            self.access(h, address, False)
        elif kind == "sc":
            good = h.line is not None and h.pair == (address, n, old)
            h.line = h.pair = None
            if good:
                self.store(address, n, x[reg(o[1])])
                self.access(h, address, True)
            result = int(not good)
        else:
            operand = x[reg(o[1])]
            value = AMO[kind](old, operand if n == 8 else word(operand) & MASK)
            self.store(address, n, value)
            self.access(h, address, True, self.is_release(i))
            result = old
        d = reg(o[0])
        if d:
            x[d] = result & MASK

    def access(self, h, address, write, release=False):
        line = self.lines.setdefault(address >> 6, Line())
        end = self.clock(h)
        if not h.frozen:
            line.accesses += 1
            late = release and self.cost["store_buffer"] > 0
            begin = self.room(h) if late else self.drained(h)
            alone = write or self.cost["lr"] == "write"
            if self.has(h, line, alone):
                end = begin + self.cost["local"]
            else:
                line.transfers += 1
                end = self.transferred(h, line, address >> 6, alone, begin, self.cost["local"])[0]
            line.dirty |= write
            if late:
                h.stores.append(end)
                h.buffered["stores"] += 1
                h.offset += self.cost["local"]
            else:
                h.offset += end - begin
        if write:
            self.break_reservations(h, line, end)
        else:
            h.line = line
            line.watchers.add(h.number)

    def transferred(self, h, line, number, alone, now, work):
        """End of the access, which takes `work`, for a line requested at `now`; and the origin of
        the line."""
        begin = max(line.busy, now)
        if self.cost["dispatch"]:
            begin = max(begin, self.next_transfer)
            self.next_transfer = begin + self.cost["dispatch"]
        line.queue_cycles += begin - now
        source = self.fetch(h, line, number, alone)
        until = self.cost["busy"] == "access"
        end = begin + self.cost[source] + (work if until else 0)
        if alone or self.cost["reads"] == "queue":
            line.busy = end if until else begin + self.cost["occupancy"]
        return end, source

    # Store buffer
    def wait_for_stores(self, h, cycles):
        late = max(0, cycles - self.clock(h))
        h.buffered["waited"] += late
        h.offset += late

    def drained(self, h):
        """All stores are done; returns the time."""
        self.wait_for_stores(h, max(h.stores, default=0))
        h.stores = []
        return self.clock(h)

    def room(self, h):
        """An entry is free; returns when the store in it may ask for its line."""
        h.stores = [end for end in h.stores if end > self.clock(h)]
        if len(h.stores) == self.cost["store_buffer"]:
            self.wait_for_stores(h, h.stores[0])
            h.stores = [end for end in h.stores if end > self.clock(h)]
        return h.stores[-1] if h.stores else self.clock(h)

    def has(self, h, line, write):
        return line.holders == {h.number} if write else h.number in line.holders

    def fetch(self, h, line, number, alone):
        """The line comes to h, and to no other if it needs it alone; which cost that is."""
        def near(other):
            return not self.cost["cluster"] or other // self.cost["cluster"] == h.number // self.cost["cluster"]
        others = line.holders - {h.number}
        in_ram = 0 <= number - (RAM >> 6) < len(self.ram) >> 6
        if others:
            source = "remote" if (all if alone else any)(near(o) for o in others) else "far"
            if source == "remote" and self.cost["clean"] and not line.dirty:
                source = "clean"
        else:
            source = "l2" if self.cost["l2_bytes"] and in_ram and self.shared_has(number) else "memory"
        if h.number not in line.holders and self.cost["cache_bytes"] and in_ram:
            self.make_room(h, number)
        line.holders, line.dirty = {h.number} if alone else line.holders | {h.number}, False
        return source

    def shared_has(self, number):
        """The shared cache has the line; else it does from now on."""
        held, way = self.shared.find(number, self.cost["l2_bytes"], self.cost["l2_ways"], self.cost["layout"], lambda other: other is not None)
        had, held[way] = held[way] == number, number
        return had

    def make_room(self, h, number):
        def used(other):
            return other is not None and h.number in self.lines[other].holders
        held, way = h.cache.find(number, self.cost["cache_bytes"], self.cost["cache_ways"], self.cost["layout"], used)
        if used(held[way]):
            self.lines[held[way]].holders.discard(h.number)
        held[way] = number

    # Plain accesses
    def lines_of(self, h, address, n):
        """Numbers of the lines with counted state, the lower one first."""
        return [number for number in sorted({address >> 6, address + n - 1 >> 6}) if not h.frozen and 0 <= number - (RAM >> 6) < len(self.ram) >> 6]

    def fetched(self, h, line, source, cycles):
        h.offset += cycles
        h.fetched["near" if source in ("remote", "clean") else source] += 1
        h.fetched["cycles"] += cycles
        line.data_transfers += 1

    def fetches(self, h):
        """As the report has them."""
        return {key: n for key, n in h.fetched.items() if key != "l2" or self.cost["l2_bytes"]}

    def touch(self, address, n, write):
        """With data=moves."""
        h = self.running
        for number in self.lines_of(h, address, n):
            line = self.lines.get(number) or self.lines.setdefault(number, Line())
            if not self.has(h, line, write):
                source = self.fetch(h, line, number, write)
                self.fetched(h, line, source, self.cost[source])
            line.dirty |= write

    def plain(self, h, i):
        """With data=ordered. Its value moves now; True if the hart goes on at once."""
        name, operands = expand(i)
        offset, base = place(operands[1])
        address, register, size = h.x[base] + offset & MASK, reg(operands[0]), LOADS.get(name) or STORES[name]
        if name in LOADS:
            value = self.load(address, size)
            if register:
                h.x[register] = value
        else:
            self.store(address, size, h.x[register])
        h.pc = i.next
        h.offset += self.cost["load" if name in LOADS else "store"]
        return self.fetch_in_turn(h, i.pc, self.lines_of(h, address, abs(size)), name in STORES)

    def fetch_in_turn(self, h, pc, numbers, write):
        """True if none of the lines must be fetched."""
        for at, number in enumerate(numbers):
            line = self.lines.get(number) or self.lines.setdefault(number, Line())
            if self.has(h, line, write):
                line.dirty |= write
            elif h.stays:
                self.fetch_line(h, number, line, write)
            else:
                self.turn(h, self.turn_to_fetch(pc, number, line, numbers[at + 1:], write))
                return False
        return True

    def fetch_line(self, h, number, line, write):
        now = self.clock(h)
        if not self.has(h, line, write):
            end, source = self.transferred(h, line, number, write, now, 0)
            self.fetched(h, line, source, end - now)
        line.dirty |= write
        if write:
            self.break_reservations(h, line, self.clock(h))

    def turn_to_fetch(self, pc, number, line, others, write):
        """What happens when the turn has come: fetch this line, then the others."""
        def begin_and_go_on(h):
            self.fetch_line(h, number, line, write)
            if self.fetch_in_turn(h, pc, others, write):
                self.advance(h)

        def turn_has_come(h):
            self.record(h, "data", pc)
            self.take_turn(h, line, write, lambda: True, begin_and_go_on)
        return turn_has_come

    def break_reservations(self, h, line, end):
        for number in sorted(line.watchers - {h.number}):
            w = self.harts[number]
            if w.line is not line:
                continue
            w.line = None
            if w.parked and w.park != "wait":
                line.wakes += not w.frozen
                self.turn(w, self.end_park(w, end + self.cost["wake"]))
        line.watchers &= {h.number}


def find_device_tree(ram):
    """QEMU puts the tree at a multiple of 2 MiB near the end of RAM."""
    for offset in range(len(ram) - (2 << 20), 0, -(2 << 20)):
        if ram[offset:offset + 4] == b"\xd0\x0d\xfe\xed":
            return RAM + offset
    return 0


def load_elf(elf, ram):
    """Copies the loadable segments to their physical addresses."""
    with open(elf, "rb") as f:
        image = f.read()
    phoff, = struct.unpack_from("<Q", image, 32)
    phentsize, phnum = struct.unpack_from("<HH", image, 54)
    for p in range(phnum):
        kind, _, offset, _, paddr, filesz, memsz, _ = struct.unpack_from("<IIQQQQQQ", image, phoff + p * phentsize)
        if kind == 1:
            start = paddr - RAM
            ram[start:start + memsz] = image[offset:offset + filesz] + bytes(memsz - filesz)
