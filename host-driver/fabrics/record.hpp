// Record: every I/O command that a served device got, and when, so that it can be repeated without the host that sent it.
//
// A text file (docs/reference/format.md): a line for each command as it is placed, and one for each completion as it is handed over, in that order,
// so that it also says what a command may have waited for.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nvme.h"
#include "results/digest.hpp"
#include "session/nvme/queue_pair.hpp"

namespace hz::fabrics {

constexpr unsigned record_version = 1;

// Conditions for equal times.
struct RecordHead {
	std::string device; // its name
	unsigned workers = 0, lanes = 0, depth = 0;
	uint32_t turnaround_ns = 0;
};

// A command in its lane; lanes count from 1 on, as queue ids. Lane 0: an admin command; device time
// stood at its arrival.
struct RecordedCommand {
	unsigned lane = 0;
	uint64_t arrival_ns = 0;
	nvme_sqe sqe{};                  // but for id and PRPs
	std::vector<std::byte> ranges;   // of Deallocate and Copy; of an admin command all its data
	uint32_t in_bytes = 0;           // that an admin command returned
	uint64_t completions_before = 0; // that were handed over before it came
	uint64_t line = 0;               // of the file
};
struct RecordedCompletion {
	unsigned lane = 0;
	uint64_t command = 0; // of the lane's, from 0 on
	uint64_t arrival_ns = 0, completed_ns = 0, result = 0;
	uint16_t status = 0;
};

// Of the device's answers, per lane in lane order.
class RecordDigest {
public:
	explicit RecordDigest(unsigned lanes) : lanes_(lanes) {}
	void add(const RecordedCompletion &completion);
	std::string text() const;

private:
	std::vector<res::Digest> lanes_;
};

// The bytes of a command's data that hold block ranges; empty for others.
std::span<const std::byte> ranges_of(const nvme_sqe &sqe, std::span<const std::byte> data);

// Maps completions to command numbers.
class CommandNumbers {
public:
	CommandNumbers(unsigned lanes, unsigned depth) : lanes_(lanes, Lane{0, std::vector<uint64_t>(depth)}) {}
	void placed(unsigned lane, uint16_t cid) { lanes_[lane - 1].command[cid] = lanes_[lane - 1].placed++; }
	RecordedCompletion of(unsigned lane, const Completion &completion) const;

private:
	struct Lane {
		uint64_t placed;
		std::vector<uint64_t> command; // by id
	};
	std::vector<Lane> lanes_;
};

class Recorder {
public:
	// Throws Error if the file cannot be written.
	Recorder(const std::filesystem::path &file, const RecordHead &head);
	~Recorder();
	Recorder(const Recorder &) = delete;
	Recorder &operator=(const Recorder &) = delete;

	void placed(unsigned lane, uint16_t cid, uint64_t arrival_ns, const nvme_sqe &sqe, std::span<const std::byte> data);
	// At its start; at_ns: the standing device time.
	void admin(uint64_t at_ns, const nvme_sqe &sqe, uint32_t in_bytes, std::span<const std::byte> out);
	// A completion that is handed over; per lane in the device's order.
	void completed(unsigned lane, const Completion &completion);
	// The last line: how many commands, and their digest. Without it a recording is one that was cut off.
	void end();
	// A whole recording, with its own digest, if it has one; instead of all the others.
	void write_all(const struct Recording &recording);
	std::string digest() const { return digest_.text(); }
	uint64_t commands() const { return commands_; }

private:
	void write(const std::string &text);
	void write_command(const RecordedCommand &command);
	void write_completion(const RecordedCompletion &done);
	void write_end(const std::string &digest);
	void write_bytes(std::span<const std::byte> bytes);

	std::filesystem::path path_;
	std::FILE *file_;
	CommandNumbers numbers_;
	RecordDigest digest_;
	uint64_t commands_ = 0;
};

struct Recording {
	RecordHead head;
	std::vector<RecordedCommand> commands;       // in the order of placement
	std::vector<RecordedCompletion> completions; // in the order of hand-over
	std::string digest;                          // empty: the recording was cut off

	// Drops all but the first I/O commands, and their completions.
	void cut(uint64_t count);
};
// The file may be compressed. Throws Error "file:line: …".
Recording read_recording(const std::string &file);
// Of text in memory, for tests and fuzzing; `name` is used in messages.
Recording read_recording_of(std::string_view content, const std::string &name);
// Does it begin as one? False too if it cannot be read.
bool is_recording(const std::string &file);

} // namespace hz::fabrics
