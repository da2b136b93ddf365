// RemoteControl: one record out, one record in, and an eye on the machine while it waits.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/share/remote_control.hpp"

#include <cerrno>
#include <chrono>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

#include "session/machine/error.hpp"

namespace hz {

using namespace std::chrono_literals;
using lease::Ask;

namespace {
constexpr int slice_ms = 100;
constexpr int looks_after_a_loss = 180; // the watch thread soon knows better why
} // namespace

RemoteControl::RemoteControl(Machine &machine) : machine_(machine)
{
	if (machine_.owner_connection() < 0)
		throw Error("the device in " + machine_.run_directory().string() +
			    " is not open to other programs: its owner must have started it with hartzone_launch");
	ask({.ask = Ask::hello, .value = lease::version});
}

RemoteControl::~RemoteControl() { ::shutdown(machine_.owner_connection(), SHUT_RDWR); }

void RemoteControl::lost() const
{
	for (int i = 0; i < looks_after_a_loss; i++) {
		machine_.check();
		std::this_thread::sleep_for(10ms);
	}
	throw Error("the owner of the device in " + machine_.run_directory().string() + " hung up");
}

lease::Reply RemoteControl::receive()
{
	lease::Reply reply;
	for (pollfd item{machine_.owner_connection(), POLLIN, 0}; poll(&item, 1, slice_ms) <= 0;)
		machine_.check_waiting();
	const ssize_t got = recv(machine_.owner_connection(), &reply, sizeof(reply), 0);
	if (got <= 0)
		lost();
	if (got != sizeof(reply))
		throw Error("the owner of the device is of another version of this library");
	reply.text[sizeof(reply.text) - 1] = 0;
	return reply;
}

lease::Reply RemoteControl::ask(lease::Request request)
{
	std::lock_guard hold(lock_);
	request.tag = ++tag_;
	send(machine_.owner_connection(), &request, sizeof(request), MSG_NOSIGNAL); // an owner that hung up may have sent a reason
	lease::Reply reply;
	do
		reply = receive();
	while (reply.tag != tag_); // an earlier wait may have been interrupted
	if (reply.outcome == lease::Outcome::nvme_error)
		throw NvmeError(reply.text, reply.status);
	if (reply.outcome != lease::Outcome::done)
		throw Error(reply.text);
	return reply;
}

AdminResult RemoteControl::admin(const nvme_sqe &sqe)
{
	const lease::Reply reply = ask({.ask = Ask::admin, .sqe = sqe});
	return {reply.status, reply.do_not_retry != 0, reply.dw0};
}

BusAddress RemoteControl::allocate(uint64_t bytes) { return ask({.ask = Ask::allocate, .value = bytes}).value; }
void RemoteControl::free(BusAddress address) { ask({.ask = Ask::free, .value = address}); }

QueueGrant RemoteControl::create_queue(unsigned qid, const QueueOptions &options)
{
	layout_of(options); // throws as the owner would
	const lease::Reply reply = ask({.ask = Ask::create_queue, .qid = qid, .depth = options.depth, .value = options.data_bytes});
	return {reply.qid, reply.value, reply.doorbells};
}

void RemoteControl::delete_queue(unsigned qid) { ask({.ask = Ask::delete_queue, .qid = qid}); }
void RemoteControl::leave() { ask({.ask = Ask::leave}); }

} // namespace hz
