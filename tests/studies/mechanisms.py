"""Assertions on the quick form of a study about its mechanism; called by the one test that runs
that form."""
# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import io
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "studies"))
from common import readme, sweep  # noqa: E402


def directions_hold(case, name, found):
    """The study's own directions for its figures, in any form. found: its study.json."""
    measured = {figure["name"]: figure["measured"] for figure in found["figures"]}
    for sentence, holds in getattr(readme.module(name), "directions", lambda _: ())(measured.__getitem__):
        case.assertTrue(holds, f"{name}: {sentence}")


def quick_form_shows(case, name, found):
    """Its points show the mechanism, and it can do without any of them."""
    SHOWS[name](case, found["points"])
    can_do_without_any(case, readme.module(name), found["points"])


def can_do_without_any(case, module, points):
    """A point may fail: the figures and the table of the others are made all the same."""
    args = module.options(["--quick"])
    measured = {point.key: found for point, found in zip(module.points(args), points)}
    for failed in measured:
        left = sweep.Points((key, found) for key, found in measured.items() if key != failed)
        with case.subTest(failed=failed), contextlib.redirect_stdout(io.StringIO()):
            case.assertEqual(len(left), len(points) - 1)
            case.assertIn(None, [figure["measured"] for figure in module.figures(args, left)])
            module.show(left)


def slc_collector_copies_what_many_zones_have_staged(case, points):
    for p in points:
        case.assertGreater(p["collections"], 3)
        case.assertTrue(p["waits_ms"] == 0 or "erases" in p["policy"], "the collector begins in time")


def small_log_of_the_map_costs_bandwidth_and_a_blocking_one_the_tail(case, points):
    for p in points:
        case.assertGreater(p["flushes"], 0)


def patched_zones_cost_flash(case, points):
    for p in points:
        case.assertEqual(p["slc_blocks"], 108 if p["zones"].startswith("patched") else 10)


def metadata_and_logs_take_dies_from_each_other(case, points):
    for p in points:
        case.assertEqual(p["collections"] > 0, p["load"] != "logs")


def zones_that_share_slots_stage_nothing(case, points):
    of = {(p["scheme"], p["depth"]): p for p in points}
    case.assertEqual(of["ZUFS, 192 KiB", 4]["slc_mib"], 0)
    case.assertGreater(of["ZMS, 3 buffers", 0]["conflicts"], 100)


def map_that_does_not_fit_its_cache_costs_reads(case, points):
    for p in points:
        case.assertEqual(p["misses"] > 0, p["device"] != "ZUFS" and not (p["what"] == "sequential" and p["at"] == "write"), p)


def flash_takes_what_is_configured(case, points):
    """A kind of operation differs where it has a spread, and there only."""
    case.assertEqual([{kind for kind, us in p["sigma_us"].items() if us > 1e-6} for p in points],
                     [set(), {"read, LSB", "program, LSB", "erase"}, {"read, MSB", "program, MSB"}])


def iotailor_keeps_three_writers_out_of_slc(case, points):
    for p in points:
        case.assertEqual(p["conflicts"] > 0, p["way"] == "as they are" and p["load"] != "one writer", p)


def zones_that_are_cleaned_in_time_keep_their_throughput(case, points):
    cufs, ssr, zufs = points
    for p in (cufs, ssr):
        case.assertEqual((p["rounds"]["normal"], p["rounds"]["boosted"]), (0, 0))
        case.assertGreater(p["map_misses"], 0, "the map of the preset cufs lies in flash")
    case.assertEqual([p["to_dead_mib"] > 0 for p in (cufs, ssr, zufs)], [False, True, False])
    case.assertGreater(min(zufs["rounds"]["normal"], zufs["rounds"]["boosted"], zufs["rounds"]["paused"]), 0)


def writes_in_place_within_a_budget_lose_nothing(case, points):
    for p in points:
        case.assertEqual(p["over_budget"], 0)
        case.assertEqual("in place" in p["commands"], p["way"] == "zones, budgeted in place")


