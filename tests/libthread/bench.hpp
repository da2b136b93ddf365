// What every libthread test needs: memory for an arena, a config, harts, threads that act as harts.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "host_clock.h"
#include "lt/hart.h"
#include "lt/lock.h"

struct Bench {
	std::unique_ptr<uint8_t[]> memory;
	arena mem{};
	hz_device_config cfg{};

	explicit Bench(size_t bytes = 8u << 20) : memory(new uint8_t[bytes])
	{
		mem = {memory.get(), bytes, 0};
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

	void locks(hz_lock_kind kind, hz_lock_stats level, unsigned harts)
	{
		cfg.lock_kind[HZ_LC_TEST] = kind;
		cfg.lock_stats = level;
		lt_locks_init(&mem, &cfg, harts);
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
