"""Kinds of lock as sequences of accesses to lines, with the costs of the virtual clock (docs/virtual-clock.md, "Cost model").

Each verb is a generator that yields at an order point: it goes on when no hart has a smaller clock, or, after wait(), when another hart has
written the line. take() says whether it waited. Instructions between accesses are about as many as libthread/locks has."""
# SPDX-License-Identifier: BSD-3-Clause
import random

WAIT = object()

# Of the virtual clock's rules, key → values, those that are here.
KNOWN = {"store_buffer": (0,), "data": ("free", "moves"), "busy": ("occupancy",), "lr": ("read",), "clean": (0,), "dispatch": (0,),
         "pause_multiple": (0,)}


def unknown(parameters):
    """In words, which rule of the run is not; None: all are."""
    return next((f"clock.{key} must be {' or '.join(map(str, values))}: the replay has no other rule" for key, values in KNOWN.items()
                 if parameters[key] not in values), None)


class Line:
    __slots__ = ("holders", "busy", "waiting", "value")

    def __init__(self, value=0):
        self.holders, self.busy, self.waiting, self.value = 0, 0, [], value


class Costs:
    """What accesses cost. resume(hart): it waits no more."""

    def __init__(self, parameters, resume):
        self.local, self.remote, self.occupancy, self.wake, self.pause = (parameters[k] for k in ("local", "remote", "occupancy", "wake", "pause"))
        self.merge = parameters["reads"] == "merge"
        self.resume = resume

    def read(self, h, line):
        if line.holders & h.bit:
            h.clock += self.local
        else:
            begin = max(line.busy, h.clock)
            if not self.merge:
                line.busy = begin + self.occupancy
            h.clock = begin + self.remote
            line.holders |= h.bit
        return line.value

    def write(self, h, line, value):
        if line.holders == h.bit:
            h.clock += self.local
        else:
            begin = max(line.busy, h.clock)
            line.busy = begin + self.occupancy
            h.clock = begin + self.remote
            line.holders = h.bit
        before, line.value = line.value, value
        if line.waiting:
            waiting, line.waiting = line.waiting, []
            for other in waiting:
                other.clock = max(other.clock, h.clock + self.wake)
                self.resume(other)
        return before

    def relax(self, h):
        h.clock += self.pause


class Tas:
    def __init__(self, costs):
        self.costs, self.word = costs, Line()

    def take(self, h):
        yield
        waits = False
        while self.costs.write(h, self.word, 1):
            waits = True
            self.costs.relax(h)
            h.clock += 3
            yield
        return waits

    def give(self, h):
        yield
        self.costs.write(h, self.word, 0)


class Ttas(Tas):
    def until_free(self, h):
        while True:
            yield
            if not self.costs.read(h, self.word):
                return
            h.clock += 2
            self.word.waiting.append(h)
            yield WAIT
            h.clock += 3

    def take(self, h):
        yield
        waits = False
        while self.costs.write(h, self.word, 1):
            waits = True
            yield from self.until_free(h)
            h.clock += 3
            yield
        return waits


class Backoff(Ttas):
    """The dice are not the firmware's."""

    def __init__(self, costs):
        super().__init__(costs)
        self.dice = random.Random(1)

    def take(self, h):
        yield
        if not self.costs.write(h, self.word, 1):
            return False
        window = 4
        while True:
            yield from self.until_free(h)
            h.clock += 3
            yield
            if not self.costs.write(h, self.word, 1):
                return True
            for _ in range(1 + self.dice.randrange(window)):
                self.costs.relax(h)
                h.clock += 3
            window = min(window * 2, 256)


class Ticket:
    def __init__(self, costs):
        self.costs, self.word, self.serving = costs, Line(), Line()

    def take(self, h):
        yield
        mine = self.costs.write(h, self.word, self.word.value + 1)
        h.clock += 2
        yield
        waits = False
        while self.costs.read(h, self.serving) != mine:
            waits = True
            h.clock += 2
            self.serving.waiting.append(h)
            yield WAIT
            h.clock += 3
            yield
        return waits

    def give(self, h):
        yield
        self.costs.write(h, self.serving, self.serving.value + 1)


class Mcs:
    """The waiter's node lies on its stack: a line that is its own until the one before it writes there."""

    class Node:
        def __init__(self, hart):
            self.line, self.next, self.waits = Line(), None, True
            self.line.holders = hart.bit

    def __init__(self, costs):
        self.costs, self.tail, self.holder = costs, Line(None), None

    def until(self, h, node, good):
        while True:
            yield
            self.costs.read(h, node.line)
            if good():
                return
            h.clock += 2
            node.line.waiting.append(h)
            yield WAIT
            h.clock += 3

    def take(self, h):
        mine = self.Node(h)
        yield
        before = self.costs.write(h, self.tail, mine)
        if before:
            h.clock += 4
            yield
            before.next = mine
            self.costs.write(h, before.line, None)
            yield from self.until(h, mine, lambda: not mine.waits)
        self.holder = mine
        return before is not None

    def give(self, h):
        mine = self.holder
        yield
        self.costs.read(h, mine.line)
        if not mine.next:
            h.clock += 3
            yield
            self.costs.read(h, self.tail)
            h.clock += 1
            yield
            if self.tail.value is mine:
                self.costs.write(h, self.tail, None)
                return
            yield from self.until(h, mine, lambda: mine.next)
        yield
        mine.next.waits = False
        self.costs.write(h, mine.next.line, None)


class Clh:
    def __init__(self, costs):
        self.costs, self.tail = costs, Line(Line(0))
        self.holder = None

    def take(self, h):
        mine = h.spare or Line()
        mine.value = 1
        yield
        before = self.costs.write(h, self.tail, mine)
        h.clock += 4
        waits = False
        while True:
            yield
            if not self.costs.read(h, before):
                break
            waits = True
            h.clock += 2
            before.waiting.append(h)
            yield WAIT
            h.clock += 3
        h.spare, self.holder = before, mine
        return waits

    def give(self, h):
        yield
        self.costs.write(h, self.holder, 0)


KINDS = {"tas": Tas, "ttas": Ttas, "backoff": Backoff, "ticket": Ticket, "mcs": Mcs, "clh": Clh}
