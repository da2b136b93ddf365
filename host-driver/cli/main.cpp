// The hartzone program: parses the command line, runs one command, turns an error into one sentence and an exit code.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <exception>
#include <malloc.h>
#include <string>
#include <vector>

#include "cli/called.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "version.hpp"

namespace {

constexpr size_t name_column = 30;

int fail(const char *what)
{
	std::fprintf(stderr, "hartzone: %s\n", hz::cli::as_called(what).c_str());
	return 1;
}

std::string versions()
{
	return std::string("hartzone ") + hz::program_version + "\nlibhartzone " + hz::library_version + "\nresult schema " +
	       hz::result_schema;
}

// Freed memory is soon needed again: with 128 KiB buffers the kernel would take and clear their
// pages each time.
void keep_memory()
{
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

// The commands run inside.
constexpr const char *optional_value = "--nvme-tcp"; // an option that may have a value

// CLI11 takes a -- after an option with an optional value as the end of its values: add a second
// one.
std::vector<char *> with_ends(int argc, char **argv)
{
	std::vector<char *> words(argv, argv + argc);
	const auto end = std::find(words.begin() + 1, words.end(), std::string("--"));
	const auto is = [&](ptrdiff_t back) { return end - words.begin() > back && end[-back] == std::string(optional_value); };
	const bool valued = end != words.begin() + 1 && end[-1][0] != '-';
	if (end != words.end() && (is(1) || (valued && is(2))))
		words.insert(end, *end);
	return words;
}

int parse(CLI::App &app, int argc, char **argv)
{
	std::vector<char *> words = with_ends(argc, argv);
	try {
		app.parse(static_cast<int>(words.size()), words.data());
		return 0;
	} catch (const CLI::RuntimeError &e) { // a command's own exit code
		return e.get_exit_code();
	} catch (const CLI::ParseError &e) {
		return app.exit(e) ? 2 : 0;
	} catch (const hz::Interrupted &e) {
		std::fprintf(stderr, "hartzone: %s, everything is cleaned up\n", e.what());
		return 130;
	} catch (const hz::ImageError &e) {
		fail(e.what());
		return 3;
	} catch (const std::exception &e) {
		return fail(e.what());
	}
}

} // namespace

int main(int argc, char **argv)
{
	keep_memory();
	CLI::App app("Multi-core zoned-flash SSD firmware on emulated RISC-V harts, with deterministic time.", "./hartzone");
	app.set_version_flag("--version", versions(), "Versions of the program, of libhartzone and of the schema of result.json");
	app.require_subcommand(1);
	hz::cli::name_in_help(app);
	app.get_formatter()->column_width(name_column);
	app.failure_message(hz::cli::usage_sentence);
	app.footer(
		"Each command has its own --help. Exit codes: 0 success, 1 failure, 2 wrong usage, 3 the NAND image is damaged or another "
		"device's, 4 the device of serve went dark at --power-cut-at, 130 interrupted.");
	hz::cli::add_run(app);
	hz::cli::add_info(app);
	hz::cli::add_compare(app);
	hz::cli::add_trace(app);
	hz::cli::add_image(app);
	hz::cli::add_verify(app);
	hz::cli::add_nvme(app);
	hz::cli::add_serve(app);
	hz::cli::add_fio(app);
	hz::cli::add_files(app);
	hz::cli::add_rocksdb(app);
	hz::cli::add_sqlite(app);
	hz::catch_interrupts();
	const int code = parse(app, argc, argv);
	try {
		hz::cli::flush_output();
		return code;
	} catch (const std::exception &e) {
		return code ? code : fail(e.what());
	}
}
