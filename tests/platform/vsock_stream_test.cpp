// vsock_stream.c against a scripted peer, against a peer model that checks the credit rules, and against noise.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "platform/vsock_stream.h"

namespace {

constexpr uint64_t guest = 7, host = 2;
constexpr uint32_t port = 5000;
constexpr size_t room = 4096 + VSOCK_HEADER_BYTES;

struct Packet {
	vsock_header h;
	std::string data;
};

class Stream : public testing::Test {
protected:
	Stream() : s(std::make_unique<vsock_stream>()) { vsock_stream_init(s.get(), guest, port); }

	void give(uint16_t op, const std::string &data = "", uint32_t from = 0, uint32_t flags = 0, uint32_t fwd = 0,
		  uint32_t alloc = 65536)
	{
		vsock_header h = {host, guest, from, port, static_cast<uint32_t>(data.size()), VSOCK_TYPE_STREAM, op, flags, alloc, fwd};
		give_raw(h, data);
	}
	void give_raw(const vsock_header &h, const std::string &data)
	{
		std::string packet(reinterpret_cast<const char *>(&h), sizeof(h));
		packet += data;
		std::unique_ptr<char[]> exact(new char[packet.size()]); // the sanitizer sees any read behind it
		memcpy(exact.get(), packet.data(), packet.size());
		ASSERT_TRUE(vsock_stream_can_take(s.get()));
		vsock_stream_take(s.get(), exact.get(), packet.size());
	}
	std::optional<Packet> next(size_t most = room)
	{
		std::unique_ptr<char[]> buffer(new char[most]);
		size_t bytes = vsock_stream_next(s.get(), buffer.get(), most);
		if (!bytes)
			return {};
		Packet p;
		memcpy(&p.h, buffer.get(), sizeof(p.h));
		p.data.assign(buffer.get() + sizeof(p.h), bytes - sizeof(p.h));
		EXPECT_EQ(p.h.len, p.data.size());
		EXPECT_EQ(p.h.src_cid, guest);
		return p;
	}
	int op()
	{
		auto p = next();
		return p ? p->h.op : -1;
	}
	void connect(uint32_t from = 0, uint32_t alloc = 65536)
	{
		give(VSOCK_OP_REQUEST, "", from, 0, 0, alloc);
		ASSERT_EQ(op(), VSOCK_OP_RESPONSE);
	}
	int recv(std::string *out, size_t most = 100000)
	{
		out->resize(most);
		int n = vsock_stream_recv(s.get(), out->data(), most);
		out->resize(n > 0 ? static_cast<size_t>(n) : 0);
		return n;
	}
	int send(const std::string &data) { return vsock_stream_send(s.get(), data.data(), data.size()); }

