"""Independent discrete-event model of harts under the virtual clock, from the rules in docs/virtual-clock.md.

It shares no code with the plugin: instruction counts come from objdump (rv64.py), time from a heap of events. Events
are the synchronising instructions; the event with the smallest (clock, hart) happens next."""
import heapq
import struct

from rv64 import ATOMIC, Code, MASK, place, reg, signed

RAM, SLOTS = 0x80000000, 0x80200000
UART, ECAM, ECAM_END = 0x10000000, 0x30000000, 0x40000000
COSTS = {
    "default": dict(insn=1, local=2, remote=40, occupancy=20, wake=0, pause=10),
    "ideal": dict(insn=1, local=0, remote=0, occupancy=0, wake=0, pause=10),
}
PERFORM, GO_ON = 0, -1  # what an event is; positive numbers are deadlines of a park
AMO = {
    "amoswap": lambda old, v: v, "amoadd": lambda old, v: old + v, "amoor": lambda old, v: old | v,
    "amoand": lambda old, v: old & v, "amoxor": lambda old, v: old ^ v, "amomaxu": max, "amominu": min,
    "amomax": lambda old, v: max(signed(old), signed(v)), "amomin": lambda old, v: min(signed(old), signed(v)),
}


class Line:
    def __init__(self):
        self.holders, self.watchers, self.busy = set(), set(), 0


class Hart:
    def __init__(self, number, entry, device_tree):
        self.number, self.pc, self.x = number, entry, [0] * 32
        self.x[10], self.x[11] = number, device_tree
        self.n = 0              # instructions
        self.offset = 0         # clock = n * insn + offset, unless frozen
        self.frozen, self.frozen_at = 0, 0
        self.line = None        # reserved
        self.reserved_value = None
        self.parked = 0         # number of the park, 0 = not parked
        self.parks = 0


class Model:
    def __init__(self, elf, harts, ram, costs, mhz=1000):
        """ram: bytearray with image, device tree and parameters, as a loader leaves it."""
        self.cost, self.mhz = costs, mhz
        self.ram = ram
        self.views = {n: memoryview(ram).cast(c) for n, c in ((1, "B"), (2, "H"), (4, "I"), (8, "Q"))}
        self.code = Code(elf, self.load, self.store, self.csr)
        self.lines, self.events, self.ended = {}, [], False
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

    # Running
    def advance(self, h):
        """Plain code up to the next event, which is put on the heap."""
        blocks, x = self.code.blocks, h.x
        while True:
            f = blocks.get(h.pc) or self.code.block(h.pc)
            if callable(f):
                h.pc = f(h, x)
            elif not self.inline(h, f):
                return

    def inline(self, h, i):
        """Reaches a synchronising instruction: True if it needs no order and the hart goes on at once."""
        h.n += 1
        imm = i.raw >> 20
        if ATOMIC.match(i.name):
            self.turn(h, PERFORM)
            return False
        h.pc = i.next
        if i.name == "wfi":
            return False
        if i.name in ("wrs.nto", "wrs.sto"):
            return self.wait(h, i.name)
        if i.name == "pause":
            self.charge(h, self.cost["pause"])
        elif imm != 0x100:
            return self.hint(h, imm)
        self.turn(h, GO_ON)
        return False

    def hint(self, h, imm):
        slot = SLOTS + 64 * h.number
        if imm == 0x101:
            self.poke(slot + 8, self.clock(h) * 1000 // self.mhz)
        elif imm == 0x104:
            h.frozen_at = self.clock(h)
            h.frozen += 1
        elif imm == 0x105:
            h.frozen -= 1
            if not h.frozen:
                h.offset = h.frozen_at - h.n * self.cost["insn"]
        elif imm == 0x107:
            self.advance_to(h, self.clock(h) + (self.peek(slot + 16) * self.mhz + 500) // 1000)
        elif imm == 0x1FF:
            self.ended = True
            return False
        else:
            raise NotImplementedError(f"hint {imm:#x}")
        return True

    def turn(self, h, what):
        heapq.heappush(self.events, (self.clock(h), h.number, what))

    def wait(self, h, name):
        """WRS: parks while the reservation holds; True if the hart goes on."""
        h.reserved_value = None
        if h.line is None:
            self.charge(h, self.cost["pause"])
            self.turn(h, GO_ON)
            return False
        deadline = 1 << 60
        if name == "wrs.sto":
            deadline = -(-self.peek(SLOTS + 64 * h.number + 16) * self.mhz // 1000)
        if deadline <= self.clock(h):
            h.line = None
            return True
        h.parks += 1
        h.parked = h.parks
        if deadline < 1 << 57:
            heapq.heappush(self.events, (deadline, h.number, h.parked))
        return False

    def run(self):
        for h in self.harts:
            self.turn(h, GO_ON)
        while self.events and not self.ended:
            time, number, what = heapq.heappop(self.events)
            h = self.harts[number]
            if what > 0: # a deadline, perhaps of a park that ended earlier
                if h.parked != what:
                    continue
                h.parked, h.line = 0, None
                self.advance_to(h, time)
            elif what == PERFORM:
                i = self.code.insns[h.pc]
                self.atomic(h, i)
                h.pc = i.next
            self.advance(h)

    def atomic(self, h, i):
        m = ATOMIC.match(i.name)
        kind, n = m[1], 8 if m[2] == "d" else 4
        o, x = i.operands, h.x
        address = (x[place(o[-1])[1]] if "(" in o[-1] else x[reg(o[-1])])
        old = self.load(address, n if n == 8 else -n)
        if kind == "lr":
            result = old
            h.reserved_value = (address, old)
            self.access(h, address, False)
        elif kind == "sc":
            good = h.reserved_value == (address, old)
            touched = h.reserved_value is not None and h.reserved_value[0] == address
            h.line = h.reserved_value = None
            if good:
                self.store(address, n, x[reg(o[1])])
            if touched:
                self.access(h, address, True)
            result = int(not good)
        else:
            value = AMO[kind](old, x[reg(o[1])])
            self.store(address, n, value)
            self.access(h, address, True)
            result = old
        d = reg(o[0])
        if d:
            x[d] = result & MASK

    def access(self, h, address, write):
        line = self.lines.setdefault(address >> 6, Line())
        if not h.frozen:
            if (line.holders == {h.number}) if write else (h.number in line.holders):
                h.offset += self.cost["local"]
            else:
                begin = max(line.busy, self.clock(h))
                line.busy = begin + self.cost["occupancy"]
                h.offset += begin - self.clock(h) + self.cost["remote"]
            line.holders = {h.number} if write else line.holders | {h.number}
        if write:
            self.break_reservations(h, line)
        else:
            h.line = line
            line.watchers.add(h.number)

    def break_reservations(self, h, line):
        for number in sorted(line.watchers - {h.number}):
            w = self.harts[number]
            if w.line is not line:
                continue
            w.line = None
            if w.parked:
                w.parked = 0
                self.advance_to(w, self.clock(h) + self.cost["wake"])
                self.turn(w, GO_ON)
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