def map_of_zones_never_misses_and_one_of_pages_by_its_cache(case, points):
    for p in points:
        case.assertEqual(p["fetches"] > 0, p["map"] != "ZMS", p)


def what_lies_in_one_log_only_is_programmed_less(case, points):
    for p in points:
        case.assertEqual(p["collected_mib"] > 0, p["way"] != "ZMS", p)
        case.assertEqual(p["to_dead_mib"] > 0, p["way"].endswith("SSR"), p)


def fragmented_block_device_takes_longer_for_a_mib(case, points):
    for p in points:
        clean, middle, severe = (level["collected_mib"] for level in p["levels"].values())
        case.assertEqual((clean > 0, severe > 0), (False, True), p["device"])
        case.assertEqual((middle > 0, p["to_dead_mib"] > 0), (p["device"] == "CUFS, SSR",) * 2)


def devices_differ_in_use_and_age(case, points):
    """Its directions have the rest."""
    case.assertGreater(max(p["used"] for p in points), 5 * min(p["used"] for p in points))
    case.assertGreater(max(p["iterations"] for p in points), 3 * min(p["iterations"] for p in points))


def writers_queue_and_readers_spin(case, points):
    for p in points:
        case.assertTrue(p["load"] != "read" or p["worst"] == "l2p 0", p)


def costs_of_the_small_device_add_up(case, points):
    """Its directions have the law."""
    case.assertEqual([(p["point"], p["commands"]) for p in points], [("small/small", 200)])


def linux_flushes_where_hzfs_writes_durably(case, points):
    for p in points:
        case.assertEqual(p["durable"] > p["flush"], p["way"].startswith("hzfs"), p)


def log_of_rocksdb_costs_what_is_made_durable(case, points):
    spent = {p["way"]: p["us"]["fillseq"] for p in points}
    case.assertLess(spent["our store, log volatile"]["write"], spent["our store, zones"]["write"])
    case.assertLess(spent["our store, zones, shared buffers, protection full"]["flush"], 0.01 * spent["our store, zones, shared buffers, protection none"]["flush"])


def both_have_been_measured(case, points):
    """Its directions have the rest."""
    for p in points:
        case.assertGreater(p["read_kib"] if p["way"].startswith("hzfs") else p["waf"], 0, p)


def recorded_fio_fails_nowhere(case, points):
    """Its directions have the rest: what F2FS sent is the same on any device."""
    for p in points:
        case.assertEqual(p["rate"] is None, p["what"] in ("as recorded", "1 worker", "slow flash", "slow flash, by dependencies"), p)


SHOWS = {
    "conzone-contention": writers_queue_and_readers_spin,
    "conzone-f2fs": metadata_and_logs_take_dies_from_each_other,
    "conzone-l2p-log": small_log_of_the_map_costs_bandwidth_and_a_blocking_one_the_tail,
    "conzone-slc-gc": slc_collector_copies_what_many_zones_have_staged,
    "conzone-zone-size": patched_zones_cost_flash,
    "explain-presets": costs_of_the_small_device_add_up,
    "linux-fio": recorded_fio_fails_nowhere,
    "linux-fragments": both_have_been_measured,
    "linux-rocksdb": log_of_rocksdb_costs_what_is_made_durable,
    "linux-sqlite": linux_flushes_where_hzfs_writes_durably,
    "mcmq-table1": flash_takes_what_is_configured,
    "zms-multizone": iotailor_keeps_three_writers_out_of_slc,
    "zms-random-read": map_of_zones_never_misses_and_one_of_pages_by_its_cache,
    "zms-random-write": what_lies_in_one_log_only_is_programmed_less,
    "zms-sync-update": writes_in_place_within_a_budget_lose_nothing,
    "zufs-fig4": fragmented_block_device_takes_longer_for_a_mib,
    "zufs-fig7": map_that_does_not_fit_its_cache_costs_reads,
    "zufs-fig8": zones_that_share_slots_stage_nothing,
    "zufs-population": devices_differ_in_use_and_age,
    "zufs-fig9-10": zones_that_are_cleaned_in_time_keep_their_throughput,
}
