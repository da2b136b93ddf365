#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far a reader has to walk who follows one command by its calls: files entered and left, on the development machine."""
import fcntl
import json
import pathlib
import struct
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies")]
from common import arguments, report, runs  # noqa: E402

BUILD = TOP / "build" / "walk"
TRIPS = ("append", "flush", "map-hit", "map-miss", "read-buffered", "read-flash", "reset", "write-fua", "write-unit") # of walk.cpp
LAYERS = ("ftl", "tsu", "nand", "dma") # of firmware/, whose functions are entered; what lies below counts to its caller


def options():
    p = arguments.parser("walk", __doc__, "--show write-unit", word="bench")
    p.add_argument("--show", choices=TRIPS, metavar="|".join(TRIPS), help="print the functions of this trip in the order in which they are entered, each where it is entered first")
    p.add_argument("--layer", choices=LAYERS, metavar="|".join(LAYERS), help="count and show the functions of this folder only")
    return p.parse_args()


def built():
    """The program; its build folder has firmware whose functions say that they are entered."""
    log = BUILD.with_suffix(".log")
    log.parent.mkdir(exist_ok=True)
    print(f"hartzone: building {BUILD.relative_to(TOP)}, the first time for a minute", file=sys.stderr, flush=True)
    with open(log, "a", encoding="utf-8") as out:
        fcntl.flock(out, fcntl.LOCK_EX) # two calls build one after the other
        out.truncate(0)
        for command in (["cmake", "-S", TOP, "-B", BUILD, "-G", "Ninja", "-DHZ_WALK=ON", "-DCMAKE_UNITY_BUILD=ON"],
                        ["cmake", "--build", BUILD, "--target", "hz-walk"]):
            if subprocess.run(command, stdout=out, stderr=out, check=False, preexec_fn=runs.end_with_parent).returncode:
                raise runs.StudyError(f"the build failed: {log} says why")
    return BUILD / "bin" / "hz-walk"


def trips(program, folder):
    """Name → addresses of functions that are entered, 0 where one is left."""
    for old in folder.iterdir():
        old.unlink()
    if subprocess.run([program, folder], check=False, preexec_fn=runs.end_with_parent).returncode:
        raise runs.StudyError(f"{program.name} failed, see above")
    return {path.name: [word for (word,) in struct.iter_unpack("<Q", path.read_bytes())] for path in sorted(folder.iterdir())}


def named(program, addresses):
    """Address → (function, file below firmware/, or None for others and for those of headers, which count to their callers)."""
    asked = sorted(addresses)
    text = subprocess.run(["addr2line", "-f", "-e", program], input="".join(f"{address:#x}\n" for address in asked), capture_output=True, text=True,
                          check=True).stdout.splitlines()
    return {address: (function, below(place)) for address, function, place in zip(asked, text[::2], text[1::2])}


def below(place):
    path = place.rsplit(":", 1)[0]
    _, found, rest = path.rpartition("firmware/")
    return rest if found and rest.endswith(".c") and rest.split("/")[0] in LAYERS else None


def entered(words, names, layer):
    """(depth, function, file) of each function where it is entered first. What it enters when it is entered again stands at the first place too."""
    out, seen, depths = [], set(), [0]
    for word in words:
        if not word:
            depths.pop()
            if not depths:
                depths = [0]
            continue
        function, file = names[word]
        shown = file is not None and (layer is None or file.startswith(layer + "/"))
        if shown and word not in seen:
            seen.add(word)
            out.append((depths[-1], function, file))
        depths.append(depths[-1] + shown)
    return out


def measured(walk):
    """A stay is a row of functions of one file; a return a stay in a file that was left before."""
    files = [file for _, _, file in walk]
    stays = sum(file != before for before, file in zip([None, *files], files))
    return {"functions": len(walk), "stays": stays, "files": len(set(files)), "returns": stays - len(set(files))}


def bench():
    args = options()
    raw = args.out / "trips"
    raw.mkdir(parents=True, exist_ok=True)
    program = built()
    walks = trips(program, raw)
    if tuple(walks) != TRIPS:
        raise runs.StudyError(f"{program.name} made other trips: {', '.join(walks)}")
    names = named(program, {word for words in walks.values() for word in words if word})
    rows = {name: {layer or "all": measured(entered(words, names, layer)) for layer in (None, *LAYERS)} for name, words in walks.items()}
    (args.out / "bench.json").write_text(json.dumps({"schema": "hartzone-bench-walk-1", "trips": rows}, indent=1) + "\n", encoding="utf-8")
    if args.show:
        for depth, function, file in entered(walks[args.show], names, args.layer):
            print(f"{'  ' * depth + function:60} {file}")
        return
    report.table(["trip", "functions", "stays", "files", "returns"], [[name, *row[args.layer or "all"].values()] for name, row in rows.items()])


if __name__ == "__main__":
    runs.main(bench, "bench")
