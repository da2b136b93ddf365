// Register link against a scripted peer: records in pieces, interrupts in between, refusals, silence, and a peer that dies.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include "session/machine/error.hpp"
#include "session/machine/interrupt.hpp"
#include "session/nvme/link.hpp"
#include "session/machine/unix_socket.hpp"
#include "waiting.hpp"

namespace {

using namespace std::chrono_literals;
using session_test::error_of;

// The firmware's end of a socket pair, run by a script in a thread.
class Peer {
public:
	explicit Peer(std::function<void(Peer &)> script)
	{
		int ends[2];
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
			abort();
		host_fd = ends[0];
		fd_ = ends[1];
		thread_ = std::thread([this, script] {
			script(*this);
			hang_up();
		});
	}
	~Peer() { thread_.join(); }

	hz_link_message receive()
	{
		hz_link_message m{};
		if (recv(fd_, &m, sizeof(m), MSG_WAITALL) != sizeof(m))
			m.type = 0;
		return m;
	}
	void send(const void *data, size_t bytes) { ASSERT_EQ(::send(fd_, data, bytes, MSG_NOSIGNAL), static_cast<ssize_t>(bytes)); }
	void send(hz_link_message m) { send(&m, sizeof(m)); }
	void hang_up()
	{
		if (fd_ >= 0)
			close(fd_);
		fd_ = -1;
	}

	int host_fd;

private:
	int fd_;
	std::thread thread_;
};

TEST(Link, ReadsAndWritesWithTheRightFields)
{
	Peer peer([](Peer &p) {
		auto m = p.receive();
		EXPECT_EQ(m.type, HZ_LINK_READ);
		EXPECT_EQ(m.size, 8);
		EXPECT_EQ(m.offset, 0u);
		p.send({HZ_LINK_VALUE, 8, m.tag, m.offset, 0x1122334455667788});
		auto w = p.receive();
		EXPECT_EQ(w.type, HZ_LINK_WRITE);
		EXPECT_EQ(w.size, 4);
		EXPECT_EQ(w.offset, 0x14u);
		EXPECT_EQ(w.value, 0x460001u);
		EXPECT_NE(w.tag, m.tag);
		p.send({HZ_LINK_DONE, 4, w.tag, w.offset, 0});
	});
	hz::Link link(peer.host_fd);
	EXPECT_EQ(link.read64(0), 0x1122334455667788u);
	link.write32(0x14, 0x460001);
}

TEST(Link, RecordsMayComeInPiecesAndInterruptsInBetween)
{
	Peer peer([](Peer &p) {
		auto m = p.receive();
		p.send({HZ_LINK_IRQ, 0, 0, 0, 0});
		p.send({HZ_LINK_IRQ, 0, 0, 3, 0});
		hz_link_message answer{HZ_LINK_VALUE, 4, m.tag, m.offset, 7};
		p.send(&answer, 5);
		std::this_thread::sleep_for(20ms);
		p.send(reinterpret_cast<char *>(&answer) + 5, sizeof(answer) - 5);
		p.receive();
	});
	hz::Link link(peer.host_fd);
	EXPECT_EQ(link.read32(8), 7u);
	EXPECT_TRUE(link.wait_irq(0, 0ms));
	EXPECT_FALSE(link.wait_irq(0, 10ms));
	EXPECT_TRUE(link.wait_irq(3, 0ms));
}

TEST(Link, BreachesAndRefusalsAreNamed)
{
	struct Case {
		hz_link_message answer;
		const char *words;
	};
	const Case cases[] = {
		{{HZ_LINK_ERROR, 4, 1, 0x44, 0}, "refused"}, {{HZ_LINK_VALUE, 4, 9, 0x44, 0}, "protocol"},
		{{HZ_LINK_DONE, 4, 1, 0x44, 0}, "protocol"}, {{77, 4, 1, 0x44, 0}, "protocol"},
		{{HZ_LINK_IRQ, 4, 1, 900, 0}, "vector"},
	};
	for (const auto &c : cases) {
		Peer peer([&](Peer &p) {
			p.receive();
			p.send(c.answer);
			p.receive();
		});
		hz::Link link(peer.host_fd);
		EXPECT_NE(error_of([&] { link.read32(0x44); }).find(c.words), std::string::npos) << c.words;
	}
}

TEST(Link, ADeadPeerIsNoticedAtOnce)
{
	Peer peer([](Peer &p) { p.receive(); });
	hz::Link link(peer.host_fd);
	auto start = std::chrono::steady_clock::now();
	EXPECT_NE(error_of([&] { link.read32(0); }).find("closed"), std::string::npos);
	EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
}

TEST(Link, SilenceEndsAndTheCheckIsHeard)
{
	Peer quiet([](Peer &p) {
		p.receive();
		p.receive();
	});
	{
		hz::Link link(quiet.host_fd);
		link.set_silence_limit(150ms);
		EXPECT_NE(error_of([&] { link.read32(0); }).find("silent"), std::string::npos);
	}
	Peer other([](Peer &p) {
		p.receive();
		p.receive();
	});
	hz::Link link(other.host_fd, [] { throw hz::Error("the machine is gone"); });
	EXPECT_EQ(error_of([&] { link.read32(0); }), "the machine is gone");
}

TEST(Link, APeerThatReadsNothingIsSilent)
{
	std::atomic<bool> over{false};
	Peer deaf([&](Peer &) {
		while (!over)
			std::this_thread::sleep_for(1ms);
	});
	hz::Link link(deaf.host_fd);
	const std::string words(4096, 'x');
	while (::send(deaf.host_fd, words.data(), words.size(), MSG_DONTWAIT) > 0)
		;
	link.set_silence_limit(150ms);
	std::string error;
	std::thread asker([&] {
		error = error_of([&] { link.read32(0); });
		over = true;
	});
	EXPECT_TRUE(session_test::within(5s, [&] { return over.load(); }));
	over = true; // and hangs up
	asker.join();
	EXPECT_NE(error.find("silent for 150 ms"), std::string::npos) << error;
}

TEST(Link, CtrlCEndsAWait)
{
	Peer peer([](Peer &p) {
		p.receive();
		p.receive();
	});
	hz::Link link(peer.host_fd);
	hz::set_interrupted(true);
	EXPECT_THROW(link.read32(0), hz::Interrupted);
	hz::set_interrupted(false);
}

// A UNIX listener that behaves like the daemon while no guest is attached, and later like one with a guest.
class Daemon {
public:
	explicit Daemon(std::vector<std::string> answers, std::chrono::milliseconds delay = 0ms)
		: answers_(std::move(answers)), delay_(delay)
	{
		std::filesystem::create_directory(path.parent_path());
		const hz::UnixAddress address(path.parent_path(), path.filename());
		listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (bind(listener_, address.get(), address.bytes) || listen(listener_, 4))
			abort();
		thread_ = std::thread([this] { serve(); });
	}
	~Daemon()
	{
		thread_.join();
		close(listener_);
		std::filesystem::remove_all(path.parent_path());
	}

