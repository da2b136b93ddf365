// Tenant: receives a request, executes it, replies; in the end returns all leases.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/share/tenant.hpp"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/machine/error.hpp"

namespace hz {

using lease::Ask;
using lease::Outcome;

namespace {

void set_text(lease::Reply &reply, Outcome outcome, const char *words)
{
	reply.outcome = outcome;
	std::snprintf(reply.text, sizeof(reply.text), "%s", words);
}

void require_own(bool own, const std::string &what)
{
	if (!own)
		throw Error(what + " by this process");
}

} // namespace

Tenant::Tenant(Descriptor connection, int stop, LocalControl &control) : connection_(std::move(connection)), stop_(stop), control_(control)
{
	ucred peer{};
	socklen_t bytes = sizeof(peer);
	if (!getsockopt(connection_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		pid_ = peer.pid;
}

void Tenant::start()
{
	thread_ = std::thread([self = shared_from_this()] { self->serve(); });
}

// Closing a connection with unread data would discard the last message sent.
void Tenant::refuse(const char *why)
{
	lease::Reply reply{.tag = 1};
	set_text(reply, Outcome::refused, why);
	send(connection_.get(), &reply, sizeof(reply), MSG_NOSIGNAL | MSG_DONTWAIT);
	shutdown(connection_.get(), SHUT_RDWR);
	for (lease::Request unread; recv(connection_.get(), &unread, sizeof(unread), MSG_DONTWAIT) > 0;)
		;
}

void Tenant::join()
{
	if (thread_.joinable())
		thread_.join();
}

std::string Tenant::name() const { return "process " + std::to_string(pid_); }

bool Tenant::gone() const
{
	pollfd item{connection_.get(), POLLRDHUP, 0};
	return !finished_ && poll(&item, 1, 0) > 0;
}

void Tenant::serve()
{
	try {
		for (lease::Request request; receive(request);) {
			const lease::Reply reply = answer(request);
			if (send(connection_.get(), &reply, sizeof(reply), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(reply))
				break;
		}
		shutdown(connection_.get(), SHUT_RDWR);
		give_back();
	} catch (const std::exception &) { // the service or the machine has ended, or the device refused
		shutdown(connection_.get(), SHUT_RDWR);
	}
	finished_ = true;
}

// False when the process has disconnected, the service ends, or the message is no request.
bool Tenant::receive(lease::Request &request) const
{
	pollfd items[2] = {{connection_.get(), POLLIN, 0}, {stop_, POLLIN, 0}};
	while (poll(items, 2, -1) < 0)
		;
	return !items[1].revents && recv(connection_.get(), &request, sizeof(request), MSG_DONTWAIT) == sizeof(request);
}

lease::Reply Tenant::answer(const lease::Request &request)
{
	lease::Reply reply{};
	reply.tag = request.tag;
	try {
		act(request, reply);
	} catch (const NvmeError &e) {
		set_text(reply, Outcome::nvme_error, e.what());
		reply.status = e.status();
	} catch (const Error &e) {
		set_text(reply, Outcome::refused, e.what());
	}
	return reply;
}

void Tenant::act(const lease::Request &request, lease::Reply &reply)
{
	if (request.ask == Ask::hello && request.value == lease::version)
		greeted_ = true;
	if (!greeted_)
		throw Error("the owner of the device is of another version of this library");
	switch (request.ask) {
	case Ask::hello: return;
	case Ask::admin: return admin(request.sqe, reply);
	case Ask::allocate: memory_.insert(reply.value = control_.allocate(request.value)); return;
	case Ask::create_queue: return create_queue(request, reply);
	case Ask::leave: return give_back();
	case Ask::free:
		require_own(memory_.count(request.value), "address " + std::to_string(request.value) + " was not allocated");
		control_.free(request.value);
		memory_.erase(request.value);
		return;
	case Ask::delete_queue:
		require_own(queues_.count(request.qid), "queue " + std::to_string(request.qid) + " was not opened");
		control_.delete_queue(request.qid);
		queues_.erase(request.qid);
		return;
	}
	throw Error("the owner of the device does not know request " + std::to_string(static_cast<uint32_t>(request.ask)));
}

void Tenant::admin(const nvme_sqe &sqe, lease::Reply &reply)
{
	if (for_the_owner_alone(sqe))
		throw Error("admin command " + std::to_string(sqe.opcode) + " is for the device's owner alone");
	const AdminResult result = control_.admin(sqe);
	reply.status = result.status;
	reply.do_not_retry = result.do_not_retry;
	reply.dw0 = result.dw0;
}

void Tenant::create_queue(const lease::Request &request, lease::Reply &reply)
{
	const QueueGrant grant = control_.lease_queue(request.qid, {.depth = request.depth, .data_bytes = request.value},
						      shared_from_this());
	queues_.insert(grant.qid);
	reply.qid = grant.qid;
	reply.value = grant.memory;
	reply.doorbells = grant.doorbells;
}

// A queue that cannot be deleted keeps its memory: the device may still use it.
void Tenant::give_back()
{
	control_.reclaim_queues(queues_);
	while (!memory_.empty())
		control_.free(memory_.extract(memory_.begin()).value());
}

} // namespace hz
