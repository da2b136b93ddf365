// Record: the lines of the file, written and read.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/record.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <cstring>
#include <fstream>

#include "session/machine/error.hpp"
#include "trace/record.hpp"
#include "trace/trace_file.hpp"

namespace hz::fabrics {

namespace {

constexpr std::string_view magic = "hartzone-record";
constexpr size_t bytes_a_line = 1024; // of ranges

std::string text(const char *format, auto... values)
{
	std::array<char, 256> line;
	const int length = std::snprintf(line.data(), line.size(), format, values...);
	return {line.data(), static_cast<size_t>(length)};
}

std::string hex_of(std::span<const std::byte> bytes)
{
	static constexpr char digits[] = "0123456789abcdef";
	std::string out;
	for (const std::byte byte : bytes) {
		out += digits[static_cast<unsigned>(byte) >> 4];
		out += digits[static_cast<unsigned>(byte) & 15];
	}
	return out;
}

std::string fields_of(const nvme_sqe &sqe)
{
	return text(" %x %x %x %x %x %x %x %x %x %x %x\n", sqe.opcode, sqe.flags, sqe.nsid, sqe.cdw2, sqe.cdw3, sqe.cdw10, sqe.cdw11,
		    sqe.cdw12, sqe.cdw13, sqe.cdw14, sqe.cdw15);
}

// The words of a line in order; an invalid one throws an Error with the line number.
class Words {
public:
	Words(const trace::TraceFile &file, std::string_view line) : file_(file), rest_(line) {}

	std::string_view word(const char *what)
	{
		rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
		const std::string_view word = rest_.substr(0, rest_.find(' '));
		if (word.empty())
			file_.fail(std::string("the line ends where ") + what + " should be");
		rest_.remove_prefix(word.size());
		return word;
	}
	uint64_t number(const char *what, uint64_t most, int base = 10)
	{
		const std::string_view digits = word(what);
		uint64_t value = 0;
		const auto [end, code] = std::from_chars(digits.begin(), digits.end(), value, base);
		if (code != std::errc() || end != digits.end() || value > most)
			file_.fail(std::string(what) + " should be a number of at most " + std::to_string(most) + ", not " +
				   std::string(digits));
		return value;
	}
	uint64_t named(std::string_view name, uint64_t most)
	{
		if (word("a name") != name)
			file_.fail("here should be \"" + std::string(name) + "\" and its number");
		return number("its value", most);
	}
	void expect_end() const
	{
		if (rest_.find_first_not_of(' ') != std::string_view::npos)
			file_.fail("the line has more words than it should have");
	}

private:
	const trace::TraceFile &file_;
	std::string_view rest_;
};

class RecordingReader {
public:
	template <class... Source> explicit RecordingReader(const Source &...source) : file_(source...) {}

	Recording read()
	{
		std::string_view line;
		if (!file_.next_line(line))
			file_.fail("the file is empty");
		read_head(line);
		while (file_.next_line(line)) {
			if (!out_.digest.empty())
				file_.fail("the recording goes on behind its end");
			read_line(line);
		}
		return std::move(out_);
	}

private:
	void read_head(std::string_view line)
	{
		Words words(file_, line);
		if (words.word("a name") != magic)
			file_.fail("this is no recording of ./hartzone serve --record: its first line would begin with " +
				   std::string(magic));
		if (const uint64_t version = words.number("the version", UINT32_MAX); version != record_version)
			file_.fail("this program reads version " + std::to_string(record_version) + " of recordings, not " +
				   std::to_string(version));
		out_.head.lanes = static_cast<unsigned>(words.named("lanes", HZ_MAX_IO_QUEUES));
		out_.head.depth = static_cast<unsigned>(words.named("depth", HZ_MAX_QUEUE_DEPTH));
		out_.head.turnaround_ns = static_cast<uint32_t>(words.named("turnaround", UINT32_MAX));
		out_.head.workers = static_cast<unsigned>(words.named("workers", HZ_MAX_HARTS));
		if (words.word("a name") != "device")
			file_.fail("here should be \"device\" and its name");
		out_.head.device = words.word("the device's name");
		words.expect_end();
		if (!out_.head.lanes || out_.head.depth < 2)
			file_.fail("a recording has at least one lane of at least two slots");
		ended_.resize(out_.head.lanes);
		latest_.resize(out_.head.lanes);
	}

	void read_line(std::string_view line)
	{
		Words words(file_, line);
		const std::string_view kind = words.word("the kind of line");
		if (kind == "s")
			read_command(words);
		else if (kind == "a")
			read_admin(words);
		else if (kind == "r")
			read_ranges(words);
		else if (kind == "c")
			read_completion(words);
		else if (kind == "end")
			read_end(words);
		else
			file_.fail("a line begins with s, a, r, c or end, not with " + std::string(kind));
		words.expect_end();
	}

