"""The lock profile, driven by hypercalls with outcomes computed by hand."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import struct

from probe_image import HERE, JOBS
from suite import ProbeCase, main

CHARGE, TELL, HAD = 0x107, 0x10e, 0x110
PROTOCOL = pathlib.Path(HERE).parents[1] / "protocol"
ABI = (PROTOCOL / "vclock_abi.h").read_text(encoding="utf-8")
EVENTS = re.findall(r"^\tHZ_VC_(\w+),", ABI.split("enum hz_vc_lock_event {")[1].split("};")[0], re.M)
LOGICAL = re.findall(r"^HZ_LOGICAL_LOCK\(\w+, (\w+)", (PROTOCOL / "logical_locks.def").read_text(encoding="utf-8"), re.M)
FETCHED, RUN, LEFT, LINKS, DONE, FLASH_READ, ENDS_READ, ENDS_WRITE = range(0x120, 0x128)
SLACK = 100 # instructions between two hypercalls


def lock(number, index):
    return (number + 1) << 32 | index


def tell(event, what=0, who=0):
    return TELL, 1, EVENTS.index(event), what, who


def passes(ns):
    return CHARGE, 0, ns, 0, 0


class LockProfile(ProbeCase):
    def profile_of(self, jobs, options=("locks=on",)):
        with self.probe("bulk", 1, rounds=len(jobs), options=["preset=ideal", "mhz=1000", *options]) as m:
            m.write(JOBS, b"".join(struct.pack("<5Q", *job) for job in jobs))
            self.assertEqual(m.run(), 0, m.output)
            return m.report()

    def about(self, ns, expected, hypercalls=1):
        self.assertTrue(expected <= ns <= expected + SLACK * hypercalls, f"{ns} is not {expected} and a little")

    def test_logical_locks(self):
        zone, other, one, two = lock(0, 7), lock(6, 3), 0x80001000, 0x80002000
        found = self.profile_of([(HAD, 0, 0, 0, 0), (HAD, 1, 0, 0, 0), (HAD + 6, 0, 0, 0, 0), tell("LOGICAL_ASKED", zone, one), passes(10000),
                           tell("LOGICAL_ASKED", zone, two), passes(30000), tell("LOGICAL_ENDED", 0, one), passes(5000), tell("LOGICAL_ENDED", 0, two),
                           tell("LOGICAL_ENDED", 0, two), tell("LOGICAL_ASKED", other, one)])["locks"]
        of_zone, of_other = found["logical"]
        self.assertEqual([of_zone[key] for key in ("class", "acquisitions", "contended", "depth_max", "depth_mean", "by_hart", "contended_by_hart")],
                         [LOGICAL[0], 2, 2, 1, 0.5, [2], [2]])
        self.assertEqual(of_zone["wait"]["count"], 2, "who does not wait ends no wait")
        self.about(of_zone["wait"]["ns"], 40000 + 35000, 6)
        self.about(of_zone["wait"]["max"], 40000, 3)
        self.assertEqual([of_other[key] for key in ("class", "acquisitions", "contended")], [LOGICAL[6], 1, 1])
        self.assertEqual(of_other["wait"]["count"], 0, "it still waits")
        self.assertEqual([(one["class"], one["index"], one["contended"], one["ended"]) for one in found["logical_locks"]],
                         [(LOGICAL[0], 7, 2, 2), (LOGICAL[6], 3, 1, 0)])
        self.assertEqual(found["logical_locks"][0]["wait_ns"], of_zone["wait"]["ns"])

    def test_it_begins_anew(self):
        zone, one = lock(0, 7), 0x80001000
        found = self.profile_of([(HAD, 0, 0, 0, 0), tell("LOGICAL_ASKED", zone, one), tell("LOCKS_RESET"), passes(20000), tell("LOGICAL_ENDED", 0, one),
                           tell("LOCKS_REPORTED"), (HAD, 0, 0, 0, 0)])["locks"]
        self.assertEqual([(c["acquisitions"], c["contended"], c["wait"]["count"]) for c in found["logical"]], [(0, 0, 1)])
        self.about(found["logical"][0]["wait"]["ns"], 20000, 3)

    def test_tries_that_fail(self):
        slc = lock(4, 0)
        found = self.profile_of([tell("LOCK_GOT", slc), tell("LOCK_REFUSED", slc), tell("LOCK_REFUSED", slc), passes(300), tell("LOCK_GIVEN", slc)])["locks"]
        self.assertEqual([(c["class"], c["refused"], c["hold"]["count"]) for c in found["classes"]], [("slc", 2, 1)])
        self.assertEqual(found["locks"][0]["acquisitions"], 1)

    def test_a_harts_time(self):
        """Charges while it spins are spin; time in a freeze is not counted. The image has no
        stages."""
        slc = lock(4, 0)
        account, = self.profile_of([passes(7000), tell("ACCOUNT_RESET"), passes(1000), tell("LOCK_ASKED", slc), passes(30000), tell("LOCK_WAITED", slc),
                              tell("LOCK_GOT", slc), passes(500), tell("LOCK_GIVEN", slc), tell("ACCOUNT_SHOWN"), passes(90000),
                              tell("LOCKS_REPORTED"), passes(8000)])["locks"]["accounts"]
        self.assertEqual([account[key] for key in ("hart", "charged", "stalls", "idle", "error")], [0, 1500, 0, 0, 0])
        self.assertEqual(list(account["spin"]), ["slc"])
        self.about(account["spin"]["slc"], 30000, 2)
        self.about(account["work"]["other"], 0, 8)
        self.assertGreater(account["work"]["other"], 8)
        self.assertEqual(account["cycles"], 1500 + account["spin"]["slc"] + account["work"]["other"])

    def of_requests(self, jobs):
        """kind → its one request's parts, in µs."""
        found = self.profile_of(jobs)["locks"]["requests"]
        for request in found:
            for part in ("all", "p99", "p999"):
                self.assertEqual((request[part]["count"], request[part]["error"]), (1, 0))
                self.assertEqual(request[part], request["all"])
        self.locks = found[0]["all"]["locks"]
        return {request["kind"]: {part: cycles // 1000 for part, cycles in request["all"].items() if part not in ("lock_classes", "locks") and cycles >= 1000}
                for request in found}

    def of_locks(self):
        """(class, index) → its share of the last request's time, in µs"""
        return {(lock["class"], lock["index"]): {part: lock[part] // 1000 for part in ("spin", "held", "behind", "waits") if lock.get(part, 0) >= 1000}
                for lock in self.locks if lock["share"] > 0.01}

    def test_a_request_s_time(self):
        """Its clock begins at some µs, so the flash's times are far apart: the hart is away from 100 to 1100 µs, or a little later. Its data
        cross the link until 1150 µs, when nobody works at it any more."""
        req = 0x80001000
        jobs = [passes(99000), (FETCHED, 0, req, 0, 0), passes(1000), (LEFT, 0, req, 0, 0), passes(1000000), (FLASH_READ, 1, 300000, 700000, 1000000),
                (RUN, 0, req, 0, 0), passes(2000), (LINKS, 1, 1150000, 0, 0), (ENDS_READ, 0, req, 0, 0)]
        found = self.of_requests(jobs)["read"]
        self.assertEqual([found[part] for part in ("compute", "flash", "channel")], [3, 400, 300])
        self.assertTrue(190 <= found["flash_queue"] <= 200 and 100 <= found["queued"] <= 110 and 38 <= found["link"] <= 48, found)
        self.assertTrue(1041 <= found["cycles"] <= 1051, found)

    def test_data_that_have_crossed_before(self):
        req = 0x80001000
        jobs = [(FETCHED, 0, req, 0, 0), passes(4000), (LINKS, 1, 1, 0, 0), (ENDS_WRITE, 0, req, 0, 0)]
        self.assertEqual(self.of_requests(jobs), {"write": {"cycles": 4, "compute": 4}})

    def test_a_request_that_waits(self):
        req, slc = 0x80001000, lock(4, 0)
        jobs = [(FETCHED, 0, req, 0, 0), tell("LOCK_ASKED", slc), passes(7000), tell("LOCK_WAITED", slc), tell("LOGICAL_ASKED", lock(0, 1), req),
                (LEFT, 0, req, 0, 0), passes(20000), tell("LOGICAL_ENDED", 0, req), passes(3000), (RUN, 0, req, 0, 0), (LEFT, 0, req, 0, 0), passes(30000),
                (DONE, 0, req, 0, 0), passes(4000), (RUN, 0, req, 0, 0), (ENDS_WRITE, 0, req, 0, 0)]
        found = self.of_requests(jobs)
        self.assertEqual(found, {"write": {"cycles": 64, "spin": 7, "logical": 50, "queued": 7}})
        self.assertEqual(self.of_locks(), {("slc", 0): {"spin": 7}, (LOGICAL[0], 1): {"waits": 20}, ("turn", 0): {"waits": 30}})

    def test_locks_on_a_request_s_way(self):
        """Of nested locks the inner one counts; what it holds after the hart has left is no part of it; who queues for a hart is behind
        what that hart waits for, but not what it holds."""
        req, zone, slc, l2p = 0x80001000, lock(0, 3), lock(4, 0), lock(3, 9)
        jobs = [(FETCHED, 0, req, 0, 0), passes(1000), tell("LOCK_GOT", zone), passes(2000), tell("LOCK_GOT", slc), passes(4000),
                tell("LOCK_ASKED", l2p), passes(8000), tell("LOCK_WAITED", l2p), tell("LOCK_GOT", l2p), passes(16000), tell("LOCK_GIVEN", l2p),
                tell("LOCK_GIVEN", slc), passes(32000), (LEFT, 0, req, 0, 0), (DONE, 0, req, 0, 0), passes(64000), tell("LOCK_GIVEN", zone),
                tell("LOCK_ASKED", zone), passes(128000), tell("LOCK_WAITED", zone), tell("LOCK_GOT", zone), (RUN, 0, req, 0, 0), (ENDS_WRITE, 0, req, 0, 0)]
        found = self.of_requests(jobs)["write"]
        self.assertEqual({part: found[part] for part in ("cycles", "compute", "spin", "queued")},
                         {"cycles": 255, "compute": 55, "spin": 8, "queued": 192})
        self.assertEqual(self.of_locks(), {("zone", 3): {"held": 34, "behind": 128}, ("slc", 0): {"held": 4}, ("l2p", 9): {"spin": 8, "held": 16}})

    def test_sections_take_longer_or_shorter(self):
        """20 hypercalls in a section, which freeze nothing: a few hundred instructions, of which so many thousandths are added or taken away."""
        slc = lock(4, 0)
        jobs = [tell("LOCK_GOT", slc), *[(HAD, 0, 0, 0, 0)] * 20, tell("LOCK_GIVEN", slc), *[(HAD, 0, 0, 0, 0)] * 20]
        cycles = {hold: self.profile_of(jobs, ["locks=on", f"hold={hold}"])["harts"][0]["cycles"] for hold in (500, 1000, 2000, 3000)}
        section = cycles[2000] - cycles[1000]
        self.assertTrue(200 < section < 2000, cycles)
        self.assertEqual(cycles[3000] - cycles[2000], section)
        self.assertAlmostEqual(cycles[1000] - cycles[500], section / 2, delta=30)

    def test_it_takes_no_time(self):
        jobs = [(HAD, 0, 0, 0, 0), tell("LOGICAL_ASKED", lock(0, 1), 0x80001000), passes(100), tell("LOGICAL_ENDED", 0, 0x80001000)]
        on, off = (self.profile_of(jobs, [f"locks={state}"]) for state in ("on", "off"))
        self.assertEqual(on["order_hash"], off["order_hash"])
        self.assertEqual(on["harts"], off["harts"])
        self.assertNotIn("locks", off)


if __name__ == "__main__":
    main()
