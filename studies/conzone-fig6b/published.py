"""A model of how ConZone's published code writes: who may fill a buffer when, and when dies and channels are free. No firmware, no map.

Its rules, of the revision of its repository that has the paper's cache of 12 KiB (zns_read_write.c, ssd.c):
1. A buffer is written out when it is full, or when a write to another zone finds data in it.
2. All programs of that begin at once; the buffer's memory comes back with the last of them, all at once.
3. Until then the zone that has the buffer may go on filling what is left of it. Later revisions do not have this rule.
4. A dispatcher goes round the queues and tries the first command of each; one that cannot be served is tried again next time.
Times are those of its configuration (ssd_config.h), in us. How long the dispatcher needs for a round is not published: POLL is assumed."""
# SPDX-License-Identifier: BSD-3-Clause

POLL, PER_WRITE, PER_SECTOR = 1, 5.6, 0.6
SLC_PROGRAM, SLC_READ, TLC_PROGRAM = 75, 20, 937.5
CHANNELS, DIES, CHANNEL, LINK = 2, 4, 1600, 3000 # MB/s, which are bytes per us
UNIT, BUFFER, WRITE, SECTOR = 24, 96, 12, 4096 # sectors of a program unit, a buffer, a write; bytes
WRITE_US = PER_WRITE + PER_SECTOR * WRITE


class Flash:
    def __init__(self):
        self.die, self.channel = [0.0] * DIES, [0.0] * CHANNELS

    def transfer(self, die, begin, sectors):
        channel = die % CHANNELS
        self.channel[channel] = max(self.channel[channel], begin) + sectors * SECTOR / CHANNEL
        return self.channel[channel]

    def program(self, die, begin, sectors, us):
        self.die[die] = self.transfer(die, max(self.die[die], begin), sectors) + us
        return self.die[die]

    def read(self, die, begin, us):
        self.die[die] = self.transfer(die, max(self.die[die], begin) + us, 1)
        return self.die[die]


class Buffer:
    def __init__(self):
        self.zone, self.data, self.free, self.writing_out = None, 0, BUFFER, [] # writing_out: (until when, sectors)


class Device:
    def __init__(self, goes_on, write_us):
        self.goes_on, self.write_us, self.flash, self.buffers, self.link = goes_on, write_us, Flash(), [Buffer(), Buffer()], 0.0
        self.written, self.staged, self.slc_next, self.programmed = {}, {}, 0, 0 # sectors of a zone on flash; dies of its
                                                                                 # staged sectors

    def stage(self, zone, begin, sectors):
        ends = []
        for _ in range(sectors):
            die, self.slc_next = self.slc_next, (self.slc_next + 1) % DIES
            self.staged.setdefault(zone, []).append(die)
            ends.append(self.flash.program(die, begin, 1, SLC_PROGRAM))
        return max(ends)

    def fold(self, zone, begin, unit):
        copies = self.staged.pop(zone, [])
        self.programmed += len(copies)
        begin = max([begin, *(self.flash.read(die, begin, SLC_READ) for die in copies)])
        return self.flash.program(unit % DIES, begin, UNIT, TLC_PROGRAM)

    def write_out(self, buffer, now):
        at, end = self.written.get(buffer.zone, 0), now
        stop = at + buffer.data
        while at < stop:
            part = min(stop - at, UNIT - at % UNIT)
            whole = (at + part) % UNIT == 0
            end = max(end, self.fold(buffer.zone, now, at // UNIT) if whole else self.stage(buffer.zone, now, part))
            at += part
        self.programmed += buffer.data
        self.written[buffer.zone] = stop
        buffer.writing_out.append((end, buffer.data))
        buffer.data = 0

    def give_back(self, now):
        for buffer in self.buffers:
            buffer.free += sum(sectors for end, sectors in buffer.writing_out if end <= now)
            buffer.writing_out = [one for one in buffer.writing_out if one[0] > now]

    def attempt(self, zone, now):
        """When the write ends; None: it must be tried again."""
        buffer = self.buffers[zone % len(self.buffers)]
        if buffer.zone != zone and buffer.free < BUFFER:
            if not buffer.writing_out:
                self.write_out(buffer, now)
            return None
        if buffer.free < WRITE or (buffer.writing_out and not self.goes_on):
            return None
        buffer.zone, buffer.free, buffer.data = zone, buffer.free - WRITE, buffer.data + WRITE
        self.link = max(self.link, now + self.write_us) + WRITE * SECTOR / LINK
        if buffer.data == BUFFER:
            self.write_out(buffer, self.link)
        return self.link


def two_writers(zones, mib, turnaround_us, goes_on, write_us=WRITE_US):
    """(MiB/s, write amplification) of two clients that fill a zone each."""
    device, now, last = Device(goes_on, write_us), 0.0, 0.0
    left, ready = [mib * 2 ** 20 // (WRITE * SECTOR)] * 2, [0.0, 0.0]
    total = sum(left)
    while any(left):
        device.give_back(now)
        for client, zone in enumerate(zones):
            end = device.attempt(zone, now) if left[client] and ready[client] <= now else None
            if end is not None:
                left[client], ready[client], last = left[client] - 1, end + turnaround_us, max(last, end)
        now += POLL
    for buffer in device.buffers: # the rest is programmed once, too
        device.programmed += buffer.data
    return 2 * mib / (last / 1e6), device.programmed / (total * WRITE)