	unsigned lane(Words &words)
	{
		const uint64_t lane = words.number("the lane", out_.head.lanes);
		if (!lane)
			file_.fail("lanes count from 1 on");
		return static_cast<unsigned>(lane);
	}

	void read_command(Words &words)
	{
		RecordedCommand command;
		command.lane = lane(words);
		command.arrival_ns = words.number("the arrival", HZ_ARRIVAL_MOST_NS);
		if (command.arrival_ns < latest_[command.lane - 1])
			file_.fail("a command arrives before the one in front of it in its lane");
		latest_[command.lane - 1] = command.arrival_ns;
		read_fields(words, command.sqe);
		ended_[command.lane - 1].push_back(false);
		push(std::move(command));
	}

	void read_fields(Words &words, nvme_sqe &sqe) const
	{
		sqe.opcode = static_cast<uint8_t>(words.number("the opcode", UINT8_MAX, 16));
		sqe.flags = static_cast<uint8_t>(words.number("the flags", UINT8_MAX, 16));
		uint32_t *const fields[] = {&sqe.nsid,  &sqe.cdw2,  &sqe.cdw3,  &sqe.cdw10, &sqe.cdw11,
					    &sqe.cdw12, &sqe.cdw13, &sqe.cdw14, &sqe.cdw15};
		for (uint32_t *field : fields)
			*field = static_cast<uint32_t>(words.number("a field of the command", UINT32_MAX, 16));
	}

	void read_admin(Words &words)
	{
		RecordedCommand command;
		command.arrival_ns = words.number("the arrival", HZ_ARRIVAL_MOST_NS);
		command.in_bytes = static_cast<uint32_t>(
			words.number("the number of bytes", uint64_t(HZ_MAX_TRANSFER_SECTORS) * HZ_SECTOR_BYTES));
		read_fields(words, command.sqe);
		push(std::move(command));
	}

	void push(RecordedCommand command)
	{
		command.completions_before = out_.completions.size();
		command.line = file_.number();
		out_.commands.push_back(std::move(command));
	}

	void read_ranges(Words &words)
	{
		const std::string_view hex = words.word("the ranges");
		if (out_.commands.empty() || hex.size() % 2)
			file_.fail("ranges are bytes of the command in front of them");
		auto &ranges = out_.commands.back().ranges;
		for (size_t i = 0; i < hex.size(); i += 2) {
			uint8_t value = 0;
			const char *end = hex.data() + i + 2;
			if (std::from_chars(hex.data() + i, end, value, 16).ptr != end)
				file_.fail("ranges are hexadecimal digits");
			ranges.push_back(std::byte(value));
		}
		if (ranges.size() > most_ranges)
			file_.fail("a command has at most " + std::to_string(most_ranges) + " bytes of ranges");
	}

	void read_completion(Words &words)
	{
		RecordedCompletion done;
		done.lane = lane(words);
		done.command = words.number("the command's number", UINT64_MAX);
		std::vector<bool> &ended = ended_[done.lane - 1];
		if (done.command >= ended.size())
			file_.fail("a command is completed that was not placed before");
		if (ended[done.command])
			file_.fail("a command is completed a second time");
		ended[done.command] = true;
		done.arrival_ns = words.number("the arrival", HZ_ARRIVAL_MOST_NS);
		done.completed_ns = words.number("the time of the completion", most_completion_ns);
		done.status = static_cast<uint16_t>(words.number("the status", UINT16_MAX, 16));
		done.result = words.number("the result", UINT64_MAX, 16);
		out_.completions.push_back(done);
	}

	void read_end(Words &words)
	{
		if (words.named("commands", UINT64_MAX) != out_.commands.size())
			file_.fail("the recording has another number of commands than its end says");
		if (words.word("a name") != "digest")
			file_.fail("here should be \"digest\" and its value");
		out_.digest = words.word("the digest");
	}

	static constexpr uint64_t most_completion_ns = UINT64_MAX / 4;
	static constexpr size_t most_ranges = 256 * sizeof(nvme_copy_range);