	std::unique_ptr<vsock_stream> s;
	std::string got;
};

TEST_F(Stream, ConnectsFromPortZeroAndCarriesBytesBothWays)
{
	EXPECT_EQ(send("x"), -1) << "nobody is there";
	EXPECT_EQ(recv(&got), 0);
	connect(0);
	EXPECT_TRUE(vsock_stream_connected(s.get()));
	give(VSOCK_OP_RW, "hello");
	EXPECT_EQ(recv(&got, 2), 2);
	EXPECT_EQ(got, "he");
	EXPECT_EQ(recv(&got), 3);
	EXPECT_EQ(send("answer"), 6);
	auto p = next();
	ASSERT_TRUE(p);
	EXPECT_EQ(p->h.op, VSOCK_OP_RW);
	EXPECT_EQ(p->data, "answer");
	EXPECT_EQ(p->h.fwd_cnt, 5u);
	EXPECT_EQ(p->h.buf_alloc, static_cast<uint32_t>(VSOCK_BUFFER_BYTES));
	EXPECT_FALSE(next());
}

TEST_F(Stream, ClosingTellsThePeerIfThereIsOne)
{
	vsock_stream_close(s.get());
	EXPECT_FALSE(next()) << "nobody is there";
	connect(3);
	give(VSOCK_OP_RW, "unread", 3);
	EXPECT_EQ(send("unsent"), 6);
	vsock_stream_close(s.get());
	auto p = next();
	ASSERT_TRUE(p);
	EXPECT_EQ(p->h.op, VSOCK_OP_RST);
	EXPECT_EQ(p->h.dst_port, 3u);
	EXPECT_EQ(p->h.src_port, port);
	EXPECT_FALSE(next());
	EXPECT_EQ(recv(&got), 0);
	EXPECT_EQ(send("x"), -1);
	vsock_stream_close(s.get());
	EXPECT_FALSE(next()) << "it has been reported";
	connect(4);
}

TEST_F(Stream, CreditIsReportedWhenHalfABufferWasReadSinceItWasLastReported)
{
	const std::string half(VSOCK_BUFFER_BYTES / 2, 'x');
	connect(0);
	for (int i = 0; i < 3; i++) {
		give(VSOCK_OP_RW, half);
		EXPECT_EQ(recv(&got, half.size() - 1), int(half.size()) - 1);
		EXPECT_FALSE(next()) << "not yet half of it";
		EXPECT_EQ(recv(&got), 1);
		auto p = next();
		ASSERT_TRUE(p);
		EXPECT_EQ(p->h.op, VSOCK_OP_CREDIT_UPDATE);
		EXPECT_EQ(p->h.fwd_cnt, (i + 1) * half.size());
		EXPECT_FALSE(next()) << "reported once";
	}
	give(VSOCK_OP_RW, half);
	EXPECT_EQ(recv(&got, half.size() - 1), int(half.size()) - 1);
	EXPECT_EQ(send("x"), 1);
	EXPECT_EQ(op(), VSOCK_OP_RW) << "which tells the credit too";
	EXPECT_EQ(recv(&got), 1);
	EXPECT_FALSE(next());
}

// An RST that finds no room is left out, a stranger's that waits for room is not.
TEST_F(Stream, ClosingLeavesWaitingAnswersAlone)
{
	connect(0);
	for (uint32_t i = 0; i < VSOCK_RESETS; i++)
		give(VSOCK_OP_REQUEST, "", 100 + i);
	ASSERT_FALSE(vsock_stream_can_take(s.get()));
	vsock_stream_close(s.get());
	std::set<uint32_t> ports;
	while (auto p = next())
		ports.insert(p->h.dst_port);
	EXPECT_EQ(ports.size(), size_t(VSOCK_RESETS));
	EXPECT_EQ(ports.count(0), 0u);
}

TEST_F(Stream, OtherPortsTypesAndSecondPeersAreReset)
{
	vsock_header h = {host, guest, 9, port + 1, 0, VSOCK_TYPE_STREAM, VSOCK_OP_REQUEST, 0, 65536, 0};
	give_raw(h, "");
	auto p = next();
	ASSERT_TRUE(p);
	EXPECT_EQ(p->h.op, VSOCK_OP_RST);
	EXPECT_EQ(p->h.src_port, port + 1);
	EXPECT_EQ(p->h.dst_port, 9u);
	h.dst_port = port;
	h.type = 2; // seqpacket
	give_raw(h, "");
	EXPECT_EQ(op(), VSOCK_OP_RST);
	connect(1);
	give(VSOCK_OP_REQUEST, "", 2);
	EXPECT_EQ(op(), VSOCK_OP_RST);
	give(VSOCK_OP_RW, "from a stranger", 2);
	EXPECT_EQ(op(), VSOCK_OP_RST);
	EXPECT_TRUE(vsock_stream_connected(s.get()));
	EXPECT_EQ(recv(&got), 0);
}

TEST_F(Stream, OtherContextIdsAndShortPacketsAreIgnored)
{
	vsock_header h = {host, guest + 1, 9, port, 0, VSOCK_TYPE_STREAM, VSOCK_OP_REQUEST, 0, 65536, 0};
	give_raw(h, "");
	vsock_stream_take(s.get(), &h, sizeof(h) - 1);
	vsock_stream_take(s.get(), nullptr, 0);
	EXPECT_FALSE(next());
}

TEST_F(Stream, RstIsNeverAnsweredWithRst)
{
	give(VSOCK_OP_RST);
	EXPECT_FALSE(next());
}

TEST_F(Stream, PeerCloseIsReportedOnceAfterItsBytes)
{
	connect();
	give(VSOCK_OP_RW, "last words");
	give(VSOCK_OP_SHUTDOWN, "", 0, VSOCK_SHUTDOWN_RECEIVE | VSOCK_SHUTDOWN_SEND);
	EXPECT_EQ(op(), VSOCK_OP_RST);
	EXPECT_FALSE(vsock_stream_connected(s.get()));
	EXPECT_EQ(send("x"), -1);
	give(VSOCK_OP_REQUEST, "", 1);
	EXPECT_EQ(op(), VSOCK_OP_RST) << "not before the end was read";
	EXPECT_EQ(recv(&got), 10);
	EXPECT_EQ(recv(&got), -1);
	EXPECT_EQ(recv(&got), 0);
	connect(1);
	EXPECT_EQ(recv(&got), 0) << "nothing of the old connection is left";
}

TEST_F(Stream, RstAndTransportResetEndTheConnection)
{
	connect();
	give(VSOCK_OP_RST);
	EXPECT_EQ(recv(&got), -1);
	connect();
	vsock_stream_reset(s.get(), 8);
	EXPECT_EQ(recv(&got), -1);
	EXPECT_FALSE(next());
}

TEST_F(Stream, OwnCloseResetsThePeer)
{
	connect(3);
	send("never sent");
	give(VSOCK_OP_RW, "never read", 3);
	vsock_stream_close(s.get());
	auto p = next();
	ASSERT_TRUE(p);
	EXPECT_EQ(p->h.op, VSOCK_OP_RST);
	EXPECT_EQ(p->h.dst_port, 3u);
	EXPECT_FALSE(next());
	connect(4);
	EXPECT_EQ(recv(&got), 0);
}

TEST_F(Stream, PeerThatBreaksARuleIsCutOff)
{
	connect();
	give(VSOCK_OP_RW, std::string(VSOCK_BUFFER_BYTES, 'a'));
	give(VSOCK_OP_RW, "b");
	EXPECT_EQ(op(), VSOCK_OP_RST) << "more than its credit";
	EXPECT_EQ(recv(&got), VSOCK_BUFFER_BYTES);
	EXPECT_EQ(recv(&got), -1);
	connect();
	give(VSOCK_OP_CREDIT_UPDATE, "", 0, 0, 1);
	EXPECT_EQ(op(), VSOCK_OP_RST) << "forwarded what was never sent";
	EXPECT_EQ(recv(&got), -1);
	connect();
	vsock_header h = {host, guest, 0, port, 100, VSOCK_TYPE_STREAM, VSOCK_OP_RW, 0, 65536, 0};
	give_raw(h, "shorter than len says");
	EXPECT_EQ(op(), VSOCK_OP_RST);
	EXPECT_EQ(recv(&got), -1);
	connect();
	give(VSOCK_OP_RESPONSE);
	EXPECT_EQ(op(), VSOCK_OP_RST) << "an answer to a question never asked";
}

TEST_F(Stream, NeverSendsBeyondThePeersCredit)
{
	connect(0, 10);
	EXPECT_EQ(send("0123456789abcdef"), 16);
	auto p = next();
	ASSERT_TRUE(p);
	EXPECT_EQ(p->data, "0123456789");
	EXPECT_EQ(op(), VSOCK_OP_CREDIT_REQUEST);
	EXPECT_FALSE(next()) << "asks once";
	give(VSOCK_OP_CREDIT_UPDATE, "", 0, 0, 4, 10);
	p = next();
	ASSERT_TRUE(p);
	EXPECT_EQ(p->data, "abcd");
}

TEST_F(Stream, AnswersCreditRequestsWithAnUpdateEvenWhileSending)
{
	connect();
	send("data");
	give(VSOCK_OP_CREDIT_REQUEST);
	EXPECT_EQ(op(), VSOCK_OP_CREDIT_UPDATE);
	EXPECT_EQ(op(), VSOCK_OP_RW);
	EXPECT_FALSE(next());
}

TEST_F(Stream, StopsTakingPacketsWhenAnswersPileUp)
{
	for (int i = 0; i < VSOCK_RESETS; i++)
		give(VSOCK_OP_RW, "stranger", static_cast<uint32_t>(i));
	EXPECT_FALSE(vsock_stream_can_take(s.get()));
	for (uint32_t i = 0; i < VSOCK_RESETS; i++)
		EXPECT_EQ(next()->h.dst_port, i) << "in order";
	EXPECT_TRUE(vsock_stream_can_take(s.get()));
}

// A well-behaved peer with small, changing credit; both directions carry a counted pattern that must arrive whole.
TEST_F(Stream, RandomTrafficArrivesWholeWithinCredit)
{
	const uint64_t seed = 99;
	std::mt19937_64 random(seed);
	connect(5, 1000);
	uint32_t peer_alloc = 1000, peer_fwd = 0, arrived = 0, sent = 0, reported_fwd = 0;
	uint64_t out_at = 0, in_at = 0;
	// The bytes of the endless pattern from `at` on.
	auto pattern = [](uint64_t at, uint64_t count) {
		std::string bytes(count, 0);
		for (char *c = bytes.data(), *end = c + count; c < end; c++, at++)
			*c = static_cast<char>(at * 31 + (at >> 8));
		return bytes;
	};
	for (int turn = 0; turn < 200000; turn++) {
		std::string data;
		switch (random() % 5) {
		case 0: // firmware sends
			data = pattern(out_at, random() % 3000);
			out_at += static_cast<uint64_t>(std::max(0, send(data)));
			break;
		case 1: // peer sends within our credit
			data = pattern(sent, std::min<uint64_t>(random() % 4096, VSOCK_BUFFER_BYTES - (sent - reported_fwd)));
			sent += static_cast<uint32_t>(data.size());
			if (!data.empty())
				give(VSOCK_OP_RW, data, 5, 0, peer_fwd, peer_alloc);
			break;
		case 2: // firmware reads
			if (int n = recv(&data, random() % 5000); n > 0) {
				ASSERT_EQ(data.substr(0, static_cast<size_t>(n)), pattern(in_at, static_cast<uint64_t>(n)))
					<< "seed " << seed << " turn " << turn;
				in_at += static_cast<uint64_t>(n);
			}
			break;
		case 3: // packets go out
			for (auto p = next(VSOCK_HEADER_BYTES + 1 + random() % 4096); p; p = next()) {
				reported_fwd = p->h.fwd_cnt;
				ASSERT_EQ(p->data, pattern(arrived, p->data.size())) << "seed " << seed << " turn " << turn;
				arrived += static_cast<uint32_t>(p->data.size());
				ASSERT_LE(arrived - peer_fwd, peer_alloc) << "beyond credit, seed " << seed << " turn " << turn;
				if (p->h.op == VSOCK_OP_CREDIT_REQUEST)
					give(VSOCK_OP_CREDIT_UPDATE, "", 5, 0, peer_fwd, peer_alloc);
			}
			break;
		default: // peer's user reads
			peer_fwd += static_cast<uint32_t>(random() % (arrived - peer_fwd + 1));
			give(VSOCK_OP_CREDIT_UPDATE, "", 5, 0, peer_fwd, peer_alloc);
		}
	}
	EXPECT_GT(arrived, 10000000u);
	EXPECT_GT(in_at, 10000000u);
	EXPECT_TRUE(vsock_stream_connected(s.get()));
}

TEST_F(Stream, NoiseIsHarmless)
{
	const uint64_t seed = 5;
	std::mt19937_64 random(seed);
	for (int turn = 0; turn < 200000; turn++) {
		std::string data(random() % 50, 'n');
		vsock_header h = {host,
				  guest,
				  static_cast<uint32_t>(random() % 3),
				  port + static_cast<uint32_t>(random() % 8 == 0),
				  static_cast<uint32_t>(random() % 8 ? data.size() : random()),
				  VSOCK_TYPE_STREAM,
				  static_cast<uint16_t>(random() % 9),
				  static_cast<uint32_t>(random() % 4),
				  static_cast<uint32_t>(random()),
				  static_cast<uint32_t>(random() % 4 ? 0 : random())};
		give_raw(h, data);
		if (random() % 3 == 0)
			recv(&got, random() % 200);
		if (random() % 3 == 0)
			send(data);
		while (next()) {}
		ASSERT_LE(s->in.tail - s->in.head, static_cast<uint32_t>(VSOCK_BUFFER_BYTES)) << "seed " << seed << " turn " << turn;
		ASSERT_LE(s->out.tail - s->out.head, static_cast<uint32_t>(VSOCK_BUFFER_BYTES)) << "seed " << seed << " turn " << turn;
	}
}

} // namespace
