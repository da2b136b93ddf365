// Link: connect with retries, ask and answer by tag, count interrupts that come in between.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/nvme/link.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <linux/vm_sockets.h>

#include "session/machine/descriptor.hpp"
#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "session/machine/unix_socket.hpp"

namespace hz {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto slice = 100ms; // how often a wait looks at its Check
constexpr auto retry_pause = 20ms;
constexpr auto dial_limit = 2s;         // for an attempt, at least
constexpr int looks_after_a_loss = 180; // and not a time: where this thread gets no CPU, the watch thread gets none either

bool ready(int fd, short events, std::chrono::milliseconds timeout)
{
	pollfd item{fd, events, 0};
	return poll(&item, 1, static_cast<int>(timeout.count())) > 0;
}

// A kernel vsock to a guest that is gone stays in progress for seconds.
bool connected(int fd, Clock::time_point until, const Link::Check &check)
{
	while (!ready(fd, POLLOUT, slice)) {
		if (check)
			check();
		if (Clock::now() >= until)
			return false;
	}
	int error = 0;
	socklen_t bytes = sizeof(error);
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error == 0;
}

// Never blocks: a UNIX listener with a full backlog would hold a blocking connect() for as long as it lives.
Descriptor dial(int family, const sockaddr *address, socklen_t bytes, const Link::Check &check)
{
	Descriptor fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (!fd)
		throw_errno("cannot make a socket");
	if (connect(fd.get(), address, bytes) == 0 || (errno == EINPROGRESS && connected(fd.get(), Clock::now() + dial_limit, check)))
		return fd;
	return Descriptor();
}

Descriptor dial_socket(const std::filesystem::path &socket, const Link::Check &check)
{
	const UnixAddress address(socket.parent_path(), socket.filename());
	return dial(AF_UNIX, address.get(), address.bytes, check);
}

// The daemon answers "OK <port>\n", or closes while the guest has no listener.
bool shake_hands(int fd, unsigned port, Clock::time_point until, const Link::Check &check)
{
	std::string hello = "CONNECT " + std::to_string(port) + "\n";
	if (send(fd, hello.data(), hello.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(hello.size()))
		return false;
	std::string answer;
	while (Clock::now() < until && answer.size() < 64) {
		if (check)
			check();
		if (!ready(fd, POLLIN, slice))
			continue;
		char c;
		if (recv(fd, &c, 1, 0) != 1)
			return false;
		if (c == '\n')
			return answer.starts_with("OK");
		answer += c;
	}
	return false;
}

// Calls attempt() until it gives a descriptor.
template <class Attempt> int retry(std::chrono::milliseconds timeout, const Link::Check &check, const Link::Time &time, Attempt attempt)
{
	const auto now = [&time] { return time ? time() : Clock::now(); };
	for (const auto until = now() + timeout;;) {
		if (Descriptor fd = attempt())
			return fd.release();
		check_interrupted();
		if (check)
			check();
		if (now() >= until)
			throw Error("the firmware does not answer on its control port");
		std::this_thread::sleep_for(retry_pause);
	}
}

} // namespace

Link Link::connect_daemon(const std::filesystem::path &socket, unsigned port, std::chrono::milliseconds timeout, Check check, Time time)
{
	const auto until = Clock::now() + timeout;
	int dialled = retry(timeout, check, time, [&] {
		Descriptor fd = dial_socket(socket, check);
		if (fd && shake_hands(fd.get(), port, std::max<Clock::time_point>(until, Clock::now() + dial_limit), check))
			return fd;
		return Descriptor();
	});
	return Link(dialled, std::move(check), std::move(time));
}

Link Link::connect_kernel(unsigned cid, unsigned port, std::chrono::milliseconds timeout, Check check, Time time)
{
	sockaddr_vm address{};
	address.svm_family = AF_VSOCK;
	address.svm_cid = cid;
	address.svm_port = port;
	int fd = retry(timeout, check, time,
		       [&] { return dial(AF_VSOCK, reinterpret_cast<sockaddr *>(&address), sizeof(address), check); });
	return Link(fd, std::move(check), std::move(time));
}

Link::Link(int fd, Check check, Time time) : fd_(fd), check_(std::move(check)), time_(std::move(time)) {}

Link::~Link()
{
	if (fd_ >= 0)
		close(fd_);
}

void Link::hang_up()
{
	std::lock_guard hold(lock_);
	if (fd_ >= 0)
		close(std::exchange(fd_, -1));
}

// Most often the machine died, and the check knows why a moment later.
void Link::lost(const char *words)
{
	for (int i = 0; check_ && i < looks_after_a_loss; i++) {
		check_();
		std::this_thread::sleep_for(10ms);
	}
	throw Error(words);
}

// Called between two slices of every wait; false after the time limit.
bool Link::patient(Clock::time_point until) const
{
	check_interrupted();
	if (check_)
		check_();
	return now() < until;
}

void Link::silent() const
{
	throw Error("the firmware was silent for " + std::to_string(silence_limit_.count()) + " ms on the control link");
}

void Link::send(const hz_link_message &message)
{
	const char *data = reinterpret_cast<const char *>(&message);
	size_t done = 0;
	for (auto until = now() + silence_limit_; done < sizeof(message);) {
		ssize_t n = ::send(fd_, data + done, sizeof(message) - done, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (!ready(fd_, POLLOUT, slice) && !patient(until))
				silent();
			continue;
		}
		if (n <= 0)
			lost("the control link to the firmware broke");
		done += static_cast<size_t>(n);
	}
}

// One whole record, or false after `timeout`. A record may come in pieces.
bool Link::receive(hz_link_message &message, std::chrono::milliseconds timeout)
{
	const auto until = now() + timeout;
	while (have_ < sizeof(message)) {
		auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - now());
		if (!ready(fd_, POLLIN, std::clamp(left, std::chrono::milliseconds(0), std::chrono::milliseconds(slice)))) {
			if (!patient(until))
				return false;
			continue;
		}
		ssize_t n = recv(fd_, partial_ + have_, sizeof(message) - have_, MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			lost("the firmware closed the control link");
		have_ += static_cast<size_t>(n);
	}
	std::memcpy(&message, partial_, sizeof(message));
	have_ = 0;
	return true;
}

void Link::take_irq(const hz_link_message &message)
{
	if (message.offset >= std::size(irqs_))
		throw Error("the firmware sent an interrupt of unknown vector " + std::to_string(message.offset));
	irqs_[message.offset]++;
}

hz_link_message Link::ask(hz_link_message message)
{
	std::lock_guard hold(lock_);
	message.tag = next_tag_++;
	send(message);
	for (hz_link_message answer;;) {
		if (!receive(answer, silence_limit_))
			silent();
		if (answer.type == HZ_LINK_IRQ) {
			take_irq(answer);
			continue;
		}
		uint8_t wanted = message.type == HZ_LINK_READ ? HZ_LINK_VALUE : HZ_LINK_DONE;
		if (answer.tag != message.tag || (answer.type != wanted && answer.type != HZ_LINK_ERROR))
			throw Error("the firmware broke the control protocol: type " + std::to_string(answer.type) + ", tag " +
				    std::to_string(answer.tag) + " instead of " + std::to_string(message.tag));
		if (answer.type == HZ_LINK_ERROR)
			throw Error("the firmware refused access to register " + std::to_string(message.offset));
		return answer;
	}
}

uint32_t Link::read32(uint32_t offset) { return static_cast<uint32_t>(ask({HZ_LINK_READ, 4, 0, offset, 0}).value); }

uint64_t Link::read64(uint32_t offset) { return ask({HZ_LINK_READ, 8, 0, offset, 0}).value; }
void Link::write32(uint32_t offset, uint32_t value) { ask({HZ_LINK_WRITE, 4, 0, offset, value}); }
void Link::write64(uint32_t offset, uint64_t value) { ask({HZ_LINK_WRITE, 8, 0, offset, value}); }

// Takes received IRQs, without waiting.
bool Link::take_irqs_of(unsigned vector)
{
	std::lock_guard hold(lock_);
	for (hz_link_message message; receive(message, 0ms);) {
		if (message.type != HZ_LINK_IRQ)
			throw Error("the firmware sent an answer without a request");
		take_irq(message);
	}
	return std::exchange(irqs_[vector], 0) != 0;
}

bool Link::wait_irq(unsigned vector, std::chrono::milliseconds timeout)
{
	const auto until = Clock::now() + timeout;
	while (!take_irqs_of(vector)) {
		const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
		ready(fd_, POLLIN, std::clamp(left, 0ms, std::chrono::milliseconds(slice)));
		if (Clock::now() >= until)
			return take_irqs_of(vector);
	}
	return true;
}

} // namespace hz
