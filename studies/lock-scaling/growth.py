"""Growth of lines of points, on the study's page: fitted laws, and the model of a ticket lock."""
# SPDX-License-Identifier: BSD-3-Clause
import predicted
import scaling
from common import plot
from common.usl import amdahl, usl

MOST_BESIDE = 3 # side-by-side pictures that are still readable


def bars(ax, line, **more):
    """Means, with the range over seeds."""
    means = [p["kiops"] for _, p in line]
    return ax.errorbar([workers for workers, _ in line], means, yerr=[[p["kiops"] - min(p["kiops_by_seed"]) for _, p in line],
                                                                     [max(p["kiops_by_seed"]) - p["kiops"] for _, p in line]],
                       marker="o", capsize=3, linestyle="none", **more)


def predicted_bars(ax, one, found):
    """The model's prediction, with its range over seeds."""
    points = found["points"]
    ax.errorbar([point["workers"] for point in points], [one * point["model"] for point in points],
                yerr=[[one * (point["model"] - point["model_seeds"][0]) for point in points],
                      [one * (point["model_seeds"][1] - point["model"]) for point in points]],
                marker="s", markersize=4, capsize=3, linestyle=":", label=f"ticket lock, class {found['class']}: from 1 worker's times")


def drawn(ax, key, line, found):
    """One line: its points, the laws through them, and the model's prediction."""
    means = [(workers, p["kiops"]) for workers, p in line]
    between = [n / 4 for n in range(4 * line[0][0], 4 * line[-1][0] + 1)]
    bars(ax, line, color="black", label="measured")
    for name, law, dashes in (("USL, fitted", usl(means), "-"), ("Amdahl, fitted", amdahl(means), "--")):
        if law:
            ax.plot(between, [law.at(n) for n in between], dashes, linewidth=1.2, label=name)
    if "points" in found:
        predicted_bars(ax, line[0][1]["kiops"], found)
    ax.set(xlabel="FTL workers", ylabel="KIOPS (device time)", ylim=(0, None), title=f"{key.name}, costs {key.costs}")
    ax.legend(frameon=False, fontsize=8)


def pictures(page, lines, models):
    grown = [(key, lines[key], found) for key, found in models.items()]
    for first in range(0, len(grown), MOST_BESIDE):
        fig, axes = plot.figure(min(MOST_BESIDE, len(grown) - first))
        for ax, (key, line, found) in zip(axes, grown[first:]):
            drawn(ax, key, line, found)
        page.picture(fig, "Laws that are fitted through the points, and beside them the model of a ticket lock, which is not. Bars are ranges over seeds.")


def between(span):
    """Nothing where seeds make no difference that is to be seen, as if there is one only."""
    least, most = (f"{value:.3g}" for value in span) if span else (None, None)
    return None if least == most else f"{least} … {most}"


def laws(page, lines):
    rows = [[f"{key.name}, {key.costs}", law["one_worker_kiops"], law["sigma"], between(law["sigma_seeds"]), law["kappa"], between(law["kappa_seeds"]),
             law["peak_workers"], between(law["peak_seeds"]), 100 * law["error"], law["amdahl_sigma"], 100 * law["amdahl_error"]]
            for key, line in lines.items() if (law := scaling.laws(line))]
    if not rows:
        return
    page.text("The Universal Scalability Law through the means, with the range of its parameters over the seeds, and Amdahl's law. sigma: share "
              "that one worker at a time can do; kappa: what each pair of workers costs; peak: workers beyond which throughput falls. The error "
              "is the relative one, root of the mean square. A law describes the points; it says nothing about causes.")
    page.table(["lock, costs", "KIOPS of one", "sigma", "seeds", "kappa", "seeds", "peak", "seeds", "error %", "Amdahl's sigma", "error %"], rows)


INPUTS = ("The model of a ticket lock (Boyd-Wickizer and others, \"Non-scalable locks are dangerous\", 2012) is fitted to nothing. It looks at the "
          "class of locks that takes most of the workers' time, and says how often they would be acquired if workers met nowhere else. held: mean of "
          "one worker (hold_ns over acquisitions of locks[] in result.json). between: what one worker does from a release to its next acquisition, "
          "idling included, spinning not (elapsed_ns - spin_ns of harts[], less hold_ns, over acquisitions). hand-over: two transfers of the lock's "
          "line by the cost model, to who gives it back and to who is next. each: how long the line is busy with every waiter that reads it before "
          "that one, which are half of the others.")
OUTCOME = ("Measured and by the model, as multiples of one worker. The model knows how often one worker's commands take a lock (per command), and where "
           "more workers' commands do so more often, it should be held against the acquisitions, not the throughput. locks: those of the class in use; "
           "the model's workers choose among them as often as was counted.")


def ticket(page, models):
    found = {f"{key.name}, {key.costs}": model for key, model in models.items() if "points" in model}
    if not found:
        return
    parts = ("class", "hold_ns", "between_ns", "handover_ns", "handover_each_ns")
    page.text(INPUTS)
    page.table(["lock, costs", "class", "held ns", "between ns", "hand-over ns", "each ns"],
               [[name, *(model[part] for part in parts)] for name, model in found.items()])
    parts = ("workers", "locks", "per_command", "measured", "acquisitions", "model")
    page.text(OUTCOME)
    page.table(["lock, costs", "workers", "locks", "per command", "throughput", "acquisitions", "ticket model", "seeds"],
               [[name, *(point[part] for part in parts), between(point["model_seeds"])] for name, model in found.items() for point in model["points"]])


def show(page, measured):
    lines, models = scaling.lines(measured), predicted.models(measured)
    if not models:
        return
    page.heading("Laws of growth")
    pictures(page, lines, models)
    laws(page, lines)
    ticket(page, models)
