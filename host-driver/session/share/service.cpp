// Service: one thread that listens, and one for each tenant.
// SPDX-License-Identifier: BSD-3-Clause
#include "session/share/service.hpp"

#include <algorithm>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "session/machine/error.hpp"
#include "session/machine/unix_socket.hpp"

namespace hz {

namespace {

constexpr int accept_pause_ms = 100; // after a failure, mostly persistent: no descriptors are left

Descriptor listen_in(const std::filesystem::path &folder)
{
	const UnixAddress address(folder, lease::socket_name);
	Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	// The descriptor's mode limits the mode of the name.
	if (!listener || fchmod(listener.get(), 0600) || bind(listener.get(), address.get(), address.bytes) ||
	    listen(listener.get(), SOMAXCONN))
		throw_errno("cannot open " + (folder / lease::socket_name).string() + " to other processes");
	return listener;
}

// Signals are for the program's own threads.
template <class Action> void without_signals(Action action)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	action();
	pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace

Service::Service(const std::filesystem::path &run_directory, LocalControl &control)
	: control_(control), socket_(run_directory / lease::socket_name), listener_(listen_in(run_directory)),
	  stop_(eventfd(0, EFD_CLOEXEC))
{
	if (!stop_)
		throw_errno("cannot make an eventfd");
	without_signals([this] { thread_ = std::thread([this] { listen(); }); });
}

Service::~Service()
{
	control_.close(true);
	eventfd_write(stop_.get(), 1);
	thread_.join();
	for (const auto &tenant : tenants_)
		tenant->join();
	control_.close(false);
	unlink(socket_.c_str());
}

void Service::listen()
{
	pollfd items[2] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
	while (!items[1].revents) {
		if (poll(items, 2, -1) < 0 || !items[0].revents)
			continue;
		const int connection = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
		if (connection >= 0)
			admit(connection);
		else
			poll(&items[1], 1, accept_pause_ms);
	}
}

void Service::forget_finished()
{
	const auto ended = std::stable_partition(tenants_.begin(), tenants_.end(), [](const auto &tenant) { return !tenant->finished(); });
	std::for_each(ended, tenants_.end(), [](const auto &tenant) { tenant->join(); });
	tenants_.erase(ended, tenants_.end());
}

size_t Service::tenants()
{
	std::lock_guard hold(lock_);
	forget_finished();
	return tenants_.size();
}

void Service::admit(int connection)
{
	const auto tenant = std::make_shared<Tenant>(Descriptor(connection), stop_.get(), control_);
	std::lock_guard hold(lock_);
	forget_finished();
	if (tenants_.size() == most_tenants)
		return tenant->refuse("64 other processes use the device already: end one of them first");
	try {
		tenant->start();
		tenants_.push_back(tenant);
	} catch (const std::system_error &) {
		tenant->refuse("the owner of the device cannot start another thread");
	}
}

} // namespace hz
