// Server: sockets, and the loop.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/server.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "session/machine/error.hpp"

namespace hz::fabrics {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds longest_wait = 100ms;

struct Resolved {
	sockaddr_storage address{};
	socklen_t bytes = 0;
};

// Numbers alone: no name is looked up.
Resolved resolve(const Address &address)
{
	addrinfo hints{}, *found = nullptr;
	hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
	hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found))
		throw Error("takes an IP address, which " + address.host + " is not");
	Resolved resolved;
	std::memcpy(&resolved.address, found->ai_addr, found->ai_addrlen);
	resolved.bytes = found->ai_addrlen;
	freeaddrinfo(found);
	return resolved;
}

uint16_t port_of(int socket)
{
	sockaddr_storage address{};
	socklen_t bytes = sizeof(address);
	if (getsockname(socket, reinterpret_cast<sockaddr *>(&address), &bytes))
		throw_errno("cannot ask a socket for its port");
	return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6 &>(address).sin6_port
						   : reinterpret_cast<sockaddr_in &>(address).sin_port);
}

void set(int socket, int level, int option)
{
	const int one = 1;
	setsockopt(socket, level, option, &one, sizeof(one));
}

Descriptor listen_on(const Address &address)
{
	const Resolved where = resolve(address);
	Descriptor listener(socket(where.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (listener)
		set(listener.get(), SOL_SOCKET, SO_REUSEADDR);
	if (!listener || bind(listener.get(), reinterpret_cast<const sockaddr *>(&where.address), where.bytes) ||
	    listen(listener.get(), SOMAXCONN))
		throw_errno("--nvme-tcp cannot listen on " + address.host + ", port " + std::to_string(address.port));
	return listener;
}

} // namespace

bool Address::is_loopback() const
{
	const Resolved where = resolve(*this);
	if (where.address.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6 &>(where.address).sin6_addr);
	return ntohl(reinterpret_cast<const sockaddr_in &>(where.address).sin_addr.s_addr) >> 24 == 127;
}

Address parse_address(const std::string &text)
{
	Address address;
	const size_t colon = text.rfind(':');
	const bool bracketed = text.starts_with('[');
	std::string port = colon == std::string::npos ? text : text.substr(colon + 1),
		    host = colon == std::string::npos ? "" : text.substr(0, colon);
	if (bracketed && text.ends_with(']'))
		host = text, port.clear();
	else if (!bracketed && colon == std::string::npos && text.find('.') != std::string::npos)
		host = text, port.clear();
	if (host.starts_with('[') && host.ends_with(']'))
		host = host.substr(1, host.size() - 2);
	if (!port.empty()) {
		const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), address.port);
		if (code != std::errc() || end != port.data() + port.size())
			throw Error("takes ADDRESS:PORT, ADDRESS or PORT, such as 127.0.0.1:4420, [::1]:0 or 4420, not " + text);
	}
	if (!host.empty())
		address.host = host;
	resolve(address);
	return address;
}

Server::Server(const Address &address) : address_(address), listener_(listen_on(address)), stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	if (!stop_)
		throw_errno("cannot make an eventfd");
	address_.port = port_of(listener_.get());
}

void Server::stop()
{
	stopping_ = true;
	eventfd_write(stop_.get(), 1);
}

void Server::accept_all(const std::shared_ptr<Subsystem> &subsystem)
{
	while (connections_.size() < most_connections) {
		Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (!socket && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
			deaf_until_ = Clock::now() + longest_wait;
		if (!socket)
			return;
		set(socket.get(), IPPROTO_TCP, TCP_NODELAY);
		connections_.push_back(std::make_shared<Connection>(std::move(socket), subsystem, Clock::now()));
		ready_.push_back(0);
		accepted_++;
	}
}

void Server::wait(Backend &backend, std::chrono::nanoseconds longest)
{
	const bool room = connections_.size() < most_connections && Clock::now() >= deaf_until_;
	std::vector<pollfd> items{{stop_.get(), POLLIN, 0}, {backend.event_fd(), POLLIN, 0}, {room ? listener_.get() : -1, POLLIN, 0}};
	const size_t others = items.size();
	for (const auto &connection : connections_)
		items.push_back({connection->fd(), connection->events(), 0});
	const auto wait = std::min(longest, longest_wait);
	const timespec time{static_cast<time_t>(wait / 1s), static_cast<long>((wait % 1s).count())};
	const int count = ppoll(items.data(), items.size(), &time, nullptr);
	knocks_ = count > 0 && items[others - 1].revents;
	for (size_t i = 0; i < connections_.size(); i++)
		ready_[i] = count > 0 ? items[others + i].revents : int16_t(0);
}

void Server::turn_connections()
{
	const auto now = Clock::now();
	const auto all = connections_; // a command may end other connections
	for (size_t i = 0; i < all.size(); i++)
		if (!all[i]->ended())
			all[i]->turn(ready_[i], now);
}

void Server::drop_ended()
{
	for (const auto &connection : connections_)
		if (connection->ended())
			last_end_ = connection->end_reason();
	std::erase_if(connections_, [](const auto &connection) { return connection->ended(); });
	ready_.assign(connections_.size(), 0);
}

void Server::run(Backend &backend, const std::shared_ptr<Subsystem> &subsystem, const std::function<bool()> &stopped)
{
	prctl(PR_SET_TIMERSLACK, 1000); // nanoseconds: completions have their time
	try {
		while (!stopping_ && !stopped()) {
			const auto next = backend.turn();
			for (const auto &connection : connections_)
				connection->flush();
			drop_ended();
			wait(backend, next);
			if (knocks_)
				accept_all(subsystem);
			turn_connections();
			subsystem->look_for_silence(Clock::now());
		}
	} catch (const Error &) {
		connections_.clear();
		throw;
	}
	for (const auto &connection : std::vector(connections_))
		connection->end("the server ends");
	connections_.clear();
}

} // namespace hz::fabrics
