/* A phase's answers: recorded on their way to a thread, encoded as JSON, and replayed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/recorded_phase.hpp"

#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"

namespace hz::replay {
namespace {

using nlohmann::json;

constexpr uint32_t no_cid = UINT32_MAX;

/* One list for each member: similar numbers are adjacent and share a name. */
constexpr struct {
	const char *name;
	uint64_t RecordedPhase::Answer::*member;
} columns[] = {
	{"command", &RecordedPhase::Answer::command},
	{"result", &RecordedPhase::Answer::result},
	{"arrival_ns", &RecordedPhase::Answer::arrival_ns},
	{"completed_ns", &RecordedPhase::Answer::completed_ns},
};

/* Digest of a command with the data that it writes. */
void note_asked(res::Digest &digest, const wl::Request &r)
{
	digest.u16(uint16_t(r.op));
	digest.u64(r.lba);
	digest.u64(r.sectors | uint64_t(r.fua) << 32 | uint64_t(r.durable) << 33 | uint64_t(r.placement) << 34);
	if (r.op != wl::Op::write && r.op != wl::Op::append)
		return;
	for (const wl::Stamp &stamp : r.stamps) {
		digest.u64(stamp.key);
		digest.u64(stamp.version);
	}
}

} // namespace

json to_json(const RecordedPhase &phase)
{
	json out = {{"asked", phase.asked}};
	for (const auto &column : columns) {
		std::vector<uint64_t> values;
		for (const RecordedPhase::Answer &answer : phase.answers)
			values.push_back(answer.*column.member);
		out[column.name] = values;
	}
	return out;
}

RecordedPhase recorded_phase(const json &from)
{
	RecordedPhase phase;
	try {
		phase.asked = from.at("asked").get<uint64_t>();
		phase.answers.resize(from.at("command").size());
		for (const auto &column : columns) {
			const auto values = from.at(column.name).get<std::vector<uint64_t>>();
			if (values.size() != phase.answers.size())
				throw Error("a recorded phase has lists of different lengths");
			for (size_t i = 0; i < values.size(); i++)
				phase.answers[i].*column.member = values[i];
		}
	} catch (const json::exception &e) {
		throw Error(std::string("a recorded phase cannot be read: ") + e.what());
	}
	return phase;
}

uint64_t RecordingPort::submit(uint16_t cid, const wl::Request &request, uint64_t arrival_ns)
{
	note_asked(asked_, request);
	if (cid >= command_.size())
		command_.resize(cid + 1u);
	command_[cid] = submitted_++;
	return behind_.submit(cid, request, arrival_ns);
}

std::span<const Completion> RecordingPort::wait(unsigned wanted)
{
	const std::span<const Completion> seen = behind_.wait(wanted);
	for (const Completion &done : seen)
		phase_.answers.push_back({command_[done.cid], done.result, done.arrival_ns - start_ns_, done.completed_ns - start_ns_});
	return seen;
}

RecordedPhase RecordingPort::recorded() const
{
	RecordedPhase phase = phase_;
	phase.asked = asked_.value();
	return phase;
}

void RecordedPort::misfit() { throw Error("internal: a recorded preparation is not that of this workload"); }

std::optional<uint16_t> RecordedPort::acquire()
{
	if (free_.empty())
		return ids_++;
	const uint16_t cid = free_.back();
	free_.pop_back();
	return cid;
}

uint64_t RecordedPort::submit(uint16_t cid, const wl::Request &request, uint64_t arrival_ns)
{
	note_asked(asked_, request);
	cid_.push_back(cid);
	return arrival_ns;
}

std::span<const Completion> RecordedPort::wait(unsigned)
{
	check_interrupted();
	if (next_ == phase_.answers.size())
		misfit();
	const RecordedPhase::Answer &answer = phase_.answers[next_++];
	if (answer.command >= cid_.size() || cid_[answer.command] == no_cid)
		misfit();
	done_ = {.cid = uint16_t(cid_[answer.command]),
		 .status = 0,
		 .do_not_retry = false,
		 .result = answer.result,
		 .arrival_ns = answer.arrival_ns,
		 .completed_ns = answer.completed_ns};
	cid_[answer.command] = no_cid;
	return {&done_, 1};
}

void RecordedPort::require_end() const
{
	if (next_ != phase_.answers.size() || asked_.value() != phase_.asked)
		misfit();
}

} // namespace hz::replay
