// Backend: the destination of all hosts' commands. DeviceBackend is a device: queue pairs, each a
// lane that several host queues may share, and one thread for admin commands, which may take longer
// than hosts wait for I/O.
//
// Under the virtual clock device time is paced by the wall clock. A command arrives at the current
// device time plus the modelled transport; until then, and no further, the queues promise device
// time; a completion is handed over at its time. A later one is late, because the emulation is
// slower than the modelled device, and is counted. An admin command waits until the earlier I/O
// commands have ended, and later ones wait for it. From the first I/O command on all lanes of hosts
// take part in device time, busy or idle: the device never gets ahead of a command that may still
// come, and the doorbell of an admin command has a time, that of the last promise. So a recording
// repeats both in their places.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fabrics/connection.hpp"
#include "fabrics/record.hpp"
#include "session/controller.hpp"
#include "session/machine/test_delay.hpp"

namespace hz::fabrics {

// A command for the device.
struct Job {
	nvme_sqe sqe{}; // but for id and PRPs
	Bytes out, in;  // in: as large as the answer
	Answer answer;
	std::function<void(Job &)> done;
};
using JobPtr = std::shared_ptr<Job>;

// One thread calls it, and is called back by turn() alone.
class Backend {
public:
	virtual ~Backend() = default;
	virtual unsigned lanes() const = 0;
	// A host's queue is on this lane from now on.
	virtual void use(unsigned lane) = 0;
	virtual void admin(JobPtr job) = 0;
	virtual void io(unsigned lane, JobPtr job) = 0;
	// True: the device has not begun with it, and never will; `done` is not called.
	virtual bool withdraw(unsigned lane, const JobPtr &job) = 0;
	// Readable when turn() has something to do earlier than it has said.
	virtual int event_fd() const = 0;
	// Makes progress, and returns the delay until its next call. Throws Error when the device
	// has died.
	virtual std::chrono::nanoseconds turn() = 0;
};
constexpr std::chrono::nanoseconds no_hurry = std::chrono::hours(1);

// Device time as the wall clock paces it: it begins at `origin_ns`, and passes `slow_down` times slower.
class Pacer {
public:
	Pacer(uint64_t origin_ns, uint64_t transport_ns, double slow_down, Clock::time_point begun)
		: origin_ns_(origin_ns), transport_ns_(transport_ns), slow_down_(slow_down), begun_(begun)
	{
	}
	uint64_t device_ns(Clock::time_point wall) const;
	// When a command arrives that comes now; never earlier than the one before.
	uint64_t arrival_ns(Clock::time_point wall);
	std::chrono::nanoseconds wall_for(uint64_t device_ns) const;
	uint64_t transport_ns() const { return transport_ns_; }
	// Device time is so much later from now on.
	void skip(uint64_t device_ns) { origin_ns_ += device_ns; }

private:
	uint64_t origin_ns_, transport_ns_, last_arrival_ns_ = 0;
	double slow_down_;
	Clock::time_point begun_;
};

// How much later than its device time a completion was handed over, in device time.
struct Lateness {
	uint64_t commands = 0, late = 0, sum_ns = 0, worst_ns = 0; // late: by more than the transport takes
	void add(uint64_t late_ns, uint64_t transport_ns);
};
// "1234 commands, 3 % of them late …", or empty for none.
std::string lateness_text(const Lateness &lateness);

// Of wall time, with an admin command that needs more device time than it gets.
constexpr std::chrono::seconds admin_patience{10};

struct LaneOptions {
	unsigned lanes = 8, depth = 128;
	uint64_t transport_ns = 20000;
	double slow_down = 1;
	QueueOptions queue() const;
	// Region size for all of them.
	uint64_t shared_bytes() const;
};
// The lanes' queue pairs, with ids from 1 on, the device's namespaces, and device time after all that.
// A repeat of a recording begins with the same admin commands, so that the harts' caches are equal: what
// else a target asks before its first command would make the first commands differ.
struct Lanes {
	std::vector<std::unique_ptr<QueuePair>> pairs;
	std::vector<uint32_t> attached;
	uint64_t now_ns;
};
Lanes make_lanes(Controller &controller, const LaneOptions &options);

class DeviceBackend final : public Backend {
public:
	// record: where each I/O command is written, or nothing.
	DeviceBackend(Controller &controller, const LaneOptions &options, std::unique_ptr<Recorder> record);
	// The queue pairs stay until the controller is shut down.
	~DeviceBackend() override;

	// The namespaces that are attached at the start.
	const std::vector<uint32_t> &attached() const { return attached_; }
	unsigned lanes() const override { return static_cast<unsigned>(lanes_.size()); }
	void use(unsigned lane) override { lanes_[lane].used = true; }
	void admin(JobPtr job) override;
	void io(unsigned lane, JobPtr job) override;
	bool withdraw(unsigned lane, const JobPtr &job) override;
	int event_fd() const override { return answered_.get(); }
	std::chrono::nanoseconds turn() override;

	// Once: waits for started commands, drops queued ones, and ends the record. Returns its
	// digest.
	std::string end();
	const Lateness &lateness() const { return lateness_; }

private:
	struct Lane {
		std::unique_ptr<QueuePair> pair;
		std::deque<JobPtr> waiting;
		std::vector<JobPtr> under_way;    // by command id
		std::deque<Completion> completed; // not yet handed over
		bool news = false;                // since the last promise, under the real clock
		bool used = false;                // by a host, at some time
	};
	bool nothing_under_way() const;
	bool awaits_begin() const { return admin_runs_ && !admin_begun_; }
	void begin_admin();
	void take_admin_answers();
	void serve_admin();
	void stop_admin();
	void run_admin(Job &job);
	void reap(Clock::time_point now);
	void hand_over(Lane &lane, Clock::time_point now);
	void finish(Lane &lane, const Completion &completion);
	bool may_place(const Lane &lane) const;
	void place_all(uint64_t arrival_ns);
	void open_lanes();
	void close_lanes();
	void place(Lane &lane, uint64_t arrival_ns);
	void promise_all(uint64_t horizon_ns);
	void ring_real(Lane &lane);
	std::chrono::nanoseconds tick() const;
	std::chrono::nanoseconds next_turn(const Lane &lane, Clock::time_point now) const;

	Controller &controller_;
	bool virtual_clock_;
	std::vector<Lane> lanes_;
	std::vector<uint32_t> attached_;
	std::unique_ptr<Recorder> record_;
	Pacer pacer_;
	Lateness lateness_;
	uint64_t last_late_ns_ = 0; // of the last completion
	TestDelay delay_;
	Clock::time_point moved_; // when the device last completed a command, or had none
	Descriptor answered_;
	std::deque<JobPtr> admin_asked_; // not yet begun with
	bool admin_runs_ = false;
	std::atomic<bool> admin_begun_{false};   // the device has its doorbell
	std::atomic<bool> admin_overdue_{false}; // … for long: device time is paced no longer
	bool open_ = false;                      // all used lanes are
	uint64_t promised_ns_ = 0;               // of all open lanes
	std::mutex lock_;                        // the three below
	std::condition_variable asked_;
	std::deque<JobPtr> admin_waiting_, admin_answered_;
	bool ending_ = false;
	std::thread admin_thread_;
};

} // namespace hz::fabrics
