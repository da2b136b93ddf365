// The fio command: runs fio jobs on a new or a running device.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/child.hpp"
#include "cli/command.hpp"
#include "cli/visit.hpp"
#include "session/machine/descriptor.hpp"
#include "session/machine/error.hpp"
#include "session/machine/locate.hpp"
#include "session/machine/process.hpp"

namespace hz::cli {

namespace {

// Defaults for options not set by the jobs, as a [global] section.
std::vector<std::string> fio_words(const std::vector<std::string> &own, const std::vector<std::string> &words)
{
	std::vector<std::string> all{"fio", "--ioengine=external:" + locate_fio_engine().string(), "--filename=hartzone", "--direct=1",
				     "--verify_state_save=0"};
	all.insert(all.end(), own.begin(), own.end());
	all.insert(all.end(), words.begin(), words.end());
	return all;
}

// Before anything is booted: fio itself reads its words and job files.
void check_jobs(const std::vector<std::string> &words)
{
	if (find_program("fio").empty())
		throw Error("fio is not installed: ./hartzone setup of the source tree installs it, as does apt-get install fio");
	if (words.empty())
		throw Error("say which job: a job file, or options of fio such as --name=a --rw=read --bs=4k");
	for (const std::string &word : words)
		if (word.starts_with("-") && !word.starts_with("--"))
			throw Error(word + " is an option that fio passes over: its options begin with --");
	if (const Printed said = listen_to(fio_words({"--parse-only"}, words)); said.code)
		throw Error("fio does not take these words or that job file: " + said.text);
}

// Begin and end marks of each job (fio_engine.c).
class Marks {
public:
	Marks() : file_(memfd_create("marks", MFD_CLOEXEC))
	{
		if (!file_)
			throw_errno("no memory for what the jobs say");
	}
	std::string setting() const
	{
		return "HARTZONE_FIO_MARKS=/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_.get());
	}

	// fio itself exits with 0 even if the process of a job was killed.
	void require_ends() const
	{
		std::string marks(size_t(lseek(file_.get(), 0, SEEK_END)), 0);
		marks.resize(size_t(std::max<ssize_t>(pread(file_.get(), marks.data(), marks.size(), 0), 0)));
		const auto begun = std::count(marks.begin(), marks.end(), 'b'), ended = std::count(marks.begin(), marks.end(), 'e');
		if (begun != ended)
			throw Error(std::to_string(begun - ended) + " of " + std::to_string(begun) +
				    " jobs of fio were killed before their end: what fio prints of them is not what they did");
	}

private:
	Descriptor file_;
};

void run_jobs(const VisitFlags &flags, const std::vector<std::string> &words)
{
	check_jobs(words);
	flags.folder();
	Visit visit(flags);
	std::vector<std::string> own, settings;
	if (visit.machine().config().namespace_kind == HZ_NS_ZONED)
		own.push_back("--zonemode=zbd");
	if (visit.machine().region().virtual_clock())
		settings.push_back("HARTZONE_DEVICE_LATENCY=1");
	const Marks marks;
	settings.push_back(marks.setting());
	try {
		visit.run({.words = fio_words(own, words), .settings = settings});
	} catch (...) { // fio itself may crash when one of its jobs is killed
		marks.require_ends();
		throw;
	}
	marks.require_ends();
}

} // namespace

void add_fio(CLI::App &app)
{
	auto flags = std::make_shared<VisitFlags>();
	CLI::App *command = app.add_subcommand("fio", "Run jobs of fio on a device");
	flags->add_to(*command, "real");
	command->prefix_command();
	command->footer(
		"Behind these options: job files and options of fio. The engine, the device, direct=1 and verify_state_save=0 are put in, and zonemode=zbd where\n"
		"the device has zones; jobs that name other ones get these. bs is a multiple of 4k. Each job has a queue of its own, and may name its\n"
		"namespace with nsid, such as --nsid=2. --image keeps the flash from one call to the next, and serve the device. With --clock virtual each\n"
		"job also reports latencies in device time, next to fio's own in host time; one job at a time makes them repeatable.\n"
		"Examples:\n"
		"  ./hartzone fio --device small --name=a --rw=write --bs=16k --size=1m --verify=crc32c\n"
		"  ./hartzone fio --device small --clock virtual --name=a --rw=randwrite --bs=16k --size=1m --iodepth=4 --max_open_zones=4");
	command->callback([flags, command] { run_jobs(*flags, command->remaining()); });
}

} // namespace hz::cli
