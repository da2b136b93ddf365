// C interface: requests that are under way while the program does something else.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/capi/c_api_async.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <sys/eventfd.h>
#include <unistd.h>

#include "session/capi/c_api.hpp"
#include "session/capi/c_api_vectors.hpp"
#include "session/machine/error.hpp"

namespace hz::capi {

namespace {

using namespace std::chrono_literals;

constexpr auto watch_interval = 50us;
constexpr int looks_without_news = 20000; // after this, about a second, the caller checks that the device is alive

void scatter(std::span<const std::byte> data, const std::vector<iovec> &parts)
{
	for (const iovec &part : parts) {
		std::memcpy(part.iov_base, data.data(), part.iov_len);
		data = data.subspan(part.iov_len);
	}
}

} // namespace

AsyncRequests::~AsyncRequests()
{
	{
		std::lock_guard hold(lock_);
		ending_ = true;
	}
	armed_or_ending_.notify_one();
	if (watcher_.joinable())
		watcher_.join();
	if (fd_ >= 0)
		::close(fd_);
}

void AsyncRequests::submit(const hartzone_request &r, nvme_sqe sqe, uint32_t blocks)
{
	std::lock_guard hold(lock_);
	if (running_ && virtual_clock_)
		throw Error("device time is running since hartzone_commit: take a completion before the next request");
	if (!pair_.can_acquire())
		throw Error(std::to_string(pair_.depth() - 1) +
			    " requests are under way, as many as the queue is deep: take completions first");
	const uint16_t cid = *pair_.acquire();
	Context &context = contexts_[cid];
	context = {r.token, r.operation == HARTZONE_APPEND, {}};
	std::byte *to = pair_.data(cid).data();
	for (int i = 0; blocks && i < r.count; to += r.parts[i++].iov_len) {
		if (r.operation == HARTZONE_READ)
			context.into.push_back(r.parts[i]);
		else
			std::memcpy(to, r.parts[i].iov_base, r.parts[i].iov_len);
	}
	pair_.submit(cid, sqe, pair_.next_arrival_ns());
}

void AsyncRequests::commit()
{
	std::lock_guard hold(lock_);
	let_go();
}

void AsyncRequests::let_go()
{
	if (!pair_.outstanding())
		return;
	if (virtual_clock_ && !pair_.is_open())
		pair_.open(UINT64_MAX);
	else
		pair_.promise_nothing_more();
	running_ = armed_ = true;
	armed_or_ending_.notify_one();
}

void AsyncRequests::take(std::span<const Completion> completions)
{
	for (const Completion &c : completions) {
		Context &context = contexts_[c.cid];
		if (!c.status)
			scatter(pair_.data(c.cid), context.into);
		done_.push_back({context.token, c.status, context.appends && !c.status ? c.result : 0, c.latency_ns()});
		pair_.release(c.cid);
		running_ = false;
	}
	if (completions.empty() || pair_.outstanding())
		return;
	if (virtual_clock_)
		pair_.close();
	else
		pair_.promise_nothing_more();
}

unsigned AsyncRequests::hand_out(hartzone_completion *out, unsigned most)
{
	const auto count = unsigned(std::min<size_t>(most, done_.size()));
	std::copy_n(done_.begin(), count, out);
	done_.erase(done_.begin(), done_.begin() + count);
	uint64_t wakes;
	if (fd_ >= 0 && done_.empty() && ::read(fd_, &wakes, sizeof(wakes)) == sizeof(wakes))
		armed_ = pair_.outstanding() > 0;
	armed_or_ending_.notify_one();
	return count;
}

unsigned AsyncRequests::reap(hartzone_completion *out, unsigned most)
{
	std::lock_guard hold(lock_);
	pair_.check();
	take(pair_.reap());
	return hand_out(out, most);
}

unsigned AsyncRequests::wait(hartzone_completion *out, unsigned most)
{
	std::lock_guard hold(lock_);
	if (done_.empty() && pair_.outstanding()) {
		let_go();
		take(pair_.wait());
	}
	return hand_out(out, most);
}

void AsyncRequests::drain()
{
	std::lock_guard hold(lock_);
	while (pair_.outstanding()) {
		let_go();
		take(pair_.wait());
	}
}

int AsyncRequests::event_fd()
{
	std::lock_guard hold(lock_);
	if (fd_ >= 0)
		return fd_;
	fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd_ < 0)
		throw_errno("no event file descriptor can be made");
	watcher_ = std::thread([this] { watch(); });
	return fd_;
}