	// Longer than a socket's name may be.
	std::filesystem::path path = std::filesystem::temp_directory_path() /
				     ("hz-daemon-" + std::to_string(getpid()) + std::string(150, 'x')) / "vm";
	std::vector<std::string> greetings;

private:
	void serve()
	{
		for (const auto &answer : answers_) {
			int fd = accept(listener_, nullptr, nullptr);
			std::string line;
			for (char c; recv(fd, &c, 1, 0) == 1 && c != '\n';)
				line += c;
			greetings.push_back(line);
			std::this_thread::sleep_for(delay_);
			send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
			char c;
			if (answer == answers_.back())
				while (recv(fd, &c, 1, 0) > 0)
					;
			close(fd);
		}
	}

	std::vector<std::string> answers_;
	std::chrono::milliseconds delay_;
	int listener_;
	std::thread thread_;
};

TEST(LinkConnect, RetriesUntilTheGuestListens)
{
	Daemon daemon({"", "", "OK 5000\n"});
	{
		hz::Link link = hz::Link::connect_daemon(daemon.path, 5000, 5s);
		EXPECT_FALSE(link.wait_irq(0, 1ms));
	}
	EXPECT_EQ(daemon.greetings.size(), 3u);
	EXPECT_EQ(daemon.greetings[0], "CONNECT 5000");
}

// A stopped daemon: it listens but accepts no connection, and its backlog is full. The wait must
// still notice a dead machine.
TEST(LinkConnect, AListenerThatTakesNobodyInHoldsNobody)
{
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	const auto path = std::filesystem::temp_directory_path() / ("hz-full-" + std::to_string(getpid()));
	std::strcpy(address.sun_path, path.c_str());
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
	ASSERT_EQ(listen(listener, 0), 0);
	std::vector<int> waiting;
	do
		waiting.push_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	while (connect(waiting.back(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0);
	std::atomic<bool> dead{false}, heard{false};
	std::jthread killer([&] {
		std::this_thread::sleep_for(200ms);
		dead = true;
		for (int i = 0; i < 300 && !heard; i++)
			std::this_thread::sleep_for(10ms);
		close(listener); // a driver that is held anyway is freed, and fails below
	});
	const auto start = std::chrono::steady_clock::now();
	EXPECT_EQ(error_of([&] {
			  hz::Link::connect_daemon(path, 5000, 30s, [&] {
				  if (dead)
					  throw hz::Error("dead");
			  });
		  }),
		  "dead");
	EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
	heard = true;
	for (int fd : waiting)
		close(fd);
	std::filesystem::remove(path);
}

// The daemon takes its time: the caller stays, though his own time is up, since a daemon whose caller has left spins.
TEST(LinkConnect, AnAttemptIsSeenThrough)
{
	Daemon daemon({"OK 5000\n"}, 400ms);
	hz::Link link = hz::Link::connect_daemon(daemon.path, 5000, 50ms);
	EXPECT_FALSE(link.wait_irq(0, 1ms));
	link.hang_up();
	EXPECT_NE(error_of([&] { link.read32(0); }), "");
}

TEST(LinkConnect, GivesUpWithASentence)
{
	auto nowhere = std::filesystem::temp_directory_path() / "hz-nobody-listens-here";
	EXPECT_NE(error_of([&] { hz::Link::connect_daemon(nowhere, 5000, 100ms); }).find("control port"), std::string::npos);
	EXPECT_EQ(error_of([&] { hz::Link::connect_daemon(nowhere, 5000, 5s, [] { throw hz::Error("dead"); }); }), "dead");
	EXPECT_NE(error_of([&] { hz::Link::connect_daemon("/nowhere/at/all", 5000, 1s); }).find("cannot open the folder /nowhere/at"),
		  std::string::npos);
}

} // namespace
