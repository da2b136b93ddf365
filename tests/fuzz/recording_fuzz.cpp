// Any text as a recording of a served device: one sentence with its line, or a recording whose commands arrive as recorded when its completions come
// as recorded, and that is the same after it was written and read again.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "fabrics/dependencies.hpp"
#include "session/machine/error.hpp"

using namespace hz::fabrics;

// That of the host driver also knows texts of NVMe.
void hz::throw_errno(const std::string &what) { throw Error(what); }

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_times(const Recording &recording, const std::vector<Wait> &waits)
{
	DependentTime time(recording, waits);
	uint64_t seen = 0, latest_ns = 0;
	for (size_t i = 0; i < recording.commands.size(); i++) {
		require(waits[i].completions >= seen && waits[i].completions <= recording.completions.size());
		for (; seen < waits[i].completions; seen++) {
			require(!time.is_due(i));
			const RecordedCompletion &done = recording.completions[seen];
			time.completed(done.lane, done.command, done.completed_ns);
		}
		require(time.is_due(i));
		require(time.arrival_ns(i) >= recording.commands[i].arrival_ns && time.arrival_ns(i) >= latest_ns);
		latest_ns = time.arrival_ns(i);
		time.began(i, latest_ns);
	}
}

static void check_written(const Recording &recording)
{
	static const std::string file = "/tmp/hz-recording-fuzz-" + std::to_string(getpid());
	{
		Recorder(file, recording.head).write_all(recording);
	}
	const Recording again = read_recording(file);
	unlink(file.c_str());
	require(again.commands.size() == recording.commands.size() && again.completions.size() == recording.completions.size());
	require(again.digest == recording.digest);
	for (size_t i = 0; i < again.commands.size(); i++) {
		require(again.commands[i].completions_before == recording.commands[i].completions_before);
		require(again.commands[i].ranges == recording.commands[i].ranges);
	}
}

static constexpr char head[] = "hartzone-record 1 lanes 3 depth 8 turnaround 10 workers 1 device d\n";

// Lines that are mostly legal: four bytes are a line, of which one is how much later than the line in front.
static std::string lines_of(const uint8_t *data, size_t size)
{
	std::string text = head;
	uint64_t now_ns = 100, placed[3] = {};
	std::vector<uint64_t> under_way[3];
	for (; size >= 4; data += 4, size -= 4) {
		const unsigned lane = data[1] % 3;
		const std::string name = std::to_string(lane + 1) + " ";
		std::vector<uint64_t> &mine = under_way[lane];
		now_ns += data[3];
		if (data[0] % 8 == 0) {
			text += "a " + std::to_string(now_ns) + " 0 6 0 1 0 0 0 0 0 0 0 0\n";
		} else if (data[0] % 8 == 1) {
			text += "r " + std::to_string(10 + data[2] % 90) + "\n";
		} else if (data[0] % 8 < 5 && !mine.empty()) {
			const auto which = mine.begin() + data[2] % mine.size();
			text += "c " + name + std::to_string(*which) + " 1 " + std::to_string(now_ns) + " 0 0\n";
			mine.erase(which);
		} else {
			text += "s " + name + std::to_string(now_ns + 10) + " 2 0 1 0 0 0 0 0 0 0 0\n";
			mine.push_back(placed[lane]++);
		}
	}
	return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	const std::string bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
	const std::string text = data[0] % 4 == 0 ? bytes : data[0] % 4 == 1 ? head + bytes : lines_of(data + 1, size - 1);
	try {
		Recording recording = read_recording_of(text, "fuzz");
		check_written(recording);
		check_times(recording, waits_of(recording, "fuzz"));
		recording.cut(2);
		check_times(recording, waits_of(recording, "fuzz"));
	} catch (const hz::Error &e) {
		require(std::string_view(e.what()).starts_with("fuzz:"));
	}
	return 0;
}
