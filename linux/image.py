"""The guest of ./hartzone linux: Debian's kernel and tools, fetched as packages and unpacked into an initramfs; nothing is installed here."""
# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import fcntl
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
HERE = pathlib.Path(__file__).resolve().parent
CACHE = TOP / "build" / "linux"
DEFAULT_KERNEL = "linux-image-amd64"
TOOLS = ("busybox-static", "util-linux", "f2fs-tools", "btrfs-progs", "e2fsprogs", "nvme-cli", "fio", "sqlite3", "rocksdb-tools")
# Declared dependencies of packages that their programs do not need here.
UNUSED = re.compile(r"(lib)?(python|perl|pam|db5)|libnss-|lib.*-perl$|linux-base|linux-image-amd64|initramfs|systemd|udev|dpkg|tar$|passwd|coreutils"
                    r"|klibc|kmod|cpio|debconf|init-system|login|logsave|media-types|mailcap|uuid-runtime|adduser|gcc-.*-base|debianutils|dmsetup")
# Packages of which only some programs are wanted.
ONLY = {"fio": ("fio",), "rocksdb-tools": ("db_bench",),
        "util-linux": ("blkzone", "blkdiscard", "blockdev", "lsblk", "wipefs", "fallocate", "findmnt", "mount", "umount", "flock")}
MODULES = ("virtio_pci", "virtio_net", "virtio_console", "qemu_fw_cfg", "nvme_tcp", "f2fs", "btrfs", "zonefs", "ext4", "xfs", "loop", "mq_deadline")
# Algorithms that a module requests by name, absent from its list of dependencies.
BY_NAME = {"f2fs": ("crc32_generic",), "nvme_tcp": ("crc32c_generic",), "zonefs": ("crc32_generic",), "ext4": ("crc32c_generic",), "xfs": ("crc32c_generic",),
           "btrfs": ("crc32c_generic", "xxhash_generic", "blake2b_generic", "sha256_generic")}
LIBRARIES = "usr/lib/x86_64-linux-gnu"


class Problem(Exception):
    """A sentence for the user."""


def say(text):
    print(f"hartzone: {text}", file=sys.stderr, flush=True)


class Apt:
    """apt with its own lists, packages and status, for amd64 on any machine; sources and keys are
    the machine's."""

    def __init__(self, folder):
        self.folder = folder
        # Not apt's own package folder: apt would omit existing files from a list.
        for name in ("state/lists/partial", "archives/partial", "packages"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()
        settings = (f"Dir::State={folder}/state", f"Dir::Cache={folder}", f"Dir::State::status={folder}/status", "APT::Architecture=amd64",
                    "APT::Architectures=amd64", "Acquire::Languages=none", "APT::Install-Recommends=false", "APT::Sandbox::User=root")
        self.words = [word for setting in settings for word in ("-o", setting)]

    def call(self, *words, where=None):
        if not shutil.which("apt-get"):
            raise Problem("the guest is made of Debian's packages, and this system has no apt-get: copy build/linux from a Debian system")
        run = subprocess.run(["apt-get", *self.words, *words], capture_output=True, text=True, check=False, cwd=where)
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            log.write(f"$ apt-get {' '.join(words)}\n{run.stdout}{run.stderr}")
        return run

    def closure(self, names):
        """The packages and their dependencies, as names."""
        run = self.call("install", "--print-uris", "-qq", *names)
        if run.returncode:
            raise Problem(f"apt-get offers no {' or no '.join(re.findall(r'Unable to locate package (.*)', run.stderr)) or ' '.join(names)}: is "
                          f"the network there, do the apt sources of this system have it? {self.folder.relative_to(TOP)}/log says more")
        return [line.split()[1].partition("_")[0] for line in run.stdout.splitlines()]

    def fetch(self, names):
        """Paths of the packages."""
        run = self.call("download", "-q", *names, where=self.folder / "packages")
        paths = [max(found, key=os.path.getmtime) for name in names if (found := list((self.folder / "packages").glob(f"{name}_*.deb")))]
        if run.returncode or len(paths) != len(names):
            raise Problem(f"packages were not fetched: is the network there? {self.folder.relative_to(TOP)}/log says more; another call goes on from here")
        return paths


def unpack(packages, root):
    for path in packages:
        subprocess.run(["dpkg-deb", "-x", path, root], check=True)


def needed(path):
    """The libraries that a program or library names."""
    run = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=False)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run.stdout)


def is_program(path):
    return path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"


def programs(packages, root):
    """Those of the tools' packages; symbolic links among them too."""
    for package in packages:
        name = package.name.partition("_")[0]
        listed = subprocess.run(["dpkg-deb", "-c", package], capture_output=True, text=True, check=True).stdout
        for at in re.findall(r"\./((?:usr/)?s?bin/[^ \n]+[^/ \n])(?: -> .*)?$", listed, re.M) if name in TOOLS else ():
            if os.path.basename(at) in ONLY.get(name, (os.path.basename(at),)):
                yield at


class Archive:
    """A cpio archive in the format "newc", as the kernel unpacks it; all is root's."""

    def __init__(self, file):
        self.file, self.count, self.names = file, 0, set()

    def add(self, name, mode, data=b"", device=(0, 0)):
        if name in self.names:
            return
        parent = os.path.dirname(name)
        if parent:
            self.add(parent, stat.S_IFDIR | 0o755)
        self.names.add(name)
        self.count += 1
        fields = (self.count, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name.encode()) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        self.file.write(head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4))

    def program(self, name, data):
        self.add(name, stat.S_IFREG | 0o755, data)

    def link(self, name, to):
        self.add(name, stat.S_IFLNK | 0o777, to.encode())

    def end(self):
        self.add("TRAILER!!!", 0)


