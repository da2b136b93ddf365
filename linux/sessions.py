"""Sessions of a Linux file system that are recorded in a guest: the device of each, and the guest's commands. Studies repeat the recordings."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "studies"))
from common import block, runs, zms  # noqa: E402

SLOW_DOWN = 20 # device time against the wall clock: an emulated guest is so much slower than a phone
CONVENTIONAL, SLC = 8, 40 # superblocks
AGED_ZONES = 40 # fewer, so that files fill them soon
ZONED, BLOCK = "zoned", "block"
F2FS, EXT4 = "f2fs", "ext4"
MAKE = {(F2FS, ZONED): "mkfs.f2fs -f -m -c /dev/zones /dev/blocks", (F2FS, BLOCK): "mkfs.f2fs -f /dev/blocks", (EXT4, BLOCK): "mkfs.ext4 -q -F /dev/blocks"}
# Three reads of the device's last block, one after the other, divide a recording into phases.
BEGIN = """
last=$(($(blockdev --getsize64 /dev/blocks) / 4096 - 1))
mark() { sync; for read in 1 2 3; do dd if=/dev/blocks of=/dev/null bs=4k count=1 skip=$last iflag=direct 2>/dev/null || exit 9; done; }
"""
INSERT = "insert into t(v) values(hex(randomblob(50)));" # a transaction each; zms-sync-update has it too
INSERTS = 10000
SQLITE = f"""
{{ echo 'pragma journal_mode=wal; create table t(k integer primary key, v text);'; }} | sqlite3 mobibench.db || exit 4
mark
yes '{INSERT}' | head -n {INSERTS} | sqlite3 mobibench.db || exit 5
mark
[ "$(sqlite3 mobibench.db 'select count(*) from t')" = {INSERTS} ] || exit 6
"""

# As ConZone's paper: 512 KiB in order by one thread and by four; 4 KiB at random from 1 MiB and from all of the file. Then 4 KiB and a sync.
FIO_MIB, FIO_READS, FIO_WRITES = 64, 1000, 800
FIO = f"""
job() {{ mark; fio --directory=/mnt --ioengine=psync --thread --output=/tmp/fio --direct=1 --bs=512k --fallocate=none "$@" || exit 5; }}
job --name=one --rw=write --size={FIO_MIB}m --end_fsync=1
job --name=four --numjobs=4 --rw=write --size={FIO_MIB // 4}m --end_fsync=1
job --name=one --rw=read --size={FIO_MIB}m
job --name=four --numjobs=4 --rw=read --size={FIO_MIB // 4}m
job --name=one --rw=randread --bs=4k --size=1m --filesize={FIO_MIB}m --number_ios={FIO_READS} --norandommap
job --name=one --rw=randread --bs=4k --size={FIO_MIB}m --number_ios={FIO_READS}
job --name=one --rw=randwrite --bs=4k --size={FIO_MIB}m --direct=0 --fsync=1 --number_ios={FIO_WRITES}
mark
"""
# As ZUFS's paper, section 5.5: 64 files of 128 KiB, half of them removed, and a large file, until little is left; then the photos of its Table 2.
PHOTOS, PHOTO_KIB = 6, 4608
AGE = f"""
i=0
free() {{ df -m /mnt | awk 'END {{ print $4 }}'; }}
while [ $(free) -ge 48 ]; do
  i=$((i + 1)); mkdir $i; fio --name=small --directory=$i --nrfiles=64 --filesize=128k --bs=128k --rw=write --file_service_type=sequential \\
    --create_on_open=1 --fallocate=none --ioengine=psync --thread --output=/tmp/fio || exit 4
  sync; rm $i/*[02468]
  dd if=/dev/zero of=$i/large bs=1M count=2 conv=fsync 2>/dev/null || exit 4
done
echo "$i iterations, $(free) MiB left"
mark
for i in $(seq {PHOTOS}); do dd if=/dev/zero of=photo$i bs=512k count={PHOTO_KIB // 512} conv=fsync 2>/dev/null || exit 5; done
mark
filefrag photo*
cd / && umount /mnt && mount /dev/blocks /mnt && cd /mnt || exit 6
for at in /sys/block/nvme*/queue/read_ahead_kb; do echo 1024 >$at; done
for i in $(seq {PHOTOS}); do mark; dd if=photo$i of=/dev/null bs=512k 2>/dev/null || exit 8; done
mark
"""
# The keys, values and options of ./hartzone rocksdb, with memtables of 4 MiB; then each write synced, in a database of its own.
KEYS, SYNCED_KEYS, MEMTABLE = 75000, 2000, 4 << 20
ROCKSDB = f"""
bench() {{
  db=$1 loads=$2
  shift 2
  db_bench --db=/mnt/$db --benchmarks=$loads --key_size=100 --value_size=800 --compression_type=none --write_buffer_size={MEMTABLE} \\
    --target_file_size_base={MEMTABLE} --max_bytes_for_level_base={4 * MEMTABLE} --seed=1 "$@" >/tmp/bench 2>&1 || {{ cat /tmp/bench; exit 5; }}
}}
mark
bench db fillseq --num={KEYS}
mark
bench db overwrite,waitforcompaction --num={KEYS} --use_existing_db
mark
bench synced fillseq --num={SYNCED_KEYS} --sync
mark
cd / && umount /mnt && mount /dev/blocks /mnt && cd /mnt || exit 6
bench db verifychecksum,readrandom --num={KEYS} --use_existing_db
grep "({KEYS} of {KEYS} found)" /tmp/bench || exit 8
"""


def device(kind, zones):
    """The flash of configs/devices/zms.yaml, in superblocks of 6 MiB. The device has that many sequential zones and some conventional ones,
    for the metadata of F2FS, or it is a block device of the same size. Data are kept."""
    zoned = runs.merged(zms.device(zones + CONVENTIONAL - 1, SLC), {"name": f"linux-{kind}", "conventional": {"zones": CONVENTIONAL}})
    return zoned if kind == ZONED else block.of(zoned, zones + CONVENTIONAL, zms.CONVENTIONAL_SPARE)


class Session:
    """kind: of the device; load: shell commands in the mounted file system; marks: of them, calls of `mark`."""

    def __init__(self, files, kind, load, marks, zones=64, preset=None):
        self.marks, self.slow_down = marks, SLOW_DOWN
        self.device = lambda: runs.load_yaml("devices", preset) if preset else device(kind, zones)
        self.script = (BEGIN + f"{MAKE[files, kind]} >/dev/null && mount -t {files} /dev/blocks /mnt && cd /mnt || exit 3\n" + load
                       + "cd / && umount /mnt || exit 7\n")


SESSIONS = {
    "sqlite-f2fs-zones": Session(F2FS, ZONED, SQLITE, 2),
    "sqlite-f2fs-block": Session(F2FS, BLOCK, SQLITE, 2),
    "sqlite-ext4-block": Session(EXT4, BLOCK, SQLITE, 2),
    "fio-f2fs-zones": Session(F2FS, ZONED, FIO, 8, preset="conzone-f2fs-patched"),
    "rocksdb-f2fs-zones": Session(F2FS, ZONED, ROCKSDB, 4),
    "rocksdb-f2fs-block": Session(F2FS, BLOCK, ROCKSDB, 4),
    "aged-f2fs-zones": Session(F2FS, ZONED, AGE, 3 + PHOTOS, AGED_ZONES),
    "aged-f2fs-block": Session(F2FS, BLOCK, AGE, 3 + PHOTOS, AGED_ZONES),
}
