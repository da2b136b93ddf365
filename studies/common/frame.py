"""What every study does: options, sweep, study.json, tables, plot. A study is a module with

NAME                       its folder's name
options(words)             parsed arguments, of the command line if words is None
points(args)               what to run: a list of Point
until(args)                a sweep.Until, if seeds may stop early
check(result, folder)      raises StudyError where a run cannot be used
summarize(results)         of one point's runs: a dictionary of figures
follow(args, sweep)        runs that need the figures of the points, if there are any; returns the exit code
show_followed(args)        prints a table of what follow measured
figures(args, points)      rows of study.json, made by report.figure
show(points)               prints a table of the points
draw(points)               a figure of matplotlib, if it has one: NAME.png, and on the page
page(args, sweep, fig)     a page.Page for report.html, if it has more to say than its figures, plot (fig, drawn by draw) and points
facts(args)                more entries of study.json
derived(args, points)      the same of what was measured, if there is more than figures; the sentences of `conclusions` are printed, the first one above all tables
rows(figure)               the table in README files: (what, paper, here) in words; figure(name) is a measured value;
                           studies of no paper have none; a fourth part is the verdict, where the cells do not give it (common/verdict.py)
tables(figures)            of the recorded figures: what studies/README.md shows of a study that has no rows
directions(figure)         (sentence, whether it holds): what must come out in every form that a README file prints; the suite asserts it
UNCERTAIN                  figure → factor of what the suite allows a figure to differ with other programs; 1 where it is absent
"""
# SPDX-License-Identifier: BSD-3-Clause
import gc

from common import plot, readme, report, runs
from common.page import Page
from common.sweep import Sweep


def run(study, words=None):
    args = study.options(words)
    sweep = Sweep(args, study.points(args), study.summarize, study.check, study.until(args) if hasattr(study, "until") else None).run()
    followed = study.follow(args, sweep) if hasattr(study, "follow") else 0
    rows = study.figures(args, sweep.points)
    more = study.derived(args, sweep.points) if hasattr(study, "derived") else {}
    path = report.write(args.out, study.NAME, rows, seeds=args.seeds, clock="virtual", **study.facts(args), **sweep.facts(), **more)
    report.write_csv(args.out, sweep.facts()["points"])
    if more.get("conclusions"):
        print(f"{more['conclusions'][0]}\n")
    if any(row["paper"] is not None for row in rows):
        report.compare(rows)
        print()
    if sweep.points:
        study.show(sweep.points)
    if hasattr(study, "show_followed"):
        study.show_followed(args)
    if more.get("conclusions", [])[1:]:
        print("\n" + "\n".join(f"- {line}" for line in more["conclusions"][1:]))
    if sweep.warning():
        print(f"\n{sweep.warning()}")
    print(f"\nfigures: {path}" + drawn(study, args, sweep, rows))
    code = sweep.end() or followed
    if getattr(args, "update", False) and code == 0:
        readme.update(study.NAME, args.out)
    return code


def drawn(study, args, sweep, rows):
    """Draws the plot and the page, if any, and prints their names."""
    picture, path = args.out / f"{study.NAME}.png", args.out / "report.html"
    if args.no_pictures: # those of an earlier call show other figures
        picture.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
    if args.no_pictures or not sweep.points:
        return ""
    gc.disable()  # of the many parts of live pictures none is garbage yet
    said, fig = "", None
    if hasattr(study, "draw"):
        fig = plot.try_to(lambda: study.draw(sweep.points))
        plot.save(fig, picture)
        said += f"   plot: {picture}"
    plot.try_to(lambda: page_of(study, args, sweep, rows, fig).write(path))
    gc.enable()
    return said + f"   report: {path}"


def page_of(study, args, sweep, rows, fig):
    shown = study.page(args, sweep, fig) if hasattr(study, "page") else plain_page(study, args, sweep, rows, fig)
    provenance(shown, args, sweep)
    return shown


def plain_page(study, args, sweep, rows, fig):
    shown = Page(study.__doc__, f"Hartzone, study {study.NAME}: seeds {', '.join(map(str, args.seeds))}, virtual clock")
    if fig:
        shown.picture(fig, "Each bar has its value on top.")
    shown.heading("Figures")
    shown.table(["", "paper", "measured", "unit", "note"], [[r["name"], r["paper"], r["measured"], r["unit"], r.get("note", "")] for r in rows])
    points = [report.flat(point) for point in sweep.facts()["points"]]
    columns = list(dict.fromkeys(name for point in points for name in point))
    shown.heading("All points")
    for point in points:
        shown.folded_table(point["name"], ["", ""], [[name, point[name]] for name in columns if name in point])
    return shown


def provenance(shown, args, sweep):
    """What was asked for, which programs ran, and what each run answered; their own pages have the configurations."""
    if sweep.warning():
        shown.text(sweep.warning())
    shown.heading("Provenance")
    software = report.flat(sweep.software or {})
    options = {f"--{name.replace('_', '-')}": value for name, value in vars(args).items() if name not in ("out", "named") and not name.startswith("found_")}
    shown.table(["", ""], [[name, " ".join(map(str, value)) if isinstance(value, list) else str(value)] for name, value in {**software, **options}.items()])
    shown.folded_table("Digests of the runs", ["run", "digest"], list(sweep.digests.items()))


def main(study):
    runs.main(lambda: run(study))
