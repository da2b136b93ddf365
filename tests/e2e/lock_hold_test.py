"""How long locks are held, measured on the image: docs/internals/locking.md says that it does not grow with the device. A device whose
superblocks are twice as large keeps every class within the same bounds."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
MIXED = (TOP / "configs" / "workloads" / "mixed.yaml").read_text()
# Zones stage more if a buffer goes to the longest waiter, so that the SLC region is collected.
PAPER = (TOP / "configs" / "devices" / "conzone-paper.yaml").read_text().replace("handover: kept", "handover: fair")
# In ns, with the default costs. Zone: a request or a program unit, sector by sector. L2P: the entries of a table page. SLC: 64 sectors. Cache: 16 lines. The others: a few words.
MOST = {"zone": 150000, "l2p": 150000, "slc": 4000, "block": 1000, "buffer": 1000, "open": 1000, "cache": 4000, "global": 150000}
PARTS = ("flash", "channel", "flash_queue", "link", "queued", "compute", "spin", "logical")


# Overwrites in place, so that conventional zones are collected while others read; the map of this device lies in flash.
BLOCK = (TOP / "configs" / "devices" / "small-legacy.yaml").read_text()
SMALL = (TOP / "configs" / "devices" / "small.yaml").read_text()
CACHED = (TOP / "configs" / "devices" / "small-mcmq.yaml").read_text()
# Look-ups in a map in RAM and nothing else: no sector was written. 16 workers, for four harts that feed them.
UNWRITTEN = BLOCK.replace("cache: 1 KiB\n  levels: page\n  prefetch: 15\n  log_entries: 256", "cache: 0").replace("workers: 2", "workers: 16\n  hils: 4")
LOOKUPS = """mapping: direct
seed: 5
threads: 12
common: {read_ratio: 1, pattern: random, block: 256 KiB, queue_depth: 16, total_ops: 300}
"""
SECTIONS = 65  # under one hold of kind `combine`: the holder's own, and those of 64 others
MOVES = 2 * 69  # ns for each of these: what its hart asks for comes in a line, and the answer goes in one (`far` of the preset rocket)
OVERWRITE = """mapping: direct
seed: 5
threads: 6
common: {read_ratio: 0.4, pattern: random, block: 16 KiB, queue_depth: 4, flush_every: 32, total_ops: 400}
"""


def longest_holds(device, granularity, load=OVERWRITE, *options):
    """The result of a run on the device in this text, and class → longest hold."""
    with tempfile.TemporaryDirectory() as folder:
        file, workload = pathlib.Path(folder) / "device.yaml", pathlib.Path(folder) / "overwrite.yaml"
        file.write_text(device.replace("\nlocks:\n", f"\nlocks:\n  granularity: {{default: {granularity}}}\n"))
        workload.write_text(load)
        subprocess.run([os.environ["HARTZONE_DRIVER"], "run", "--device", str(file), "--workload", str(workload), *options, "--out", folder],
                       check=True, stdout=subprocess.DEVNULL)
        result = json.loads((pathlib.Path(folder) / "result.json").read_text())
    holds = dict.fromkeys(MOST, 0)
    for lock in result["locks"]:
        holds[lock["class"]] = max(holds[lock["class"]], lock["hold_max_ns"])
    return result, holds


class OtherLength(unittest.TestCase):
    """Options of the virtual clock that let code take another time: against a device whose instructions do."""

    def digest(self, device, *options):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "device.yaml"
            file.write_text(device)
            subprocess.run([os.environ["HARTZONE_DRIVER"], "run", "--device", str(file), "--workload", "small", "--quick", "--out", folder,
                            *(["--vclock", *options] if options else [])], check=True, stdout=subprocess.DEVNULL)
            return json.loads((pathlib.Path(folder) / "result.json").read_text())["digest"]

    def test_code_of_all_harts_is_all_code(self):
        doubled = self.digest(SMALL + "clock: {insn: 2}\n")
        self.assertEqual(self.digest(SMALL, "pace=2000,pace_harts=0xffffffffffffffff"), doubled)
        self.assertEqual(self.digest(SMALL + "clock: {insn: 1}\n", "pace=1001,pace_harts=0x8000000000000000"), self.digest(SMALL), "there is no hart 63")
        self.assertNotIn(self.digest(SMALL, "pace=2000,pace_harts=0x1"), (doubled, self.digest(SMALL)))

    def test_a_class_of_locks_is_a_part_of_all(self):
        plain = self.digest(SMALL)
        for option in ("hold", "transfer"):
            every, zone, cache = (self.digest(SMALL, option + words.format(option)) for words in ("=2000", "=2000,{}_class=0", "=2000,{}_class=6"))
            self.assertEqual(cache, plain, "no data cache, so no such lock")
            self.assertEqual(len({plain, every, zone}), 3, option)


class LockHold(unittest.TestCase):
    def check(self, granularity, holds):
        for name, most in MOST.items():
            self.assertLessEqual(holds[name], most, name)
        self.assertEqual(holds["global"] > 0, granularity == "global")
        self.assertGreater(holds["zone"], 0)
        if granularity == "global":
            self.assertEqual(holds["global"], max(holds.values()), "it is held as long as its longest part")

    def check_profile(self, result):
        """The plugin's lock profile, independent of the firmware's statistics and informed of each event,
        agrees."""
        firmware = {}
        for lock in result["locks"]:
            sums = firmware.setdefault(lock["class"], [0] * 5)
            for i, key in enumerate(("acquisitions", "contended", "wait_ns", "hold_ns", "handovers")):
                sums[i] += lock[key]
        profile = result["vclock"]["locks"]
        self.assertEqual(firmware, {c["class"]: [c["hold"]["count"], c["wait"]["count"], c["wait"]["ns"], c["hold"]["ns"],
                                                 sum(times for _, _, times in c["handovers"])] for c in profile["classes"]})
        most = profile["locks"][0]
        of_it = next(lock for lock in result["locks"] if (lock["class"], lock["index"]) == (most["class"], most["index"]))
        for key in ("acquisitions", "contended", "wait_ns", "hold_ns", "handovers"):
            self.assertEqual(most[key], of_it[key])
        self.assertEqual(sum(most["by_hart"]), most["acquisitions"])
        waits = [c["wait"] for c in profile["classes"]]
        self.assertEqual(sum(b["waits"] for b in profile["blame"]) <= sum(w["count"] for w in waits), True)
        for times in waits:
            self.assertTrue(times["p50"] <= times["p90"] <= times["p99"] <= times["p999"] <= times["max"])
        self.assertIn({"holding": "zone", "takes": "l2p"}, [{k: n[k] for k in ("holding", "takes")} for n in profile["nesting"]])

    def check_accounts(self, result):
        """Everything that a clock passed is in one part of the hart's account, and waits for locks are those that libthread measures."""
        accounts = result["vclock"]["locks"]["accounts"]
        self.assertEqual(result["vclock"]["parameters"]["mhz"], 1000)
        for hart, of_clock in zip(result["harts"], accounts):
            self.assertEqual(of_clock["error"], 0)
            self.assertEqual(sum(of_clock["work"].values()) + sum(of_clock["spin"].values()) + sum(of_clock[k] for k in ("stalls", "charged", "idle")),
                             of_clock["cycles"])
            self.assertEqual(of_clock["spin"], {name: ns for name, ns in hart["spin_by_class"].items() if ns})
            self.assertLess(abs(of_clock["cycles"] - hart["elapsed_ns"]), 0.001 * hart["elapsed_ns"] + 50000)
        work = {hart["role"]: of_clock["work"] for hart, of_clock in zip(result["harts"], accounts)}
        for role, stage in (("hil", "fetch"), ("hil", "completion"), ("tsu", "flash"), ("worker", "admission"), ("worker", "map"),
                            ("worker", "buffer"), ("worker", "collection"), ("worker", "locks"), ("worker", "queues")):
            self.assertGreater(work[role][stage], 0, f"{role} {stage}")
        self.assertEqual([work["tsu"][stage] for stage in ("fetch", "map", "buffer")], [0, 0, 0])

    def check_requests(self, result):
        """Parts sum to the total, the host's latency except doorbell and interrupt; waits match the
        profile."""
        for kind in result["vclock"]["locks"]["requests"]:
            of_host = result["totals"][kind["kind"]]
            for name in ("all", "p99", "p999"):
                self.assertEqual(kind[name]["error"], 0)
                self.assertEqual(sum(kind[name][part] for part in PARTS), kind[name]["cycles"])
                self.check_path(kind[name])
            self.assertEqual(kind["all"]["count"], of_host["ops"])
            mean = kind["all"]["cycles"] / kind["all"]["count"]
            self.assertTrue(0.98 * of_host["latency_ns"]["mean"] <= mean <= of_host["latency_ns"]["mean"], kind["kind"])
            for slowest, least, rank in (("p99", 0.99, "p90"), ("p999", 0.999, "p99")):
                self.assertGreater(kind[slowest]["cycles"] / kind[slowest]["count"], of_host["latency_ns"][rank] * 0.85)
                self.assertGreaterEqual(kind[slowest]["count"], (1 - least) * of_host["ops"])
        reads, writes = (next(k["all"] for k in result["vclock"]["locks"]["requests"] if k["kind"] == kind) for kind in ("read", "write"))
        self.assertGreater(min(reads[part] for part in ("flash", "channel", "flash_queue", "queued", "compute", "link", "logical")), 0)
        self.assertGreater(writes["logical"], 0.9 * result["ftl"]["conventional_stall_ns"])
        self.assertEqual(writes["flash"], 0)

    def check_path(self, slice_):
        """The locks' shares of the requests' time are within its parts: all of spin and logical,
        some of compute and of queued."""
        spin, logical = ([c for c in slice_["lock_classes"] if c["logical"] == kind] for kind in (False, True))
        self.assertEqual(sum(c["spin"] for c in spin), slice_["spin"])
        self.assertEqual(sum(c["waits"] for c in logical), slice_["logical"])
        held, behind = (sum(c[part] for c in spin) for part in ("held", "behind"))
        self.assertTrue(0 < held <= slice_["compute"] and 0 <= behind <= slice_["queued"], (held, behind))
        for c in slice_["lock_classes"]:
            cycles = sum(c[part] for part in ("spin", "held", "behind", "waits") if part in c)
            self.assertAlmostEqual(c["share"], cycles / slice_["cycles"], places=5)
            of_class = [lock["share"] for lock in slice_["locks"] if (lock["class"], lock["logical"]) == (c["class"], c["logical"])]
            self.assertLessEqual(sum(of_class), c["share"] + 1e-5)
        self.assertEqual([lock["share"] for lock in slice_["locks"]], sorted((lock["share"] for lock in slice_["locks"]), reverse=True))

    def check_logical(self, result):
        """Waits for logical locks, reported individually, match the FTL's counters."""
        found = {c["class"]: c for c in result["vclock"]["locks"]["logical"]}
        ftl, l2p = result["ftl"], result["l2p"]
        waits = {name: c["contended"] for name, c in found.items()}
        self.assertEqual([waits["buffer"], waits["backing"], waits["map_log"]], [ftl["waits_buffer"], ftl["conventional_stalls"], l2p["stalls"]])
        self.assertEqual(found["fetches"]["acquisitions"], l2p["fetches"])
        self.assertTrue(0 < waits["fetch"] <= l2p["joined"])
        self.assertEqual(found["completion"]["acquisitions"], result["totals"]["completed"])
        for name, ns in (("backing", ftl["conventional_stall_ns"]), ("map_log", l2p["stall_ns"])):
            self.assertLess(abs(found[name]["wait"]["ns"] - ns), 0.01 * ns + 1000, name)
        for name, c in found.items():
            self.assertEqual([sum(c["by_hart"]), sum(c["contended_by_hart"])], [c["acquisitions"], c["contended"]], name)
            self.assertTrue(c["wait"]["p50"] <= c["wait"]["p99"] <= c["wait"]["p999"] <= c["wait"]["max"], name)

    def check_level(self):
        """Statistics take no device time: without any, the same commands end at the same times, but for where data then lie in caches."""
        block = BLOCK + "clock: {preset: free}\n"
        (result, _), (plain, _) = (longest_holds(text, "fine") for text in (block, block.replace("stats: all", "stats: off")))
        self.assertNotIn("locks", plain["vclock"])
        for key in ("queues", "elapsed_ns", "harts", "nand", "ftl", "l2p"):
            self.assertEqual(plain[key], result[key], key)

    def test_does_not_grow_with_the_device(self):
        for times, granularity in ((1, "fine"), (2, "fine"), (1, "global")):
            with self.subTest(times=times, granularity=granularity):
                device = PAPER.replace("pages_per_block: 96", f"pages_per_block: {96 * times}")
                result, holds = longest_holds(device, granularity, MIXED.replace("136 MiB", f"{17 * times * times} MiB"), "--threads", "3")
                self.assertGreater(result["ftl"]["slc_gc_runs"], 0, "the collector of the SLC log did not run")
                self.check(granularity, holds)
                self.check_profile(result)

    def test_so_is_a_data_cache_under_eviction(self):
        result, holds = longest_holds(CACHED, "fine")
        self.check("fine", holds)
        backs, cache = result["data_cache"]["write_backs"], [c for c in result["vclock"]["locks"]["logical"] if c["class"] == "cache"][0]
        self.assertGreater(min(holds["cache"], backs["evicted"] + backs["background"], backs["flushed"], result["data_cache"]["waits"]), 0)
        self.assertGreaterEqual(cache["contended"], result["data_cache"]["waits"])
        for key in ("reads", "writes"):
            self.assertGreater(result["data_cache"][key]["hits"], 0, key)

    def test_a_holder_that_combines_runs_a_bounded_number_of_sections(self):
        """As many as it may where all workers wait, since those whose section was run come back at once."""
        single, combined = (longest_holds(UNWRITTEN.replace("default: ticket", f"default: ticket, l2p: {kind}"), "class", LOOKUPS)[1]["l2p"]
                            for kind in ("mcs", "combine"))
        self.assertLessEqual(combined, SECTIONS * (single + MOVES))
        self.assertGreater(combined, SECTIONS / 2 * single)
        self.assertLessEqual(combined, MOST["l2p"])

    def test_collecting_conventional_zones_is_bounded_too(self):
        for granularity in ("fine", "global"):
            with self.subTest(granularity=granularity):
                result, holds = longest_holds(BLOCK, granularity)
                self.assertGreater(result["ftl"]["conventional_gc_runs"], 0, "the collector did not run")
                self.check(granularity, holds)
                self.check_logical(result)
                self.check_accounts(result)
                self.check_requests(result)
                if granularity == "fine":
                    self.check_level()


if __name__ == "__main__":
    unittest.main()
