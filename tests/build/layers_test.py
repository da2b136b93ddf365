"""The compiler guards the layers of scripts/layers.cmake: each source is compiled as its folder's, a forbidden include does not compile, and
none gets around."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import sources  # noqa: E402

BUILD = pathlib.Path(os.environ["HARTZONE_BUILD"])
FIRMWARE_BUILD = pathlib.Path(os.environ["HARTZONE_FIRMWARE_DIR"])
FOLDERS = ("protocol/", "libthread/", "firmware/", "vclock/", "host-driver/")
ROOTS = ("vclock", "firmware/ftl")  # these may use all folders below them, by the names that they have there
OTHER_PATHS = re.compile(r"libthread/(?:src|locks|include|port/\w+)$|firmware/platform/libc$|host-driver/include$|/generated$|build/tools/fio-[^/]+$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
MAY = {  # a source, and what its folder may include
    "firmware/nand/nand_media.c": ("link.h", "lt/arena.h", "nand/nand.h"),
    "firmware/ftl/zone/zone.c": ("map/l2p.h", "block/superblock.h", "tsu/tsu_mount.h"),
    "firmware/ftl/cache/cache_io.c": ("conventional/conventional.h", "zone/zone.h"),  # zone is PUBLIC there
    "firmware/hil/queue/fetch.c": ("port/ftl_port.h", "boundary/boundary.h"),
    "vclock/cost/line.c": ("guest/memory.h", "schedule/token.h"),
    "host-driver/session/machine/machine.cpp": ("config/device_names.hpp", "shm.h"),
    "host-driver/image/image_check.cpp": ("ftl.h", "nand/nand_media.h"),
}
MAY_NOT = {
    "libthread/src/hart.c": ("nand/nand_media.h", "sgl.h", "hil/hil.h"),
    "firmware/nand/nand_media.c": ("ftl.h", "zone/zone.h", "tsu/tsu.h", "port/ftl_port.h", "hil/hil.h"),
    "firmware/tsu/tsu.c": ("port/ftl_port.h", "request/io.h", "patterns/flash_patterns.h"),
    "firmware/ftl/map/l2p.c": ("zone/zone.h", "buffer/buffer.h", "block/superblock.h"),
    "firmware/ftl/zone/zone.c": ("hil/hil.h", "hil/ports/ports.h", "conventional/conventional.h", "mount/mount.h", "ftl.h"),
    "firmware/ftl/cache/cache_io.c": ("block/superblock.h", "map/l2p.h"),  # PRIVATE there
    "firmware/hil/queue/fetch.c": ("ftl.h", "map/l2p.h", "hil/controller/admin.h", "platform/platform.h"),
    "firmware/hil/hil.c": ("ftl.h", "zone/zone.h"),
    "vclock/cost/line.c": ("profile/lock_profile.h", "race/race.h", "config/device_yaml.hpp"),
    "vclock/guest/memory.c": ("schedule/token.h",),
    "host-driver/session/machine/machine.cpp": ("apps/hzfs/file.hpp", "session/nvme/link.hpp", "session/controller.hpp", "cli/options.hpp"),
    "host-driver/session/controller.cpp": ("apps/rocksdb/load.hpp", "replay/runner.hpp", "session/capi/c_api.hpp"),
    "host-driver/trace/reader.cpp": ("workload/spec.hpp", "session/controller.hpp", "nand_image.h"),
    "host-driver/apps/hzfs/inode.cpp": ("session/controller.hpp", "apps/hzfs/stack/file_stack.hpp"),
    "host-driver/replay/runner.cpp": ("cli/run_workload.hpp", "keep/kept_port.hpp", "ftl.h"),
}
ONLY_IN_THE_IMAGE = {
    "firmware/main/hil_port.c": ("ftl.h", "zone/zone.h"),
    "firmware/boot/trap.c": ("nand/nand.h",),
    "firmware/platform/console.c": ("hil/hil.h", "boot.h"),
}


def compiled(build):
    """Source → (folder, command, the command's file, which may have several sources together) of the products' own objects."""
    out = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        command = shlex.split(entry["command"])
        together = re.findall(r'^#include "([^"]+)"', pathlib.Path(entry["file"]).read_text(encoding="utf-8"), re.M) if "/Unity/" in entry["file"] else ()
        for source in together or [entry["file"]]:
            name = os.path.relpath(source, TOP)
            if name.startswith(FOLDERS) and not command[command.index("-o") + 1].startswith(("tests/", "bench/")):
                out[name] = entry["directory"], command, entry["file"]
    return out


def paths(command):
    """Folders of headers of our own that it names."""
    named = [word[2:] for word in command if word.startswith("-I")]
    named += [after for word, after in zip(command, command[1:]) if word == "-isystem"]
    return [path for path in named if path.startswith(str(TOP))]


def complaint(commands, source, include):
    """What the compiler says of a file with this include, compiled as the source is."""
    folder, command, file = commands[source]
    with tempfile.TemporaryDirectory(prefix="hz-layers-") as scratch:
        path = pathlib.Path(scratch) / ("one" + pathlib.Path(source).suffix)
        path.write_text(f'#include "{include}"\n', encoding="utf-8")
        words = re.sub(r" -Xclang -include(?:-pch)? -Xclang \S+", "", " ".join(command[:command.index("-o")])).split(" ")  # with nothing included before
        words = [word for word in words if word != file]
        words += ["-w", "-fsyntax-only", "-c", str(path)]
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False).stderr


class Layers(unittest.TestCase):
    def refused(self, build, table):
        commands, shown = compiled(build), list((build / "layers").glob("*/**/*"))
        for source, includes in table.items():
            for include in includes:
                with self.subTest(f"{source} includes {include}"):
                    self.assertTrue(any(str(path).endswith("/" + include) and path.exists() for path in shown))
                    self.assertRegex(complaint(commands, source, include), f"{re.escape(include)}.*(?:No such file|not found)")

    def test_a_legal_include_compiles(self):
        commands = compiled(BUILD)
        for source, includes in MAY.items():
            for include in includes:
                with self.subTest(f"{source} includes {include}"):
                    self.assertEqual(complaint(commands, source, include), "")

    def test_a_forbidden_include_does_not_compile(self):
        self.refused(BUILD, MAY_NOT)

    def test_nor_in_what_only_the_image_has(self):
        if not (FIRMWARE_BUILD / "compile_commands.json").exists():
            self.skipTest("the firmware is not built here")
        self.refused(FIRMWARE_BUILD, ONLY_IN_THE_IMAGE)

    def test_each_source_is_compiled_as_its_folders(self):
        for build in (BUILD, FIRMWARE_BUILD):
            if not (build / "compile_commands.json").exists():
                continue
            commands = compiled(build)
            self.assertGreater(len(commands), 100)
            for source, (_, command, _) in commands.items():
                layers = [path for path in paths(command) if path.startswith(f"{build}/layers/")]
                others = [path for path in paths(command) if path not in layers and not OTHER_PATHS.search(path)]
                with self.subTest(source):
                    self.assertEqual(others, [], "a path to more than the headers of a layer")
                    own = str(build / "layers" / os.path.dirname(source).replace("/", "."))
                    self.assertTrue(own in layers or source.startswith("libthread/"), f"not compiled as of {os.path.dirname(source)}")

    def test_no_include_names_another_folder_from_its_own(self):
        """The compiler would find it there, whatever the paths are."""
        for name in sources.names():
            path = TOP / name
            if name.startswith(FOLDERS) and path.suffix in (".c", ".h", ".cpp", ".hpp", ".def", ".S"):
                for include in INCLUDE.findall(path.read_text(encoding="utf-8")):
                    with self.subTest(f"{name} includes {include}"):
                        self.assertNotIn("..", include.split("/"))
                        below = "/" in include and (path.parent / include).exists()
                        self.assertFalse(below and os.path.dirname(name) not in ROOTS, "a folder's own header has no folder in its name")

    def test_a_layer_may_use_only_those_above_it_in_the_list(self):
        with tempfile.TemporaryDirectory(prefix="hz-layers-") as scratch:
            for line, said in (("hz_layer(firmware/ftl/planted PUBLIC later)", "firmware/ftl/planted may not use later: no layer declared above it"),
                               ("hz_layer(firmware/ftl/planted PUBLIC zone PRIVATE port)", "")):
                pathlib.Path(scratch, "CMakeLists.txt").write_text(
                    f"cmake_minimum_required(VERSION 3.25)\nproject(planted NONE)\ninclude({TOP}/scripts/layers.cmake)\n{line}\n", encoding="utf-8")
                run = subprocess.run(["cmake", "-S", scratch, "-B", f"{scratch}/build"], capture_output=True, text=True, check=False)
                with self.subTest(line):
                    self.assertEqual(run.returncode != 0, bool(said), run.stderr)
                    self.assertIn(said, " ".join(run.stderr.split()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
