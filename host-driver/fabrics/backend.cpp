// Backend: lanes, pacing, and the thread for admin commands.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/backend.hpp"

#include <algorithm>
#include <cmath>
#include <sys/eventfd.h>

#include "session/machine/error.hpp"

namespace hz::fabrics {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds shortest_tick = 20us, longest_tick = 1ms; // of promises, and of polls for completions
constexpr std::chrono::nanoseconds idle_tick = 10ms;
constexpr auto long_wait = 100ms;
constexpr uint64_t overdue_step_ns = 10000000; // of device time in each turn, once the patience with an admin command is over
constexpr uint64_t admin_heap_bytes = 4 << 20;
constexpr uint64_t start_after_ns = 1000000; // the first arrival is later than all that the start did

std::span<const std::byte> given(const Job &job)
{
	return {job.out.data(), std::min<size_t>(job.out.size(), QueuePair::bytes_of(job.sqe))};
}

} // namespace

uint64_t Pacer::device_ns(Clock::time_point wall) const
{
	const auto passed = std::chrono::duration<double, std::nano>(std::max(wall - begun_, Clock::duration(0)));
	return origin_ns_ + static_cast<uint64_t>(passed.count() / slow_down_);
}

uint64_t Pacer::arrival_ns(Clock::time_point wall)
{
	return last_arrival_ns_ = std::max(last_arrival_ns_, device_ns(wall) + transport_ns_);
}

std::chrono::nanoseconds Pacer::wall_for(uint64_t device_ns) const
{
	return std::chrono::nanoseconds(std::llround(std::ceil(static_cast<double>(device_ns) * slow_down_)));
}

void Lateness::add(uint64_t late_ns, uint64_t transport_ns)
{
	commands++;
	late += late_ns > transport_ns;
	sum_ns += late_ns;
	worst_ns = std::max(worst_ns, late_ns);
}

std::string lateness_text(const Lateness &l)
{
	if (!l.commands)
		return "";
	char text[200];
	std::snprintf(
		text, sizeof(text),
		"%llu commands; %llu of them (%.1f %%) were handed over late; all were late by %.1f us on average, the worst by %.1f us of device time",
		static_cast<unsigned long long>(l.commands), static_cast<unsigned long long>(l.late),
		100.0 * double(l.late) / double(l.commands), double(l.sum_ns) / 1e3 / double(l.commands), double(l.worst_ns) / 1e3);
	return text;
}

QueueOptions LaneOptions::queue() const
{
	QueueOptions o;
	o.depth = depth;
	o.data_bytes = most_transfer;
	o.turnaround_ns = static_cast<uint32_t>(transport_ns); // a command caused by a completion crosses the transport again
	return o;
}

uint64_t LaneOptions::shared_bytes() const { return shm_bytes_for(admin_heap_bytes + lanes * layout_of(queue()).bytes); }

Lanes make_lanes(Controller &controller, const LaneOptions &options)
{
	Lanes lanes;
	lanes.attached = controller.namespaces();
	for (unsigned i = 1; i <= options.lanes; i++)
		lanes.pairs.push_back(controller.create_queue(i, options.queue()));
	lanes.now_ns = controller.log_harts().now_ns;
	return lanes;
}

DeviceBackend::DeviceBackend(Controller &controller, const LaneOptions &options, std::unique_ptr<Recorder> record)
	: controller_(controller), virtual_clock_(controller.machine().region().virtual_clock()), record_(std::move(record)),
	  pacer_(0, options.transport_ns, options.slow_down, Clock::now()), moved_(Clock::now()),
	  answered_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	if (!answered_)
		throw_errno("cannot make an eventfd");
	Lanes made = make_lanes(controller, options);
	attached_ = std::move(made.attached);
	for (auto &pair : made.pairs) {
		lanes_.emplace_back();
		lanes_.back().pair = std::move(pair);
		lanes_.back().under_way.resize(options.depth);
	}
	pacer_ = Pacer(made.now_ns + start_after_ns, options.transport_ns, options.slow_down, Clock::now());
	admin_thread_ = std::thread([this] { serve_admin(); });
}

DeviceBackend::~DeviceBackend() { stop_admin(); }

void DeviceBackend::stop_admin()
{
	{
		std::lock_guard hold(lock_);
		ending_ = true;
	}
	asked_.notify_one();
	if (admin_thread_.joinable())
		admin_thread_.join();
}

