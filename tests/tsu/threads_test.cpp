// Several TSU threads and several submitters on real threads: nothing lost, no rule broken, data right (run it under TSan).
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>

#include "flash_rig.hpp"
#include "tsu/tsu_report.h"

using rig::Rig;
using rig::Txn;

namespace {

// One owner thread that programs a block page by page, then reads it back, then erases it, some rounds long.
struct Worker : Txn {
	Worker() : Txn(2) {}
	lt_thread thread{"worker", 0};
	Rig *rig = nullptr;
	uint32_t plane = 0, step = 0, rounds = 0;
	std::atomic<int> *left = nullptr;
	bool wrong = false;

	void next()
	{
		const uint32_t count = rig->cfg.pages_per_block, at = step % (2 * count + 1);
		if (step == rounds * (2 * count + 1)) {
			if (--*left == 0)
				lt_harts_stop();
			return;
		}
		step++;
		txn.op = at < count ? TSU_PROGRAM : at < 2 * count ? TSU_READ : TSU_ERASE;
		txn.sectors = at < 2 * count ? 2 : 0;
		txn.ppa = rig->ppa(plane, 3, at % count * 2);
		if (txn.op == TSU_PROGRAM)
			buffer.assign(buffer.size(), static_cast<uint8_t>(plane * 16 + at));
		for (auto &record : oob)
			record = {step, at, {1}, HZ_OOB_DATA, 0, 0};
		tsu_submit(rig->tsu, &txn);
	}
	void ended()
	{
		const uint32_t count = rig->cfg.pages_per_block, at = (step - 1) % (2 * count + 1);
		wrong |= txn.status != NAND_OK || txn.end_ns > clock_now_ns();
		if (txn.op == TSU_READ)
			wrong |= buffer[8191] != static_cast<uint8_t>(plane * 16 + at - count);
		next();
	}
};

} // namespace

TEST(Threads, ManyOwnersAndThreadsKeepEveryRule)
{
	hz_device_config cfg = rig::small_config();
	cfg.channels = 4;
	cfg.planes_per_die = 2;
	cfg.harts = 6;
	cfg.tsu_count = 3;
	for (uint8_t i = 0; i < 3; i++)
		cfg.tsu_hart[i] = i;
	// Short times: the clock is the machine's, and the test must not depend on its speed.
	cfg.normal = {{2000, 3000}, {5000, 7000}, 9000, 0};
	cfg.channel_bytes_per_s = 0;
	Rig r(cfg, nullptr, nullptr, false);
	std::atomic<int> left{8};
	std::vector<Worker> workers(8);
	for (uint32_t i = 0; i < 8; i++) {
		Worker &w = workers[i];
		w.thread.hart = 3 + i % 3;
		w.rig = &r;
		w.plane = i;
		w.rounds = 5;
		w.left = &left;
		w.txn.owner = &w.thread;
		w.txn.done = [](tsu_txn *txn) { static_cast<Worker *>(reinterpret_cast<Txn *>(txn))->ended(); };
		// The event is the first thing in a transaction, and the transaction the first in a worker.
		lt_post(&w.thread, &w.txn.event, [](lt_event *event) { static_cast<Worker *>(reinterpret_cast<Txn *>(event))->next(); });
	}
	lt_host_start_harts();
	lt_host_join_harts();
	EXPECT_EQ(left, 0);
	EXPECT_TRUE(r.refusals.empty());
	for (const Worker &w : workers)
		EXPECT_FALSE(w.wrong);
	hz_log_flash log;
	tsu_report(r.tsu, &log);
	EXPECT_EQ(log.programs[0], 8u * 5 * 16);
	EXPECT_EQ(log.reads[0], 8u * 5 * 16);
	EXPECT_EQ(log.erases[0], 8u * 5);
}
