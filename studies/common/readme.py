"""The tables of measured figures in README files and RESULTS.md, written only from each study's
record, measured.json."""
# SPDX-License-Identifier: BSD-3-Clause
import importlib.util
import json
import pathlib
import re
import textwrap

from common.runs import TOP, StudyError
from common.verdict import FITTED, VERDICTS, verdict

STUDIES = TOP / "studies"
# One row per paper in the top README: the study, the row's first cell, and that cell in plain
# words.
PAPERS = [("ConZone, DATE 2025", "conzone-fig7", "page map, 1024 MiB against 1 MiB",
           "4 KiB random reads over 1 GiB against 1 MiB, with a map of pages"),
          ("MCMQ, DATE 2022", "mcmq-fig6", "no firmware, unshared flash: a flow of 2 and of 4 against one alone",
           "throughput of a flow among 2 and among 4, relative to a flow alone, without the firmware's time, as in MQSim"),
          ("Selective power-loss protection, Electronics 2022", "plp-fig10", "fillseq, selective against none, mean over 64 to 512 MiB",
           "RocksDB fillseq, selective protection against none"),
          ("ZMS, ATC 2024", "zms-random-read", "random reads: ZMS against it",
           "random reads, a map of zones against a map of pages with a cache of 1, 4, 6 MiB"),
          ("Zoned UFS, FAST 2026", "zufs-fig8", "one zone: ZUFS, 192 KiB, against ZMS, 768 KiB",
           "writes to one zone, a buffer of 192 KiB against 768 KiB of ZMS")]


def module(name):
    """A study as a module; its folder's name need not be a Python identifier."""
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), STUDIES / name / "study.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def record_path(name):
    return STUDIES / name / "measured.json"


def shown_studies(function):
    """Names of studies with this function, which yields their part of README files."""
    return [name for name in sorted(path.parent.name for path in STUDIES.glob("*/study.py")) if hasattr(module(name), function)]


def record(name):
    return json.loads(record_path(name).read_text(encoding="utf-8"))


def record_of(found):
    """study.json → the recorded part."""
    return {"study": found["study"], "seeds": found["seeds"], "software": found["software"],
            "figures": {f["name"]: f["measured"] for f in found["figures"]}, "digests": {point["name"]: point["digests"] for point in found["points"]}}


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def judged_rows_of(name):
    """With a verdict in the end: the study's own, where its row has one. What a parameter was chosen for says so in brackets."""
    figures = record(name)["figures"]

    def judged(what, paper, here, own=None):
        return [what, paper, here, FITTED if FITTED in what else verdict(paper, here) if own is None else own]
    return [judged(*row) for row in module(name).rows(figures.__getitem__)]


def rows_of(name):
    return [row[:3] for row in judged_rows_of(name)]


def paper_rows():
    for paper, name, what, words in PAPERS:
        row = next(row for row in judged_rows_of(name) if row[0] == what)
        yield [paper, f"[{name}](studies/{name}/README.md)", words, *row[1:]]


def totals(rows):
    """rows: those of all studies, each with its verdict in the end."""
    counts = {word: sum(row[-1] == word for row in rows) for word in VERDICTS}
    return f"All figures with a verdict: {', '.join(f'{n} *{word}*' for word, n in counts.items())}."


def image_line(names):
    images = {}
    for firmware in (record(name)["software"]["firmware"] for name in names):
        images.setdefault(firmware["compiler"], set()).add(f"`{firmware['sha256'][:12]}…`")
    words = "Measured with " + " and ".join(f"firmware image{'s' * (len(of) > 1)} {', '.join(sorted(of))} ({compiler})"
                                            for compiler, of in sorted(images.items())) + "."
    return textwrap.fill(words, 100, break_on_hyphens=False)


def blocks():
    """(file, name of the block, its text), of studies with a record"""
    names = [name for name in shown_studies("rows") if record_path(name).exists()]
    for name in names:
        yield STUDIES / name / "README.md", name, markdown(["", "paper", "here"], rows_of(name)) + "\n\n" + image_line([name])
    if names:
        every = [[f"`{name}`", *row] for name in names for row in judged_rows_of(name)]
        yield STUDIES / "RESULTS.md", "studies", markdown(["study", "", "paper", "here", "verdict"], every) + "\n\n" + image_line(names)
        yield TOP / "README.md", "papers", markdown(["paper", "study", "figure", "in the paper", "here", "verdict"], paper_rows()) + "\n\n" + totals(every)
    for name in shown_studies("tables"):
        if record_path(name).exists():
            yield STUDIES / "README.md", name, module(name).tables(record(name)["figures"]) + "\n\n" + image_line([name])


def replaced(text, name, content, where="the file"):
    """`text` with the content between the block's two marks replaced."""
    marks = re.compile(rf"(<!-- measured: {re.escape(name)} -->\n).*?(<!-- end of measured -->)", re.DOTALL)
    if not marks.search(text):
        raise StudyError(f"{where} has no place for what was measured: <!-- measured: {name} --> … <!-- end of measured -->")
    return marks.sub(lambda m: m[1] + "\n" + content + "\n\n" + m[2], text)


def update(name, out):
    """Makes a finished study's figures its record, and rewrites every table that shows it."""
    found = json.loads((pathlib.Path(out) / "study.json").read_text(encoding="utf-8"))
    record_path(name).write_text(json.dumps(record_of(found), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for path, block, content in blocks():
        text = path.read_text(encoding="utf-8")
        path.write_text(replaced(text, block, content, path), encoding="utf-8")