void DeviceBackend::admin(JobPtr job) { admin_asked_.push_back(std::move(job)); }

bool DeviceBackend::nothing_under_way() const
{
	return std::none_of(lanes_.begin(), lanes_.end(),
			    [](const Lane &lane) { return lane.pair->outstanding() || !lane.completed.empty(); });
}

void DeviceBackend::begin_admin()
{
	if (admin_asked_.empty() || admin_runs_ || (virtual_clock_ && !nothing_under_way()))
		return;
	const JobPtr job = admin_asked_.front();
	admin_asked_.pop_front();
	admin_runs_ = true;
	admin_begun_ = admin_overdue_ = false;
	if (record_)
		record_->admin(promised_ns_, job->sqe, static_cast<uint32_t>(job->in.size()), job->out);
	{
		std::lock_guard hold(lock_);
		admin_waiting_.push_back(job);
	}
	asked_.notify_one();
}

void DeviceBackend::run_admin(Job &job)
{
	try {
		const auto begun = Clock::now();
		const AdminResult result = controller_.admin(job.sqe, job.in, job.out, [this, begun] {
			if (!admin_begun_.exchange(true) || (Clock::now() - begun > admin_patience && !admin_overdue_.exchange(true)))
				eventfd_write(answered_.get(), 1);
		});
		job.answer = {result.status, result.do_not_retry, result.dw0};
	} catch (const Error &) {
		job.answer = {NVME_INTERNAL_ERROR, false, 0};
	}
}

void DeviceBackend::serve_admin()
{
	std::unique_lock hold(lock_);
	for (;;) {
		asked_.wait(hold, [this] { return ending_ || !admin_waiting_.empty(); });
		if (ending_)
			return;
		const JobPtr job = admin_waiting_.front();
		admin_waiting_.pop_front();
		hold.unlock();
		run_admin(*job);
		hold.lock();
		admin_answered_.push_back(job);
		eventfd_write(answered_.get(), 1);
	}
}

void DeviceBackend::take_admin_answers()
{
	eventfd_t count;
	std::deque<JobPtr> answered;
	if (eventfd_read(answered_.get(), &count))
		return;
	{
		std::lock_guard hold(lock_);
		answered.swap(admin_answered_);
	}
	for (const JobPtr &job : answered) {
		admin_runs_ = false;
		job->done(*job);
	}
}

void DeviceBackend::io(unsigned lane, JobPtr job) { lanes_[lane].waiting.push_back(std::move(job)); }

bool DeviceBackend::withdraw(unsigned lane, const JobPtr &job) { return std::erase(lanes_[lane].waiting, job) != 0; }

// A device without completions for long may be stuck; querying its machine detects that.
void DeviceBackend::reap(Clock::time_point now)
{
	bool waits = false;
	for (Lane &lane : lanes_) {
		lane.pair->check();
		const auto done = lane.pair->reap();
		lane.completed.insert(lane.completed.end(), done.begin(), done.end());
		lane.news |= !done.empty();
		moved_ = done.empty() ? moved_ : now;
		waits |= lane.pair->outstanding() != 0;
	}
	if (!waits)
		moved_ = now;
	else if (now - moved_ > long_wait)
		controller_.machine().check_waiting();
}

void DeviceBackend::finish(Lane &lane, const Completion &c)
{
	const JobPtr job = std::exchange(lane.under_way[c.cid], nullptr);
	if (!c.status && !job->in.empty())
		std::copy_n(lane.pair->data(c.cid).begin(), job->in.size(), job->in.begin());
	if (record_)
		record_->completed(lane.pair->qid(), c);
	lane.pair->release(c.cid);
	job->answer = {c.status, c.do_not_retry, c.result};
	job->done(*job);
}

void DeviceBackend::hand_over(Lane &lane, Clock::time_point now)
{
	const uint64_t at = virtual_clock_ ? pacer_.device_ns(now) : UINT64_MAX;
	while (!lane.completed.empty() && lane.completed.front().completed_ns <= at) {
		const Completion c = lane.completed.front();
		lane.completed.pop_front();
		if (virtual_clock_) {
			last_late_ns_ = at - c.completed_ns;
			lateness_.add(last_late_ns_, pacer_.transport_ns());
		}
		finish(lane, c);
	}
}

bool DeviceBackend::may_place(const Lane &lane) const
{
	const bool held = virtual_clock_ && (admin_runs_ || !admin_asked_.empty());
	return !held && !lane.waiting.empty() && lane.pair->can_acquire();
}

