/* Runner: the threads of one phase. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/runner.hpp"

#include "replay/progress.hpp"
#include "session/machine/interrupt.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace hz::replay {
namespace {

/* Shared by the threads of a phase: number of running threads, and the reason to stop. */
struct Ending {
	std::mutex lock; /* protects running and failure */
	std::condition_variable changed;
	size_t running = 0;
	std::exception_ptr failure;
	std::atomic<bool> stop{false};
	std::function<void()> abort;

	void thread_ended(std::exception_ptr why)
	{
		std::unique_lock guard(lock);
		const bool first = why && !failure;
		if (first)
			failure = why;
		guard.unlock();
		if (first) {
			stop = true;
			abort();
		}
		guard.lock();
		running--;
		changed.notify_all();
	}
};

void run_one(ReplayThread &thread, Ending &ending)
{
	std::exception_ptr why;
	try {
		thread.run(ending.stop);
	} catch (...) {
		why = std::current_exception();
	}
	ending.thread_ended(why);
}

/* The slowest thread decides how far the phase is. */
uint32_t slowest(const std::vector<std::unique_ptr<ReplayThread>> &threads)
{
	uint32_t least = 1000000;
	for (const auto &thread : threads)
		least = std::min(least, thread->progress_ppm());
	return least;
}

void watch(Ending &ending, const std::vector<std::unique_ptr<ReplayThread>> &threads, const std::string &title)
{
	Progress progress(title);
	std::unique_lock guard(ending.lock);
	while (!ending.changed.wait_for(guard, std::chrono::milliseconds(200), [&] { return ending.running == 0; })) {
		if (stop_asked())
			progress.rename("stopping; Ctrl-C again ends at once");
		progress.show(slowest(threads));
	}
}

} // namespace

std::vector<res::QueueAccount> run_phase(const std::vector<PhaseThread> &parts, const std::string &title, std::function<void()> abort)
{
	Ending ending;
	ending.abort = std::move(abort);
	std::vector<std::unique_ptr<ReplayThread>> threads;
	for (const PhaseThread &part : parts)
		threads.push_back(std::make_unique<ReplayThread>(*part.port, *part.source, part.options));
	/* All queues take part in device time before any has a command or lets time pass. A queue without commands stays closed:
	 * whether the device sees one that opens and closes at once is up to chance. */
	std::vector<ReplayThread *> busy;
	for (auto &thread : threads)
		if (thread->prime())
			busy.push_back(thread.get());
	for (size_t i = 0; i < parts.size(); i++)
		if (std::count(busy.begin(), busy.end(), threads[i].get()))
			parts[i].port->open(parts[i].options.start_ns);
	ending.running = busy.size();
	std::vector<std::jthread> hosts;
	for (ReplayThread *thread : busy)
		hosts.emplace_back([thread, &ending] { run_one(*thread, ending); });
	watch(ending, threads, title);
	hosts.clear();
	if (ending.failure)
		std::rethrow_exception(ending.failure);
	std::vector<res::QueueAccount> accounts;
	for (const auto &thread : threads)
		accounts.push_back(thread->account());
	return accounts;
}

} // namespace hz::replay
