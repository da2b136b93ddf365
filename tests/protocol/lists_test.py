"""The lists that C, C++ and Python share: every entry is used where it says, and the documents show them as they are."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import schema  # noqa: E402

# Possible readers of a key: the device itself, computations from the config on both sides, and the
# code that starts the machine.
READERS = ["firmware", "protocol/geometry.c", "protocol/dump_size.c", "protocol/namespaces.c", "protocol/nand_image.c", "protocol/slc_log_size.c", "host-driver/session"]
NO_READERS = {"check", "bench"}  # folders of test images


def sources(places):
    for place in places:
        path = TOP / place
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.suffix in (".c", ".h", ".cpp", ".hpp") and not NO_READERS & set(file.relative_to(TOP).parts):
                yield file.read_text()


class Lists(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.readers = re.sub(r"/\*.*?\*/|//[^\n]*", "", "\n".join(sources(READERS)), flags=re.S)

    def test_every_key_of_a_device_has_a_reader(self):
        for field in schema.device_fields():
            if field["section"].split(".")[0] in ("clock", "energy"):
                continue
            member = field["member"].split(".")[-1]
            with self.subTest(key=f"{field['section']}.{field['key']}", member=field["member"]):
                self.assertRegex(self.readers, rf"\b(cfg|config_?|costs|region|timing)(->|\.)(slc\.|normal\.)?{member}\b", "nothing reads it: a file that sets it changes nothing")

    def test_every_cost_of_the_clock_is_an_option_of_the_plugin(self):
        """The host hands the whole section over, key by key."""
        self.assertIn("conf::clock_words(config)", self.readers)
        self.assertIn('strcmp(field.section, "clock")', (TOP / "host-driver/config/device_names.cpp").read_text())
        options = (TOP / "vclock/base/options.c").read_text()
        for field in schema.device_fields():
            if field["section"] == "clock":
                with self.subTest(key=field["key"]):
                    self.assertRegex(options, rf'COST_KEY\({field["key"]}\)|{{ "{field["key"]}",')

    def test_every_key_of_the_energy_is_the_hosts(self):
        """The driver works it out from what the device counted: another key, the same digest."""
        text = (TOP / "host-driver/results/energy.cpp").read_text()
        fields = [field for field in schema.device_fields() if field["section"].split(".")[0] == "energy"]
        self.assertEqual(len(fields), 11)
        for field in fields:
            with self.subTest(key=f"{field['section']}.{field['key']}"):
                self.assertRegex(text, rf"\bcosts\.{field['member'].split('.')[1]}\b", "nothing reads it: a file that sets it changes nothing")
                self.assertNotRegex(self.readers, rf"\b{field['member'].split('.')[1]}\b", "the device must not know it")

    def test_lock_classes_have_locks_where_they_say_so(self):
        for lock_class in schema.lock_classes():
            with self.subTest(lock_class["name"]):
                made = re.search(rf"lt_lock_init\([^;]*\bHZ_LC_{lock_class['constant']}\b", self.readers)
                stands_for_all = f"lt_locks_share_one(HZ_LC_{lock_class['constant']})" in self.readers
                self.assertEqual(bool(made), lock_class["shards"] in ("SHARDED", "SINGLE"))
                self.assertEqual(stands_for_all, lock_class["shards"] == "ONE")

    def test_every_logical_lock_is_had_and_waited_for(self):
        for one in schema.logical_locks():
            with self.subTest(one["name"]):
                self.assertIn(f"lt_tell_had(HZ_LOGICAL_{one['constant']})", self.readers)
                self.assertRegex(self.readers, rf"(lt_logical_wait|io_wait|waiter_ask)\([^;]*\bHZ_LOGICAL_{one['constant']}\b")

    def test_every_stage_has_its_code(self):
        script = (TOP / "firmware/boot/memory.ld").read_text()
        self.assertEqual(re.findall(r"\bstage_(\w+) = \.;", script), [stage["name"] for stage in schema.stages()])
        files = re.findall(r"^\t\t\*libhz_(\w+)\.a:(?:(\w+)\.c\.o)?\*\(\.text \.text\.\*\)$", script, re.M)
        self.assertEqual(len(files), script.count("*libhz_"), "a line of another form finds no code")
        for library, file in filter(all, files): # the others take what is left of a library
            folder = TOP / ("libthread" if library == "libthread" else f"firmware/{library}")
            self.assertTrue(any(folder.rglob(f"{file}.c")), f"{library} has no {file}.c")

    def test_every_kind_of_lock_has_its_file(self):
        for name in schema.lock_kind_names():
            text = (TOP / "libthread" / "locks" / f"{name}.c").read_text()
            self.assertIn(f"const struct lt_lock_ops lt_{name}_ops", text)

    def test_libthread_knows_no_device(self):
        for text in sources(["libthread/include", "libthread/locks", "libthread/src", "libthread/port"]):
            self.assertNotRegex(text, r"device_config|device_fields|lock_classes|logical_locks\.|\bHZ_LC_|\bHZ_LOGICAL_|\blogs\.h")

    def test_records_of_log_pages_lie_where_a_compiler_puts_them(self):
        names = re.findall("<!-- table: record (.+?) -->", (TOP / "docs/reference/log-pages.md").read_text())
        text = "".join((TOP / "protocol" / name).read_text() for name in ("logs.h", "thread_logs.h"))
        self.assertEqual(sorted(names), sorted(set(re.findall(r"^struct (\w+) \{", text, re.M))), "each has a table")
        lines = [f'_Static_assert(offsetof(struct {name}, {field.partition("[")[0]}) == {at}, "{name}.{field}");' for name in names
                 for at, _, field, _ in schema.record(name) if field]
        lines += [f'_Static_assert(sizeof(struct {name}) == {end}, "{name}");' for name in names
                  for end in [max(at + size for at, size, *_ in schema.record(name))]]
        self.assertGreater(len(lines), 100)
        with tempfile.TemporaryDirectory(prefix="hz-lists-") as made:
            subprocess.run([sys.executable, "-B", TOP / "scripts/device-headers", "--out", made], check=True)
            run = subprocess.run(["cc", "-std=c11", "-fsyntax-only", "-I", TOP / "protocol", "-I", made, "-x", "c", "-"], text=True, capture_output=True,
                                 check=False, input="\n".join(["#include <stddef.h>", '#include "device_config.h"', '#include "logs.h"', *lines, ""]))
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_the_documents_show_the_lists(self):
        run = subprocess.run([sys.executable, TOP / "scripts" / "update-docs", "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
