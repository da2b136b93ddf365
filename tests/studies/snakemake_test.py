"""A study whose runs Snakemake makes has the same figures as one that makes them itself."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import pathlib
import shutil
import tempfile
import unittest

from study_test import MISSING, study

NOT_THERE = MISSING or (None if shutil.which("snakemake") else "snakemake is not installed: scripts/setup --snakemake does")
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