// Looks now and then while a completion is awaited; sleeps otherwise.
void AsyncRequests::watch()
{
	std::unique_lock hold(lock_);
	for (int looks = 0; !ending_;) {
		if (!armed_) {
			armed_or_ending_.wait(hold);
			looks = 0;
			continue;
		}
		if (!done_.empty() || pair_.ready() || ++looks > looks_without_news) {
			const uint64_t one = 1;
			armed_ = ::write(fd_, &one, sizeof(one)) != sizeof(one);
			continue;
		}
		armed_or_ending_.wait_for(hold, watch_interval);
	}
}

namespace {

// The command, and its number of data blocks.
std::pair<nvme_sqe, uint32_t> command_of(const hartzone_queue *queue, const hartzone_request &r)
{
	const auto with_data = [&](nvme_sqe (*make)(uint64_t, uint32_t)) {
		const uint32_t blocks = blocks_of(queue, r.parts, r.count);
		nvme_sqe sqe = make(r.block, blocks);
		set_flags(queue, sqe, r.flags);
		return std::pair(sqe, blocks);
	};
	switch (r.operation) {
	case HARTZONE_READ: return with_data(QueuePair::read);
	case HARTZONE_WRITE: return with_data(+[](uint64_t block, uint32_t blocks) { return QueuePair::write(block, blocks); });
	case HARTZONE_APPEND: return with_data(QueuePair::append);
	case HARTZONE_COMPARE: return with_data(QueuePair::compare);
	case HARTZONE_VERIFY: return {verify_of(r.block, r.blocks), 0};
	case HARTZONE_FLUSH: return {QueuePair::flush(), 0};
	case HARTZONE_ZONE_OPEN: return {QueuePair::zone_send(r.block, NVME_ZSA_OPEN), 0};
	case HARTZONE_ZONE_CLOSE: return {QueuePair::zone_send(r.block, NVME_ZSA_CLOSE), 0};
	case HARTZONE_ZONE_FINISH: return {QueuePair::zone_send(r.block, NVME_ZSA_FINISH), 0};
	case HARTZONE_ZONE_RESET: return {QueuePair::zone_send(r.block, NVME_ZSA_RESET), 0};
	}
	throw Error("operation " + std::to_string(int(r.operation)) + " is not known");
}

AsyncRequests &requests_of(hartzone_queue *queue)
{
	QueuePair &pair = pair_of(queue);
	if (!queue->async)
		queue->async = std::make_unique<AsyncRequests>(pair, queue->device->machine->region().virtual_clock());
	return *queue->async;
}

} // namespace

} // namespace hz::capi

using namespace hz::capi;

int hartzone_submit(hartzone_queue *queue, const hartzone_request *request)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		const auto [sqe, blocks] = command_of(queue, *request);
		requests_of(queue).submit(*request, sqe, blocks);
		return 0;
	});
}

int hartzone_commit(hartzone_queue *queue)
{
	return guarded<int>(HARTZONE_ERROR, [&] {
		requests_of(queue).commit();
		return 0;
	});
}

int hartzone_reap(hartzone_queue *queue, hartzone_completion *out, unsigned most)
{
	return guarded<int>(HARTZONE_ERROR, [&] { return int(requests_of(queue).reap(out, most)); });
}

int hartzone_wait(hartzone_queue *queue, hartzone_completion *out, unsigned most)
{
	return guarded<int>(HARTZONE_ERROR, [&] { return int(requests_of(queue).wait(out, most)); });
}

int hartzone_event_fd(hartzone_queue *queue)
{
	return guarded<int>(HARTZONE_ERROR, [&] { return requests_of(queue).event_fd(); });
}
