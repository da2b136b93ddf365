"""The runs of a study, in parallel: a failed point is reported and left out, finished runs are
kept, and --resume continues."""
# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import itertools
import sys

from common import report, runs, software, workflow
from common.elasticity import Interval
from common.side_by_side import SideBySide


def folder_of(*words):
    """Name of a run's folder, from the properties that distinguish it."""
    return "-".join(map(str, words)).replace(" ", "-").replace(",", "").replace("'", "")


def image_of(extra):
    """The firmware image that a run's options name; None: that of the tree."""
    return extra[list(extra).index("--firmware") + 1] if "--firmware" in extra else None


@dataclasses.dataclass
class Point:
    """One point of a sweep: a mean over its runs, all of which must succeed."""
    labels: dict # distinguishing properties, as in study.json
    name: str    # for people
    runs: list   # (folder below --out, device, workload, options that this folder always stands for
                 # …), one for each seed; early stop adds some
    another: object = None # seed → such a run, for early stop

    @property
    def key(self):
        values = tuple(self.labels.values())
        return values if len(values) > 1 else values[0]


@dataclasses.dataclass
class Until:
    """Early stop: a point's seeds end when the 95 % interval of a figure reaches no farther to each side than this share of its mean. All points
    take the same seeds in the same order, so that what two of them have in common is drawn alike."""
    share: float
    seeds: list   # in order: those that each point takes, and the ones that may follow
    value: object # result → the figure

    def next_seed(self, results):
        """None: these are enough, or all there are."""
        interval = Interval(list(map(self.value, results)))
        return None if interval.half <= self.share * interval.mean or len(results) == len(self.seeds) else self.seeds[len(results)]


def seeds_in_order(first, most):
    """The first ones, and as many behind them as make `most`."""
    more = (seed for seed in itertools.count(1) if seed not in first)
    return [*first, *itertools.islice(more, most - len(first))]


class Points(dict):
    """key → figures of the point. Points that failed, or were not reached, are absent."""

    def value(self, key, field):
        return self[key][field] if key in self else None