def module_files(root):
    """name → file"""
    return {path.name.partition(".ko")[0].replace("-", "_"): path for path in root.glob("**/lib/modules/**/*.ko*")}


def module_data(path):
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def modules_in_order(files, wanted=MODULES):
    """(name of the file, its bytes) of modules, after their dependencies. A missing one is built
    in."""
    found = {}

    def add(name):
        if name in found or name not in files:
            return
        data = module_data(files[name])
        needs = re.search(rb"\0depends=([^\0]*)", data)
        found[name] = None # a circle ends here
        for need in (*BY_NAME.get(name, ()), *(needs[1].decode().split(",") if needs else ())):
            add(need.replace("-", "_"))
        del found[name]
        found[name] = (files[name].name.partition(".ko")[0] + ".ko", data)

    for name in wanted:
        add(name)
    return list(found.values())


def add_programs(archive, packages, root):
    """Programs, and the libraries that they name."""
    libraries = {path.name: path for folder in (LIBRARIES, "lib/x86_64-linux-gnu", LIBRARIES + "/ceph") for path in (root / folder).glob("*.so*")}
    waiting = {"libgcc_s.so.1", "ld-linux-x86-64.so.2"}
    for at in programs(packages, root):
        path, name = root / at, "usr/" + at.removeprefix("usr/")
        if path.is_symlink():
            archive.link(name, os.readlink(path))
        elif is_program(path):
            archive.program(name, path.read_bytes())
            waiting.update(needed(path))
    done = set()
    while waiting - done:
        name = (waiting - done).pop()
        done.add(name)
        if name not in libraries:
            raise Problem(f"no package of the guest has {name}: report this, with build/linux/apt/log")
        path = libraries[name].resolve() if libraries[name].exists() else root / LIBRARIES / os.readlink(libraries[name])
        archive.program(f"{LIBRARIES}/{name}", path.read_bytes())
        waiting.update(needed(path))
    archive.link("usr/lib64/ld-linux-x86-64.so.2", f"/{LIBRARIES}/ld-linux-x86-64.so.2")


def write_initramfs(file, packages, root):
    archive = Archive(file)
    for name in ("bin", "sbin", "lib", "lib64"):
        archive.link(name, f"usr/{name}")
    for name in ("proc", "sys", "dev", "tmp", "mnt", "root", "etc/nvme", "usr/lib64", "usr/sbin"):
        archive.add(name, stat.S_IFDIR | 0o755)
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    archive.add("etc/passwd", stat.S_IFREG | 0o644, b"root:x:0:0:root:/root:/bin/sh\n")
    archive.add("etc/group", stat.S_IFREG | 0o644, b"root:x:0:\n")
    host = "6861727a-6f6e-4865-8000-6c696e757800"
    archive.add("etc/nvme/hostid", stat.S_IFREG | 0o644, f"{host}\n".encode())
    archive.add("etc/nvme/hostnqn", stat.S_IFREG | 0o644, f"nqn.2014-08.org.nvmexpress:uuid:{host}\n".encode())
    archive.program("init", (HERE / "init").read_bytes())
    add_programs(archive, packages, root)
    modules = modules_in_order(module_files(root))
    archive.add("modules/order", stat.S_IFREG | 0o644, "".join(f"{name}\n" for name, _ in modules).encode())
    for name, data in modules:
        archive.add(f"modules/{name}", stat.S_IFREG | 0o644, data)
    archive.end()


def stamp():
    """Of the code that makes an image of packages."""
    return hashlib.sha256((HERE / "init").read_bytes() + pathlib.Path(__file__).read_bytes()).hexdigest()


class Image:
    """A kernel and its initramfs below build/linux."""

    def __init__(self, kernel=DEFAULT_KERNEL, cache=CACHE):
        self.package, self.cache = kernel, cache
        self.folder = cache / kernel
        self.kernel, self.initramfs = self.folder / "vmlinuz", self.folder / "initramfs.cpio"

    def is_made(self):
        made = self.folder / "made"
        return made.exists() and made.read_text() == stamp()

    def packages(self):
        """Paths; the list of an earlier call for the same tools is valid while all its files exist."""
        listed = self.folder / f"packages-{hashlib.sha256(' '.join(TOOLS).encode()).hexdigest()[:8]}"
        if listed.exists() and all(paths := [pathlib.Path(line) for line in listed.read_text().splitlines()]) and all(p.exists() for p in paths):
            return paths
        apt = Apt(self.cache / "apt")
        say("fetching Debian's lists of packages into build/linux")
        apt.call("update", "-q")
        names = [name for name in apt.closure([self.package, *TOOLS]) if not UNUSED.match(name)]
        say(f"fetching {len(names)} packages into build/linux, some 130 MB for the first kernel")
        paths = apt.fetch(names)
        listed.write_text("".join(f"{path}\n" for path in paths))
        return paths

    def make(self):
        """From existing or fetched packages; by one process at a time."""
        if self.is_made():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.cache / ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.is_made():
                self.make_of(self.packages())

    def make_of(self, packages):
        say("making the guest of them")
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="root-") as name:
            root = pathlib.Path(name)
            unpack(packages, root)
            kernels = sorted((root / "boot").glob("vmlinuz-*"))
            if not kernels:
                raise Problem(f"{self.package} has no kernel: name a package such as {DEFAULT_KERNEL}")
            with contextlib.suppress(FileNotFoundError):
                (self.folder / "made").unlink()
            shutil.copyfile(kernels[-1], self.kernel)
            with open(self.initramfs, "wb") as file:
                write_initramfs(file, packages, root)
        (self.folder / "made").write_text(stamp())
