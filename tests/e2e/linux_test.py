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
KEY, TARGET_KEY, OTHER_KEY = (subprocess.run(["nvme", "gen-dhchap-key", f"--hmac={hmac}", "--nqn=nqn.x"], capture_output=True, text=True, check=True).stdout.strip()
                              for hmac in (2, 3, 1)) if shutil.which("nvme") else ("", "", "")
GUEST_NAME = "nqn.2014-08.org.nvmexpress:uuid:6861727a-6f6e-4865-8000-6c696e757800"
# The guest is attached, with both keys, by its boot; all others are refused, and a host may ask for no key of the target.
AUTHENTICATION = f"""
line=$(cat /sys/firmware/qemu_fw_cfg/by_name/opt/org.hartzone/connect/raw) id=22222222-2222-2222-2222-222222222222
dmesg | grep 'qid 0: authenticated with hash hmac(sha512) dhgroup ffdhe2048' && dmesg | grep 'qid 0: controller authenticated' || exit 3
dd if=/dev/urandom of=/tmp/data bs=4k count=16 && dd if=/tmp/data of=/dev/blocks bs=4k oflag=direct && nvme disconnect-all || exit 4
! $line || exit 5
! $line --dhchap-secret '{OTHER_KEY}' || exit 6
! $line --dhchap-secret '{KEY}' --hostnqn nqn.2014-08.org.nvmexpress:uuid:$id --hostid $id || exit 7
! $line --dhchap-secret '{KEY}' --dhchap-ctrl-secret '{OTHER_KEY}' || exit 8
$line --dhchap-secret '{KEY}' && sleep 2 && dd if=/dev/blocks bs=4k count=16 iflag=direct | cmp - /tmp/data && exit 9
"""


def kernel_with_authentication():
    """Debian 12's own has none; that of its backports and Debian 13's have."""
    made = [path.parent for path in image.CACHE.glob("linux-image-*/made")]
    return next((path.name for path in made if b"modules/nvme-auth.ko" in (path / "initramfs.cpio").read_bytes()), "")


@unittest.skipIf(MISSING, MISSING)
class Linux(unittest.TestCase):
    def test_linux_authenticates(self):
        kernel = kernel_with_authentication()
        if not kernel or not KEY:
            self.skipTest("no guest was made of a kernel with NVME_HOST_AUTH (./hartzone linux --kernel PACKAGE makes it), or there is no nvme-cli")
        with tempfile.TemporaryDirectory(prefix="hz-linux-") as name:
            base = pathlib.Path(name)
            (base / "runs").mkdir()
            (base / "key").write_text(KEY)
            environment = {**os.environ, "HARTZONE_RUN_BASE": str(base / "runs"), "TMPDIR": name, "HARTZONE_DHCHAP_CTRL_SECRET": TARGET_KEY}
            run = subprocess.run([sys.executable, TOP / "linux/command.py", "--kernel", kernel, "--device", "legacy", "--allow-host", GUEST_NAME,
                                  "--dhchap-secret", base / "key", "--", "sh", "-c", AUTHENTICATION], capture_output=True, text=True, check=False,
                                 env=environment, stdin=subprocess.DEVNULL)
            self.assertEqual(run.returncode, 9, run.stdout + run.stderr)
            for key in (KEY, TARGET_KEY):
                self.assertNotIn(key[10:30], run.stdout + run.stderr)

    def test_f2fs_and_its_recording(self):
        with tempfile.TemporaryDirectory(prefix="hz-linux-") as name:
            base = pathlib.Path(name)
            (base / "runs").mkdir()
            environment = {**os.environ, "HARTZONE_RUN_BASE": str(base / "runs"), "TMPDIR": name}
            device = "conzone-f2fs-patched"
            run = subprocess.run([sys.executable, TOP / "linux/command.py", "--device", device, "--record", base / "f2fs.hzr", "--",
                                  "sh", "-c", SESSION], capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL)
            self.assertEqual(run.returncode, 7, run.stdout + run.stderr)
            self.assertIn("all as it was\n", run.stdout)
            self.assertNotIn("[Fail]", run.stdout)
            self.assertEqual([path.name for path in base.iterdir() if path.name not in ("runs", "f2fs.hzr")], [])
            digest = re.search(r"f2fs.hzr: digest (\w+)", run.stdout)[1]
            again = subprocess.run([os.environ["HARTZONE_DRIVER"], "run", "--device", device, "--trace", base / "f2fs.hzr", "--as-recorded",
                                    "--out", base / "out"], capture_output=True, text=True, check=False, env=environment)
            self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
            same = json.loads((base / "out" / "result.json").read_text())["as_recorded"]
            self.assertEqual((same["differ"], same["digest"], same["recorded_digest"]), (0, digest, digest), same["first_difference"])
            self.assertGreater(same["commands"], 100)


if __name__ == "__main__":
    unittest.main(verbosity=2)
