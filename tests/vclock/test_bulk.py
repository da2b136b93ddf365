"""Bulk work: copies, fills and sums by the plugin for a hart with a frozen clock, and work left to
the hart."""
# SPDX-License-Identifier: BSD-3-Clause
import random
import struct

from probe_image import JOBS
from suite import ProbeCase, main

COPY, FILL, LANES = 0x10b, 0x10c, 0x10d
DATA, BYTES = 0x80400000, 1 << 16
RAM_END = 0x80000000 + (64 << 20)


def lanes(start, data):
    """hz_lanes_mix of protocol/lanes.h."""
    state = list(start)
    for i, (word,) in enumerate(struct.iter_unpack("<Q", data)):
        mixed = (state[i % 4] ^ word) * 0x9e3779b97f4a7c15 & (1 << 64) - 1
        state[i % 4] = (mixed << 29 | mixed >> 35) & (1 << 64) - 1
    return state


class Bulk(ProbeCase):
    def setUp(self):
        self.memory = bytearray(random.Random(7).randbytes(BYTES))

    def outcome(self, jobs, **more):
        """The rest of each job's bytes, each one's time, and the memory behind it."""
        with self.probe("bulk", 1, rounds=len(jobs), **more) as m:
            m.write(JOBS, b"".join(struct.pack("<5Q", *job) for job in jobs))
            m.write(DATA, bytes(self.memory))
            self.assertEqual(m.run(), 0, m.output)
            log = m.log(512)
            self.bulk_bytes = m.report()["host"]["bulk_bytes"]
            return log[:len(jobs)], log[256:256 + len(jobs)], m.read(DATA, BYTES)

    def test_work_is_done_to_the_byte(self):
        start = struct.unpack_from("<4Q", self.memory, 64)
        jobs = [(COPY, 1, DATA + 4099, DATA + 8193, 301), (FILL, 1, DATA + 20001, 0x1a5, 77), (COPY, 1, DATA, DATA + 9000, 0),
                (LANES, 1, DATA + 64, DATA + 32768, 4096), (COPY, 1, DATA + 40000, DATA, 4096)]
        left, _, after = self.outcome(jobs)
        self.memory[4099:4400] = self.memory[8193:8494]
        self.memory[20001:20078] = bytes([0xa5]) * 77
        struct.pack_into("<4Q", self.memory, 64, *lanes(start, self.memory[32768:36864]))
        self.memory[40000:44096] = self.memory[:4096]
        self.assertEqual(left, (0,) * 5)
        self.assertEqual(after, bytes(self.memory))
        self.assertEqual(self.bulk_bytes, 301 + 77 + 4096 + 4096)

    def test_it_takes_no_time(self):
        _, times, _ = self.outcome([(COPY, 1, DATA, DATA + 32768, 1 << n) for n in range(16)])
        self.assertEqual(len(set(times[1:])), 1, times)

    def test_what_is_left_to_the_hart(self):
        refused = [(COPY, 1, DATA, RAM_END - 100, 101), (COPY, 1, RAM_END - 100, DATA, 101), (COPY, 1, 0x1000, DATA, 8),
                   (COPY, 1, DATA, 1 << 63, 8), (COPY, 1, DATA, DATA + 4096, (1 << 64) - 1), (FILL, 1, RAM_END, 0, 1),
                   (FILL, 1, DATA, 0, 1 << 40), (LANES, 1, DATA + 4, DATA + 4096, 4096), (LANES, 1, DATA, DATA + 4097, 4096),
                   (LANES, 1, DATA, DATA + 4096, 4095), (LANES, 1, RAM_END - 24, DATA, 4096), (LANES, 1, DATA, RAM_END - 32, 64)]
        running = [(COPY, 0, DATA, DATA + 4096, 512), (FILL, 0, DATA, 0, 512), (LANES, 0, DATA, DATA + 4096, 4096)]
        left, _, after = self.outcome(refused + running)
        self.assertEqual(left, tuple(job[4] for job in refused + running))
        self.assertEqual((after, self.bulk_bytes), (bytes(self.memory), 0))

    def test_a_race_check_sees_each_access(self):
        jobs = [(COPY, 1, DATA, DATA + 4096, 512), (FILL, 1, DATA, 0, 512), (LANES, 1, DATA, DATA + 4096, 4096)]
        left, _, after = self.outcome(jobs, options=["race-check=on"])
        self.assertEqual((left, after), ((512, 512, 4096), bytes(self.memory)))


if __name__ == "__main__":
    main()