// From the first command on, and before any lane places: the device sees no command of one until all take part in its time.
void DeviceBackend::open_lanes()
{
	open_ |= virtual_clock_ && std::any_of(lanes_.begin(), lanes_.end(), [this](const Lane &lane) { return may_place(lane); });
	for (Lane &lane : lanes_)
		if (open_ && lane.used && !lane.pair->is_open()) {
			lane.pair->open();
			delay_.maybe();
		}
}

void DeviceBackend::close_lanes()
{
	for (Lane &lane : lanes_)
		if (lane.pair->is_open())
			lane.pair->close();
	open_ = false;
}

void DeviceBackend::place(Lane &lane, uint64_t arrival_ns)
{
	while (may_place(lane)) {
		const JobPtr job = lane.waiting.front();
		lane.waiting.pop_front();
		const uint16_t cid = *lane.pair->acquire();
		const auto out = given(*job);
		std::copy(out.begin(), out.end(), lane.pair->data(cid).begin());
		if (job->sqe.opcode == NVME_IO_ZONE_MGMT_RECV || job->sqe.opcode == NVME_IO_MGMT_RECEIVE) // the device may fill a part
			std::fill_n(lane.pair->data(cid).begin(), job->in.size(), std::byte{0});
		lane.under_way[cid] = job;
		const uint64_t arrives = lane.pair->submit(cid, job->sqe, arrival_ns, std::max(out.size(), job->in.size()));
		if (record_)
			record_->placed(lane.pair->qid(), cid, arrives, job->sqe, out);
		lane.news = true;
	}
}

void DeviceBackend::ring_real(Lane &lane)
{
	if (std::exchange(lane.news, false))
		lane.pair->promise_nothing_more();
}

void DeviceBackend::promise_all(uint64_t horizon_ns)
{
	Lane *last = nullptr;
	for (Lane &lane : lanes_)
		if (lane.pair->is_open()) {
			lane.pair->promise_quietly(horizon_ns);
			last = &lane;
			delay_.maybe();
		}
	if (last) {
		last->pair->ring();
		promised_ns_ = horizon_ns;
	}
}

// Where completions are late by much, frequent looks for them only take the device's emulation its core.
std::chrono::nanoseconds DeviceBackend::tick() const
{
	return std::clamp(pacer_.wall_for(std::max(pacer_.transport_ns() / 4, last_late_ns_ / 16)), shortest_tick, longest_tick);
}

// The device, when no command is under way, still has work in the background.
std::chrono::nanoseconds DeviceBackend::next_turn(const Lane &lane, Clock::time_point now) const
{
	auto next = lane.pair->outstanding() || (admin_runs_ && lane.pair->is_open()) ? tick()
		    : lane.pair->is_open()                                            ? idle_tick
										      : no_hurry;
	if (!lane.completed.empty()) {
		const uint64_t at = pacer_.device_ns(now), due = lane.completed.front().completed_ns;
		next = std::min(next, due <= at ? 0ns : pacer_.wall_for(due - at));
	}
	return next;
}

// All queues open and place commands before the first promise: until then device time stands before this turn's arrivals. It also stands
// until the device has begun with an admin command.
std::chrono::nanoseconds DeviceBackend::turn()
{
	take_admin_answers();
	if (admin_runs_ && admin_overdue_)
		pacer_.skip(overdue_step_ns);
	const auto now = Clock::now();
	reap(now);
	for (Lane &lane : lanes_)
		hand_over(lane, now);
	if (!awaits_begin())
		place_all(pacer_.arrival_ns(now));
	begin_admin();
	auto next = no_hurry;
	for (const Lane &lane : lanes_)
		next = std::min(next, next_turn(lane, now));
	return next;
}

void DeviceBackend::place_all(uint64_t arrival_ns)
{
	open_lanes();
	for (Lane &lane : lanes_)
		place(lane, arrival_ns);
	if (virtual_clock_)
		return promise_all(arrival_ns);
	for (Lane &lane : lanes_)
		ring_real(lane);
}

std::string DeviceBackend::end()
{
	admin_asked_.clear();
	for (Lane &lane : lanes_)
		lane.waiting.clear();
	while (!nothing_under_way() || admin_runs_)
		std::this_thread::sleep_for(std::min(turn(), longest_tick));
	stop_admin();
	close_lanes();
	if (!record_)
		return "";
	record_->end();
	return record_->digest();
}

} // namespace hz::fabrics
