// A store of free slots by itself, with its stashes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "host_clock.h"
#include "lt/arena.h"
#include "lt/hart.h"
#include "lt/lock.h"

extern "C" {
#include "buffer/memory.h"
#include "device_choices.h"
#include "port/ftl_namespaces.h"
}

struct Slots {
	std::vector<uint8_t> space = std::vector<uint8_t>(1 << 20);
	arena mem = arena_of(space.data(), space.size(), 0);
	std::vector<uint8_t> data;
	slot_store *store;
	std::deque<slot_stash> stash;

	// `stashes`, one for each hart, of `sure` slots each; `total` slots with them.
	Slots(uint32_t kind, uint32_t stride, uint32_t stashes, uint32_t sure, uint32_t total, bool real = false)
		: data(static_cast<size_t>(total) * stride), stash(stashes)
	{
		lt_host_set_hart(0);
		if (real)
			lt_host_clock_steady();
		else
			lt_host_clock_test(0);
		lt_harts_init(&mem, stashes, 16);
		lt_lock_class classes[HZ_LOCK_CLASSES] = {};
		for (lt_lock_class &one : classes)
			one = {"class", LT_LOCK_TTAS, 1, 0};
		lt_locks_init(&mem, classes, HZ_LOCK_CLASSES, LT_STATS_OFF, stashes);
		store = slots_make(&mem, kind, data.data(), stride, total, stashes, 2);
		for (slot_stash &one : stash)
			slots_stash(&mem, store, &one, sure);
	}
	uint32_t free_ones() const
	{
		uint32_t count = slots_count(store);
		for (const slot_stash &one : stash)
			count += one.count;
		return count;
	}
	std::vector<uint8_t *> take(uint32_t who, uint32_t wanted)
	{
		std::vector<uint8_t *> out(wanted);
		out.resize(slots_take(store, &stash[who], who, out.data(), wanted));
		return out;
	}
	void put(uint32_t who, const std::vector<uint8_t *> &some)
	{
		slots_put(store, &stash[who], who, some.data(), static_cast<uint32_t>(some.size()));
	}
};