	trace::TraceFile file_;
	Recording out_;
	std::vector<std::vector<bool>> ended_; // of each lane its commands
	std::vector<uint64_t> latest_;         // of each lane
};

} // namespace

void RecordDigest::add(const RecordedCompletion &done)
{
	res::Digest &digest = lanes_[done.lane - 1];
	digest.u64(done.command);
	digest.u64(done.arrival_ns);
	digest.u64(done.completed_ns);
	digest.u16(done.status);
	digest.u64(done.result);
}

std::string RecordDigest::text() const
{
	res::Digest all;
	for (const res::Digest &lane : lanes_)
		all.u64(lane.value());
	return all.text();
}

std::span<const std::byte> ranges_of(const nvme_sqe &sqe, std::span<const std::byte> data)
{
	const bool has = sqe.opcode == NVME_IO_DATASET_MANAGEMENT || sqe.opcode == NVME_IO_COPY;
	return data.first(has ? std::min<uint64_t>(QueuePair::bytes_of(sqe), data.size()) : 0);
}

RecordedCompletion CommandNumbers::of(unsigned lane, const Completion &c) const
{
	return {lane, lanes_[lane - 1].command[c.cid], c.arrival_ns, c.completed_ns, c.result, c.status};
}

Recorder::Recorder(const std::filesystem::path &file, const RecordHead &head)
	: path_(file), file_(std::fopen(file.c_str(), "we")), numbers_(head.lanes, head.depth), digest_(head.lanes)
{
	if (!file_)
		throw_errno("--record cannot write " + file.string());
	write(text("%s %u lanes %u depth %u turnaround %u workers %u device ", magic.data(), record_version, head.lanes, head.depth,
		   head.turnaround_ns, head.workers) +
	      head.device + "\n");
}

Recorder::~Recorder() { std::fclose(file_); }

void Recorder::write(const std::string &line)
{
	if (std::fputs(line.c_str(), file_) < 0)
		throw_errno("--record cannot write " + path_.string());
}

void Recorder::write_command(const RecordedCommand &command)
{
	commands_++;
	write((command.lane ? text("s %u %" PRIu64, command.lane, command.arrival_ns)
			    : text("a %" PRIu64 " %u", command.arrival_ns, command.in_bytes)) +
	      fields_of(command.sqe));
	write_bytes(command.ranges);
}

void Recorder::write_completion(const RecordedCompletion &done)
{
	write(text("c %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %x %" PRIx64 "\n", done.lane, done.command, done.arrival_ns, done.completed_ns,
		   done.status, done.result));
}

void Recorder::placed(unsigned lane, uint16_t cid, uint64_t arrival_ns, const nvme_sqe &sqe, std::span<const std::byte> data)
{
	const auto ranges = ranges_of(sqe, data);
	numbers_.placed(lane, cid);
	write_command({.lane = lane, .arrival_ns = arrival_ns, .sqe = sqe, .ranges = {ranges.begin(), ranges.end()}});
}

void Recorder::admin(uint64_t at_ns, const nvme_sqe &sqe, uint32_t in_bytes, std::span<const std::byte> out)
{
	write_command({.arrival_ns = at_ns, .sqe = sqe, .ranges = {out.begin(), out.end()}, .in_bytes = in_bytes});
}

void Recorder::write_bytes(std::span<const std::byte> bytes)
{
	while (!bytes.empty()) {
		const size_t part = std::min(bytes.size(), bytes_a_line);
		write("r " + hex_of(bytes.first(part)) + "\n");
		bytes = bytes.subspan(part);
	}
}

void Recorder::completed(unsigned lane, const Completion &completion)
{
	const RecordedCompletion done = numbers_.of(lane, completion);
	digest_.add(done);
	write_completion(done);
}

void Recorder::write_end(const std::string &digest)
{
	write(text("end commands %" PRIu64 " digest ", commands_) + digest + "\n");
	if (std::fflush(file_))
		throw_errno("--record cannot write " + path_.string());
}

void Recorder::end() { write_end(digest_.text()); }

void Recorder::write_all(const Recording &recording)
{
	size_t written = 0;
	const auto completions_until = [&](size_t end) {
		while (written < end)
			write_completion(recording.completions[written++]);
	};
	for (const RecordedCommand &command : recording.commands) {
		completions_until(command.completions_before);
		write_command(command);
	}
	completions_until(recording.completions.size());
	if (!recording.digest.empty())
		write_end(recording.digest);
	else if (std::fflush(file_))
		throw_errno("--record cannot write " + path_.string());
}

void Recording::cut(uint64_t count)
{
	std::vector<uint64_t> kept(head.lanes + 1);
	uint64_t seen = 0;
	size_t end = 0;
	for (; end < commands.size() && (!commands[end].lane || seen < count); end++) {
		kept[commands[end].lane]++;
		seen += commands[end].lane != 0;
	}
	if (end == commands.size())
		return;
	commands.resize(end);
	std::erase_if(completions, [&](const RecordedCompletion &c) { return c.command >= kept[c.lane]; });
	digest.clear();
}

template <class... Source> static Recording read_from(const Source &...source)
{
	try {
		return RecordingReader(source...).read();
	} catch (const trace::TraceError &e) {
		throw Error(e.what());
	}
}

Recording read_recording(const std::string &file) { return read_from(file); }
Recording read_recording_of(std::string_view content, const std::string &name) { return read_from(content, name); }

bool is_recording(const std::string &file)
{
	try {
		trace::TraceFile content(file);
		return content.head().starts_with(magic);
	} catch (const trace::TraceError &) {
		return false;
	}
}

} // namespace hz::fabrics
