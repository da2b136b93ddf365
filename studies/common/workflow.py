"""The runs of a study as a Snakemake workflow over the single-run command, for a cluster's
scheduler."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile

from common import runs, side_by_side

SNAKEFILE = '''# Made by ./hartzone study: one job for each run. Call it by hand from this folder with: snakemake --cores all
import json

with open("runs.json", encoding="utf-8") as file:
    RUNS = json.load(file) # folder → command

rule all:
    input: [f"{folder}/result.json" for folder in RUNS]

rule run:
    input: "{folder}/device.yaml", "{folder}/workload.yaml"
    output: "{folder}/result.json"
    log: "{folder}/run.log"
    params: command=lambda wildcards: RUNS[wildcards.folder]
    shell: "({params.command}) > {log} 2>&1"
'''
END_S = runs.END_S
DRY = {"-n", "--dry-run", "--dryrun"}
PLACES = ("--profile", "--workflow-profile", "--cores", "-c", "--jobs", "-j") # these say how many jobs there are at a time


def program():
    found = shutil.which("snakemake")
    if not found:
        raise runs.StudyError("there is no snakemake: scripts/setup --snakemake installs Debian's package, or leave out --engine")
    return found


def write_if_new(path, text):
    """An unchanged file keeps its time, so that its dependants need not be remade."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write(out, wanted, keep):
    """Writes the workflow of these runs (folder, device, workload, options) in out. Removes results
    that `keep` rejects; returns how many it keeps."""
    commands, kept = {}, 0
    for folder, device, workload, *extra in wanted:
        place, is_kept = out.resolve() / folder, keep(folder, device, workload, extra)
        for name, text in runs.texts(device, workload).items():
            write_if_new(place / name, text)
        commands[folder] = runs.shell_command(place, extra)
        kept += is_kept
        if not is_kept:
            (place / "result.json").unlink(missing_ok=True)
    write_if_new(out / "runs.json", json.dumps(commands, indent=1) + "\n")
    write_if_new(out / "Snakefile", SNAKEFILE)
    return kept


def is_dry(options):
    """Whether these options for snakemake ask which jobs there would be, and make none."""
    return bool(DRY & set(shlex.split(options or "")))


def absolute(words):
    """The folder of a profile counts from where the study was called, not from --out; a name stays a name."""
    return [str(pathlib.Path(word).absolute()) if before in ("--profile", "--workflow-profile") and pathlib.Path(word).is_dir() else word
            for before, word in zip(["", *words], words)]


def command(options):
    """The call of snakemake. As many jobs are made at a time as this host has cores, but for what the options, or the profile that they name,
    say: cores would limit the jobs of a cluster, too."""
    words = absolute(shlex.split(options))
    placed = any(word.startswith(PLACES) for word in words)
    return [program(), "--snakefile", "Snakefile", *([] if placed else ["--cores", str(side_by_side.jobs())]), "--keep-going", "--rerun-triggers", "mtime",
            "--nolock", *words]


def dry_run(wanted, keep, options):
    """A dry run prints the jobs and makes nothing. The workflow lies in a folder of its own, so that --out keeps what it has."""
    with tempfile.TemporaryDirectory(prefix="hz-dry-") as folder:
        place = pathlib.Path(folder)
        write(place, wanted, keep)
        for name, *what in wanted:
            if keep(name, *what[:2], what[2:]):
                (place / name / "result.json").touch()
        return run(place, options).rstrip()


def run(out, options):
    """Runs the workflow in out; snakemake's log is out/snakemake.log. Failed runs show by their
    results. Returns what snakemake said."""
    with open(out / "snakemake.log", "w", encoding="utf-8") as log:
        code = finished(command(options), out, log)
    said = (out / "snakemake.log").read_text(encoding="utf-8", errors="replace")
    if code and "Error in rule run" not in said:
        raise runs.StudyError(f"snakemake ended with status {code}: {' / '.join(said.strip().splitlines()[-3:])} ({out / 'snakemake.log'})")
    return said


def finished(command, out, log):
    """Its exit code. When the study is interrupted, snakemake's whole group is, and each run has its time to clean up."""
    with subprocess.Popen(command, cwd=out, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            os.killpg(child.pid, signal.SIGINT)
            try:
                child.wait(END_S)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
            raise


def result(out):
    """The result of a run of the workflow."""
    path = pathlib.Path(out) / "result.json"
    if not path.exists():
        log = path.with_name("run.log")
        said = log.exists() and runs.last_words(log) or "it was not begun; snakemake.log in --out says why"
        raise runs.StudyError(f"run in {out} left no result: {said}")
    found = json.loads(path.read_text(encoding="utf-8"))
    runs.refuse_unless_deterministic(found, out)
    return found
