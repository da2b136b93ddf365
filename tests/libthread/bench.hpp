// Shared by all libthread tests: memory for an arena, a config, harts, threads that act as harts.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "host_clock.h"
#include "lt/hart.h"
#include "lt/lock.h"

enum { test_class, middle_class, inner_class }; // classes of locks, outermost first

// Every kind that excludes.
inline std::vector<lt_lock_kind> lock_kinds()
{
	std::vector<lt_lock_kind> kinds;
	for (int kind = LT_LOCK_NONE + 1; kind < LT_LOCK_KINDS; kind++)
		kinds.push_back(static_cast<lt_lock_kind>(kind));
	return kinds;
}

struct Bench {
	std::unique_ptr<uint8_t[]> memory;
	arena mem{};

	explicit Bench(size_t bytes = 8u << 20) : memory(new uint8_t[bytes])
	{
		mem = arena_of(memory.get(), bytes, LT_CACHE_LINE);
		lt_host_set_hart(0);
	}

	void simulated(unsigned harts, uint64_t start_ns = 0, unsigned timers = 64)
	{
		lt_host_clock_test(start_ns);
		lt_harts_init(&mem, harts, timers);
	}

	void real(unsigned harts, unsigned timers = 64)
	{
		lt_host_clock_steady();
		lt_harts_init(&mem, harts, timers);
	}

	// Three classes of locks of that kind, and their order.
	void locks(lt_lock_kind kind, lt_stats_level level, unsigned harts, uint32_t shards = 0)
	{
		const uint8_t number = static_cast<uint8_t>(kind);
		const lt_lock_class classes[] = {{"test", number, 0, shards}, {"middle", number, 1, shards}, {"inner", number, 2, shards}};
		lt_locks_init(&mem, classes, std::size(classes), level, harts);
	}

	// body(hart) on `harts` real threads at once.
	static void in_parallel(unsigned harts, const std::function<void(unsigned)> &body)
	{
		std::vector<std::thread> threads;

		for (unsigned i = 0; i < harts; i++)
			threads.emplace_back([&body, i] {
				lt_host_set_hart(i);
				body(i);
			});
		for (auto &t : threads)
			t.join();
	}
};
