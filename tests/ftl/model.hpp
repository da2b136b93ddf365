// A simple reference model of the namespace's sequential zones, and a driver that runs batches of operations against FTL and model, with power cuts.
//
// Within a batch every zone's operations go to one worker in order, so their outcome is known; zones run side by side.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <map>
#include <random>

#include "ftl_rig.hpp"

namespace ftl_rig {

struct ModelZone {
	std::vector<uint64_t> tags; // content of every accepted sector, by offset
	uint32_t accepted = 0;      // offset of the next write of the batch
	uint32_t acked = 0;         // sectors of completed writes
	uint32_t durable = 0;       // sectors that must survive a power cut
	bool full = false, finish_pending = false, reset_pending = false;
	bool explicit_open = false;
	bool stays_full = false; // in spite of power cuts: its finish was acknowledged, or a start has found it FULL
	bool unsure = false;     // an operation of the batch was cut off: those behind it may have found nothing done of it
};

struct Op {
	ftl_op kind;
	uint32_t zone, sectors;
	uint8_t flags;
};

class Driver {
public:
	Driver(Rig &rig_, uint64_t seed)
		: rig(rig_), random(seed), first(static_cast<uint32_t>(rig_.shape.conventional_zones)), zones(rig_.shape.zones - first)
	{
	}

	uint32_t capacity() const { return static_cast<uint32_t>(rig.shape.zone_capacity_sectors); }
	uint32_t roll(uint32_t n) { return static_cast<uint32_t>(random() % n); }

	// Runs the batch to its end, or until power is cut: then returns false.
	bool run_batch(const std::vector<Op> &ops);
	// The same in two parts, for a batch that runs with another model's.
	void begin(const std::vector<Op> &ops);
	bool end();
	// Resets the controller in the middle of the batch, and stops when it has ended. Returns the time that took.
	uint64_t run_cancelled_batch(const std::vector<Op> &ops, uint64_t after_ns);
	std::vector<Op> random_batch(uint32_t most = 6);
	// After a boot: every zone has its durable content, or newer; the model adopts it.
	void check_recovered();
	// After a controller reset, when all is quiet: acknowledged data are there, of the rest the landed part, and durable data are still
	// durable.
	void check_cancelled();
	void verify_all();
	// Acknowledged data are durable now, as after a shutdown.
	void all_durable();

	Rig &rig;
	std::mt19937_64 random;
	uint32_t first; // the first of the device's zones in the model, which are its sequential ones
	std::vector<ModelZone> zones;
	uint64_t next_tag = 1000;
	uint64_t operations = 0, cancelled = 0;

private:
	uint64_t lba_of(uint32_t zone, uint32_t offset) const { return rig.lba_of(first + zone, offset); }

	struct Running {
		Op op;
		std::unique_ptr<Request> request;
		uint32_t offset;
		std::vector<uint32_t> acked; // flush: data it must make durable
		std::vector<uint64_t> tags;  // of the sectors it writes
		bool differs = false;        // compare: from every content ever written
		bool at_start;               // a write to the start of a zone that is full, or will be if the writes before it are accepted
	};

	void random_ops(std::vector<Op> &ops);
	void issue(const Op &op);
	void settle(Running &run, bool cut);
	void accept(ModelZone &zone, uint32_t end);
	// It lands behind the accepted ones.
	void move_down(Running &run, ModelZone &zone);
	void settle_write(Running &run, ModelZone &zone);
	// Sectors completed before the batch must read as written; later ones may read as zeros or as written.
	void settle_read(Running &run, ModelZone &zone);
	// True if the read failed because of a mark. It must, if one was there before the batch, and must not, if none can have been.
	bool settle_marks(const Running &run, const ModelZone &zone);
	// It compares with the content left by earlier writes; half of them with one unwritten sector.
	void expect(Running &run, const ModelZone &zone);
	// Data written by the batch itself may or may not be there when it is compared.
	void settle_compare(const Running &run);
	void check_recovered_zone(uint32_t z, const nvme_zone_descriptor &found, bool running = false);
	void verify_zone(uint32_t z);

	std::vector<Running> running_;
};

} // namespace ftl_rig