class Sweep:
    """`check(result, folder)` raises StudyError where a run cannot be used."""

    def __init__(self, args, points, summarize, check=lambda result, folder: None, until=None):
        self.until, self.results = until, {} # point's key → results, with early stop
        self.args, self.all, self.summarize, self.check, self.word = args, points, summarize, check, getattr(args, "word", "study")
        self.points, self.failed, self.interrupted, self.kept, self.software, self.digests, self.unsteady = Points(), [], False, 0, None, {}, {}
        self.by_image = {} # image → software of its runs
        self.now = software.present(runs.driver()) if args.resume else None
        self.by_snakemake = getattr(args, "engine", "local") == "snakemake"

    def run(self):
        try:
            if self.by_snakemake:
                self.make_all()
        except KeyboardInterrupt:
            self.interrupted = True
            return self
        progress = report.Progress(sum(len(p.runs) for p in self.all))
        self.measure_all([(point, point.runs) for point in self.all], progress)
        while self.until and not self.interrupted and (wanted := self.unsure()):
            progress.total += len(wanted)
            self.measure_all(wanted, progress)
        progress.end()
        return self

    def measure_all(self, wanted, progress):
        """wanted: (point, its runs that are to be made)."""
        self.plan(wanted)
        try:
            for point, made in wanted:
                self.measure(point, made, progress)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            self.side_by_side.stop()

    def unsure(self):
        """(point, one more run) where the seeds so far do not suffice; the run is the point's from now on."""
        found = []
        for point in self.all:
            seed = self.until.next_seed(self.results[point.key]) if point.key in self.points else None
            if seed is not None:
                point.runs.append(point.another(seed))
                found.append((point, point.runs[-1:]))
        return found

    def plan(self, wanted):
        """Decides which runs to make, now that the kept ones are known."""
        every = [] if self.by_snakemake else [(self.args.out / folder, device, workload, extra)
                                              for _, made in wanted for folder, device, workload, *extra in made]
        missing = [run for run in every if not self.kept_result(*run)]
        self.made_here = {out for out, *_ in missing}
        self.side_by_side = SideBySide(missing)

    def measure(self, point, made, progress):
        results = self.results.pop(point.key, [])
        for folder, device, workload, *extra in made:
            progress.step(f"{point.name}, {folder}")
            try:
                results.append(self.one(self.args.out / folder, device, workload, extra))
            except runs.StudyError as error:
                self.fail(point, folder, str(error), extra)
        if len(results) == len(point.runs):
            self.points[point.key] = self.summarize(results)
        else:
            self.points.pop(point.key, None)
        if self.until:
            self.results[point.key] = results

    def one(self, out, device, workload, extra):
        if self.by_snakemake:
            result = workflow.result(out)
        elif out in self.made_here:
            result = self.side_by_side.result(out, extra)
        else:
            result = self.kept_result(out, device, workload, extra)
            self.kept += 1
        self.check(result, out)
        if result["software"] != self.by_image.setdefault(image_of(extra), result["software"]):
            raise runs.StudyError(f"the programs changed while the study ran: the run in {out} has other ones than those before it")
        self.software = self.by_image.get(None, result["software"])
        folder = str(out.relative_to(self.args.out))
        self.digests[folder] = result.get("digest")
        if result.get("steady", {}).get("reason"):
            self.unsteady[folder] = result["steady"]["reason"]
        return result

    def kept_result(self, out, device, workload, extra=()):
        """An earlier call's result, if it is to be kept and would be the same today."""
        result = runs.earlier(out, device, workload) if self.args.resume else None
        image = image_of(extra)
        now = {**self.now, "firmware": software.sha256(image)} if image and self.now else self.now
        return result if result and software.of(result) == now else None

    def make_all(self):
        """All runs at once, as a workflow. A dry run ends the study when it has said which."""
        workflow.program()
        wanted, options = [one for point in self.all for one in point.runs], self.args.engine_options or ""

        def is_kept(folder, device, workload, extra):
            return self.kept_result(self.args.out / folder, device, workload, extra) is not None

        if workflow.is_dry(options):
            print(workflow.dry_run(wanted, is_kept, options))
            raise SystemExit(0)
        self.kept += workflow.write(self.args.out, wanted, is_kept)
        workflow.run(self.args.out, options)

    def fail(self, point, folder, reason, extra):
        again = runs.repeat_command(self.args.out / folder, extra)
        self.failed.append({"point": point.name, "run": folder, "reason": reason, "repeat": again})
        print(f"hartzone {self.word}: {point.name} failed: {reason}\n  to repeat it: {again}", file=sys.stderr)

    def also(self, other, below=""):
        """Takes over what another sweep of the same study says about its runs, but for its points. below: where its folder is in this one's."""
        self.failed += other.failed
        self.interrupted |= other.interrupted
        self.unsteady.update({f"{below}{run}": reason for run, reason in other.unsteady.items()})
        self.digests.update({f"{below}{run}": digest for run, digest in other.digests.items()})

    def facts(self):
        """What study.json says about the sweep and each point."""
        return {"software": self.software, "interrupted": self.interrupted, "failed": self.failed, "unsteady": self.unsteady,
                "points": [{"name": p.name, **p.labels, **self.points[p.key]} for p in self.all if p.key in self.points]}

    def warning(self):
        """A sentence about runs whose figures hold their warm-up; None: there are none."""
        if not self.unsteady:
            return None
        reasons = sorted(set(self.unsteady.values()))
        named = f" ({', '.join(self.unsteady)})" if len(self.unsteady) <= 3 else ""
        return (f"No steady state in {len(self.unsteady)} of {len(self.digests)} runs{named}: their figures include the warm-up and prove nothing about "
                f"longer runs ({'; '.join(reasons)}).")

    def end(self):
        """Reports missing points; returns the exit code."""
        missing = f"{len(self.all) - len(self.points)} of {len(self.all)} points"
        if self.kept:
            print(f"{self.kept} runs were there already")
        if self.interrupted:
            print(f"hartzone {self.word}: interrupted, everything is cleaned up; {missing} are not measured, the same command with --resume "
                  "goes on", file=sys.stderr)
            return runs.INTERRUPTED
        if self.failed:
            print(f"hartzone {self.word}: {missing} failed and are missing above; the same command with --resume tries only these", file=sys.stderr)
        return 1 if self.failed else 0
