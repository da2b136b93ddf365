/* Tailor: between a source and its thread, it turns writes to sequential zones into commands of
 * whole superpages, as IOTailor of ZMS does.
 *
 * A write is cut at the end of a superpage; parts of one superpage wait in host memory, in their
 * zone's queue, and leave as one command. An incomplete one leaves when it must: before a Flush,
 * with a durable write, before a command of its zone, after the time limit, or when the workload is
 * blocked by it. A write ends for the source when all its data are in the device, so acknowledged
 * data are never in host memory only. All other commands pass. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "replay/tailor_figures.hpp"
#include "workload/source.hpp"

#include <deque>
#include <map>
#include <memory>

namespace hz::replay {

/* Sizes in sectors. */
struct TailorRules {
	uint32_t unit = 96;                                       /* a superpage; counted from the start of each zone */
	uint64_t memory = 768;                                    /* of unfinished writes; one is always accepted */
	uint64_t hold_ns = 10000000;                              /* a write is held so long at most */
	uint64_t first_lba = 0, zone_size = 0, zone_capacity = 0; /* the sequential zones */
	uint32_t max_transfer = 128;
};

class Tailor : public wl::Source {
public:
	Tailor(const TailorRules &rules, std::unique_ptr<wl::Source> source) : rules_(rules), source_(std::move(source)) {}

	void at(uint64_t ns) override { now_ns_ = ns; }
	wl::Step next(wl::Request &request) override;
	void complete(const wl::Request &request, uint16_t status, uint64_t result) override;
	uint64_t newest_version(const wl::Request &r, uint32_t index) override { return source_->newest_version(r, index); }
	uint64_t newest_zeros(const wl::Request &r, uint32_t index) override { return source_->newest_zeros(r, index); }
	bool provokes(uint16_t status) const override { return source_->provokes(status); }
	void begin_measurement() override;
	uint32_t progress_ppm() const override { return source_->progress_ppm(); }
	std::vector<wl::LiveSector> live() override { return source_->live(); }
	nlohmann::json cost() const override { return source_->cost(); }
	const TailorFigures &figures() const { return figures_; }

private:
	struct Write { /* of the source, from its begin until it ends */
		wl::Request request;
		uint64_t taken_ns = 0;
		uint32_t commands = 0; /* that carry parts of it and have not ended, including a held one */
		bool grouped = false;
		uint16_t status = 0;
		uint64_t result = 0;
	};
	struct Held { /* the incomplete superpage of a zone */
		wl::Request command;
		std::vector<uint32_t> writes; /* indices of the writes with parts in it, in order */
		uint64_t since_ns = 0, last_ns = 0;
	};
	struct Ready {
		wl::Request request;
		uint64_t at_ns; /* arrives then, or as soon as it can */
	};
	struct Zone {
		Held held;
		uint32_t under_way = 0; /* commands that are ready or issued */
	};

	wl::Step fetch();
	void place();
	wl::Step wait(wl::Step step, Release why);
	bool is_tailored(const wl::Request &request) const;
	bool is_barrier(const wl::Request &request) const;
	bool pass_barrier();
	void take_write();
	uint32_t put_part(uint32_t write, uint64_t lba, uint32_t skipped);
	bool release(Zone &zone, Release why, uint64_t at_ns);
	bool release_all(Release why);
	bool release_oldest(Release why);
	bool release_held_since(uint64_t now_ns);
	void emit(Held held, Zone &zone, uint64_t at_ns);
	void issue(wl::Request &request);
	void end_part(uint32_t write, uint16_t status, uint64_t result);
	uint64_t zone_of(uint64_t lba) const { return lba / rules_.zone_size; }

	TailorRules rules_;
	std::unique_ptr<wl::Source> source_;
	wl::Request pending_; /* taken from the source, not placed yet */
	uint64_t pending_ns_ = 0;
	bool have_pending_ = false, ended_ = false;
	std::map<uint64_t, Zone> zones_;
	std::map<uint64_t, std::vector<uint32_t>> commands_; /* by LBA: the writes of each ready or issued command */
	std::vector<Write> writes_;
	std::vector<uint32_t> free_writes_;
	std::deque<Ready> ready_;
	uint64_t sectors_ = 0, held_sectors_ = 0; /* of unfinished writes; of held parts */
	uint32_t under_way_ = 0;
	uint64_t now_ns_ = 0, taken_ns_ = 0, issued_ns_ = 0; /* current time; arrival of the last write taken, and of the last command
							      * issued */
	TailorFigures figures_;
};

} // namespace hz::replay
