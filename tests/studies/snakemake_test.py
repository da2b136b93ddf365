"""A study whose runs Snakemake makes has the same figures as one that makes them itself."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from study_test import MISSING, TOP, study  # also finds the modules of the studies
from common import workflow

NOT_THERE = MISSING or (None if shutil.which("snakemake") else "snakemake is not installed: scripts/setup --snakemake does")
PROFILE = "cluster: sbatch --parsable --cpus-per-task=1 --mem=2000 --time=30\ncluster-cancel: scancel\njobs: 100\n"
PLUGIN = "executor: slurm\njobs: 100\ndefault-resources:\n  cpus_per_task: 1\n  mem_mb: 2000\n  runtime: 30\n"
GUIDE = (TOP / "docs/guide/cluster.md").read_text(encoding="utf-8")
ARGUMENTS = ("--workers", "1,2", "--locks", "mcs")


def points(folder):
    return json.loads((pathlib.Path(folder) / "study.json").read_text())["points"]


@unittest.skipIf(NOT_THERE, NOT_THERE)
class Snakemake(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="hz-study-")
        self.addCleanup(made.cleanup)
        self.folder = made.name

    def run_study(self, *more):
        return study("lock-scaling", self.folder, *ARGUMENTS, *more)

    def test_it_makes_the_same_runs(self):
        run = self.run_study()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        here = points(self.folder)
        self.setUp()
        for more, said in (((), ""), (("--resume",), "2 runs were there already")):
            run = self.run_study("--engine", "snakemake", *more)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn(said, run.stdout)
            self.assertEqual(here, points(self.folder))
        self.assertIn("Nothing to be done", (pathlib.Path(self.folder) / "snakemake.log").read_text())

    def test_a_run_that_fails_is_one_sentence(self):
        self.assertEqual(self.run_study("--engine", "snakemake").returncode, 0)
        obstacle = pathlib.Path(self.folder) / "mcs-2-1" / "result.json.part"
        obstacle.mkdir()
        run = self.run_study("--engine", "snakemake")
        self.assertEqual(run.returncode, 1)
        self.assertIn("mcs, 2 workers failed", run.stderr)
        self.assertIn("the result cannot be written to", run.stderr)
        self.assertEqual(len(points(self.folder)), 1)

    def of_profile(self):
        """The guide's profile for this snakemake, in a folder of its own."""
        version = int(subprocess.run(["snakemake", "--version"], capture_output=True, text=True, check=True).stdout.split(".")[0])
        if version > 7 and not subprocess.run(["snakemake", "--help"], capture_output=True, text=True, check=True).stdout.count("slurm-status-command"):
            self.skipTest(f"snakemake {version} has no executor for SLURM: pip install snakemake-executor-plugin-slurm")
        text = PLUGIN if version > 7 else PROFILE
        self.assertIn(text, GUIDE)
        folder = pathlib.Path(self.folder) / "slurm"
        folder.mkdir()
        (folder / "config.yaml").write_text(text, encoding="utf-8")
        return folder

    def test_a_dry_run_for_slurm_makes_nothing(self):
        dry = ("--engine", "snakemake", "--engine-options", f"--dry-run --profile {self.of_profile()}")
        run = self.run_study(*dry)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        for name in ("mcs-1-1", "mcs-2-1"):
            self.assertIn(f"output: {name}/result.json", run.stdout)
        self.assertEqual([path.name for path in pathlib.Path(self.folder).iterdir()], ["slurm"])

    def test_a_dry_run_keeps_results(self):
        self.assertEqual(self.run_study().returncode, 0)
        before = {path: path.stat().st_mtime_ns for path in pathlib.Path(self.folder).rglob("*") if path.is_file()}
        for more, said in (((), r"run +2\b"), (("--resume",), "Nothing to be done")):
            run = self.run_study("--engine", "snakemake", "--engine-options=--dry-run", *more)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertRegex(run.stdout, said)
            self.assertEqual(before, {path: path.stat().st_mtime_ns for path in pathlib.Path(self.folder).rglob("*") if path.is_file()})

    def test_a_profile_says_how_many_jobs_there_are(self):
        self.assertIn("--cores", workflow.command("--quiet"))
        words = workflow.command(f"--profile {pathlib.Path(self.folder).name} --quiet")
        self.assertNotIn("--cores", words)
        self.assertIn(pathlib.Path(self.folder).name, words)
        os.chdir(pathlib.Path(self.folder).parent)
        self.addCleanup(os.chdir, TOP)
        self.assertIn(self.folder, workflow.command(f"--profile {pathlib.Path(self.folder).name}"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
