"""A guest of ./hartzone linux on a device: F2FS is made, mounted, filled and checked, and the recording of it repeated without the guest."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "support"), str(TOP / "linux")]
import guest  # noqa: E402
import image  # noqa: E402
from hztest.needs import device_problem  # noqa: E402

MADE = (image.CACHE / image.DEFAULT_KERNEL / "packages").exists()
MISSING = device_problem() or ("" if shutil.which(guest.QEMU) else "there is no x86 QEMU (scripts/setup --linux)") or (
    "" if MADE else "no guest was fetched (./hartzone linux fetches it)")
SESSION = """
mkfs.f2fs -f -m -c /dev/zones /dev/blocks && mount -t f2fs /dev/blocks /mnt && cd /mnt || exit 3
dd if=/dev/urandom of=data bs=64k count=64 conv=fsync && sum=$(sha256sum <data) || exit 4
for i in $(seq 50); do echo $i >file$i; done
sync && cd / && umount /mnt && fsck.f2fs -f /dev/blocks && mount -t f2fs /dev/blocks /mnt || exit 5
[ "$(sha256sum </mnt/data)" = "$sum" ] && [ "$(cat /mnt/file50)" = 50 ] || exit 6
umount /mnt && echo all as it was && exit 7
"""


@unittest.skipIf(MISSING, MISSING)
class Linux(unittest.TestCase):
    def test_f2fs_and_its_recording(self):
        with tempfile.TemporaryDirectory(prefix="hz-linux-") as name:
            base = pathlib.Path(name)
            (base / "runs").mkdir()
            environment = {**os.environ, "HARTZONE_RUN_BASE": str(base / "runs"), "TMPDIR": name}
            run = subprocess.run([sys.executable, TOP / "linux/command.py", "--device", "conzone-f2fs-patched", "--record", base / "f2fs.hzr", "--",
                                  "sh", "-c", SESSION], capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL)
            self.assertEqual(run.returncode, 7, run.stdout + run.stderr)
            self.assertIn("all as it was\n", run.stdout)
            self.assertNotIn("[Fail]", run.stdout)
            self.assertEqual([path.name for path in base.iterdir() if path.name not in ("runs", "f2fs.hzr")], [])
            digest = re.search(r"f2fs.hzr: digest (\w+)", run.stdout)[1]
            again = subprocess.run([os.environ["HARTZONE_DRIVER"], "run", "--device", "conzone-f2fs-patched", "--trace", base / "f2fs.hzr", "--as-recorded",
                                    "--out", base / "out"], capture_output=True, text=True, check=False, env=environment)
            self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
            same = json.loads((base / "out" / "result.json").read_text())["as_recorded"]
            self.assertEqual((same["differ"], same["digest"], same["recorded_digest"]), (0, digest, digest), same["first_difference"])
            self.assertGreater(same["commands"], 100)


if __name__ == "__main__":
    unittest.main(verbosity=2)
