// The target on a device in memory: conforming hosts, several at once, and the answer to each
// command.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <numeric>

#include "initiator.hpp"
#include "target_rig.hpp"

namespace hz::test {
namespace {

using namespace fabrics;

Bytes counting(size_t bytes, unsigned seed = 0)
{
	Bytes out(bytes);
	for (size_t i = 0; i < bytes; i++)
		out[i] = std::byte(i * 7 + i / 251 + seed);
	return out;
}

nvme_sqe io(uint8_t opcode, uint64_t block, uint32_t blocks, uint32_t nsid = 1)
{
	return Initiator::command(opcode, nsid, static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), blocks - 1);
}

class Target : public testing::Test, protected TargetRig {};

TEST_F(Target, ShowsItsProperties)
{
	auto admin = host();
	EXPECT_EQ(admin.begin(), 1);
	const uint64_t cap = admin.property_get(NVME_REG_CAP, true);
	EXPECT_EQ(cap & 0xffff, Connection::most_entries - 1u);
	EXPECT_TRUE(cap >> NVME_CAP_CSS & NVME_CAP_CSS_CSI);
	EXPECT_EQ(admin.property_get(NVME_REG_VS), NVME_VERSION_2_0);
	EXPECT_EQ(admin.property_get(NVME_REG_CSTS), NVME_CSTS_RDY);
	EXPECT_THROW(admin.property_get(NVME_REG_AQA), std::runtime_error);
	admin.property_set(NVME_REG_CC, NVME_CC_EN | NVME_CC_SHN_NORMAL << NVME_CC_SHN_SHIFT);
	EXPECT_EQ(admin.property_get(NVME_REG_CSTS), NVME_CSTS_RDY | NVME_CSTS_SHST_COMPLETE);
}

TEST_F(Target, IdentifyHasWhatFabricsAdds)
{
	auto admin = host();
	const uint16_t id = admin.begin();
	const Bytes page = admin.identify(NVME_CNS_CONTROLLER);
	const auto controller = read_record<nvme_identify_controller>(page);
	EXPECT_EQ(controller.cntlid, id);
	EXPECT_EQ(controller.cntrltype, 1);
	EXPECT_EQ(controller.maxcmd, Connection::most_entries);
	EXPECT_EQ(controller.sgls, 1u | 1u << 20);
	EXPECT_STREQ(controller.subnqn, subsystem_name);
	EXPECT_NE(read_record<uint16_t>(page, 320), 0) << "KAS";
	EXPECT_EQ(read_record<uint32_t>(page, 1792), (64u + most_in_capsule) / 16) << "IOCCSZ";
	EXPECT_EQ(read_record<uint32_t>(page, 1796), 1u) << "IORCSZ";
}

TEST_F(Target, WritesInCapsulesAndInTransfersReadBack)
{
	for (const Digests digests : {Digests{}, Digests{true, false}, Digests{false, true}, Digests{true, true}})
		for (const uint8_t alignment : {0, 31}) {
			auto admin = host({.digests = digests, .alignment = alignment}),
			     queue = host({.digests = digests, .alignment = alignment});
			queue.begin(1, admin.begin());
			queue.cut_transfers(10000);
			for (const uint32_t blocks : {1u, 4u, 5u, 128u}) {
				const Bytes data = counting(blocks * 4096, blocks);
				EXPECT_EQ(queue.run(io(NVME_IO_WRITE, 8, blocks), data).status, 0);
				const HostCompletion read = queue.run(io(NVME_IO_READ, 8, blocks), {}, blocks * 4096);
				EXPECT_EQ(read.status, 0);
				EXPECT_EQ(read.data, data) << blocks;
			}
		}
}

TEST_F(Target, ManyAtOnce)
{
	auto admin = host(), queue = host({.flow_control = false});
	queue.begin(1, admin.begin());
	std::map<uint16_t, uint32_t> block;
	for (uint32_t i = 0; i < 127; i++)
		block[queue.submit(io(NVME_IO_WRITE, i, 1), counting(4096, i), ~0u, i % 2)] = i;
	for (size_t i = 0; i < 127; i++)
		EXPECT_EQ(block.erase(queue.wait().cid), 1u);
	for (uint32_t i = 0; i < 127; i++)
		block[queue.submit(io(NVME_IO_READ, i, 1), {}, 4096)] = i;
	for (size_t i = 0; i < 127; i++) {
		const HostCompletion done = queue.wait();
		EXPECT_EQ(done.data, counting(4096, block.at(done.cid)));
		EXPECT_EQ(done.head, 0xffff) << "there is no flow control";
	}
}

TEST_F(Target, TheSubmissionQueuesHeadGoesRound)
{
	auto admin = host(), queue = host({.entries = 4});
	queue.begin(1, admin.begin());
	for (unsigned i = 2; i < 12; i++) // Connect was the first
		EXPECT_EQ(queue.run(io(NVME_IO_FLUSH, 0, 1)).head, i % 4);
}

TEST_F(Target, StatusOfTheDeviceAndOfTheTransport)
{
	auto admin = host(), queue = host();
	queue.begin(1, admin.begin());
	const HostCompletion beyond = queue.run(io(NVME_IO_READ, 1 << 20, 1), {}, 4096);
	EXPECT_EQ(beyond.status, NVME_LBA_OUT_OF_RANGE);
	EXPECT_TRUE(beyond.do_not_retry);
	EXPECT_EQ(queue.run(io(NVME_IO_READ, 0, 1, 9), {}, 4096).status, NVME_INVALID_NAMESPACE);
	EXPECT_EQ(queue.run(io(NVME_IO_READ, 0, 2), {}, 4096).status, status_sgl_length) << "less room than data";
	EXPECT_EQ(queue.run(io(NVME_IO_READ, 0, 256), {}, most_transfer).status, NVME_INVALID_FIELD) << "more than MDTS";
	EXPECT_EQ(queue.run(io(NVME_IO_READ, 0, 1), {}, most_transfer + 1).status, NVME_INVALID_FIELD);
	nvme_sqe prp = io(NVME_IO_READ, 0, 1);
	prp.flags = 0;
	EXPECT_EQ(queue.run(prp, {}, 4096).status, NVME_INVALID_FIELD) << "PRPs";
	EXPECT_EQ(admin.run(Initiator::command(NVME_ADMIN_CREATE_SQ)).status, NVME_INVALID_OPCODE);
	EXPECT_EQ(queue.run(io(NVME_IO_FLUSH, 0, 1)).status, 0) << "the queue goes on";
}

TEST_F(Target, ADamagedWriteIsRefusedAndTheQueueGoesOn)
{
	auto admin = host(), queue = host({.digests = {true, true}});
	queue.begin(1, admin.begin());
	nvme_sqe sqe = io(NVME_IO_WRITE, 0, 1);
	sqe.cid = 900;
	write_record(std::as_writable_bytes(std::span(&sqe, 1)), Sgl{0, 4096, {}, sgl_in_capsule}, offsetof(nvme_sqe, prp1));
	const PduCommand header{{}, sqe};
	Bytes pdu = queue.pdu(pdu_command, std::as_bytes(std::span(&header, 1)), counting(4096));
	pdu[200] ^= std::byte(1);
	queue.expect(900);
	queue.send(pdu);
	const HostCompletion done = queue.wait_for(900);
	EXPECT_EQ(done.status, status_transport_error);
	EXPECT_FALSE(done.do_not_retry);
	EXPECT_EQ(queue.run(io(NVME_IO_WRITE, 0, 1), counting(4096)).status, 0);
}

TEST_F(Target, ConnectIsChecked)
{
	auto admin = host();
	const uint16_t id = admin.begin();
	const auto status_of = [&](InitiatorOptions options, uint16_t qid, uint16_t controller) {
		auto other = host(std::move(options));
		other.set_up();
		return other.connect(qid, controller).status;
	};
	EXPECT_EQ(status_of({.subsystem = "nqn.2026-11.org.hartzone:other"}, 0, any_controller), status_connect_invalid);
	EXPECT_EQ(status_of({}, 0, 3), status_connect_invalid) << "a static controller";
	EXPECT_EQ(status_of({}, 1, static_cast<uint16_t>(id + 1)), status_connect_invalid) << "no such controller";
	EXPECT_EQ(status_of({}, 65, id), status_connect_invalid) << "too many queues";
	EXPECT_EQ(status_of({.entries = 129}, 1, id), status_connect_invalid) << "a queue too large";
	EXPECT_EQ(status_of({.host_id = 9}, 1, id), status_connect_host) << "another host's";
	EXPECT_EQ(status_of({}, 1, id), 0);
	auto first = host(), second = host();
	first.set_up();
	EXPECT_EQ(first.connect(2, id).status, 0);
	second.set_up();
	EXPECT_EQ(second.connect(2, id).status, NVME_COMMAND_SEQUENCE) << "a queue that is there";
}

TEST_F(Target, NothingBeforeConnectAndNoQueueBeforeEnable)
{
	auto early = host();
	early.set_up();
	EXPECT_EQ(early.run(Initiator::command(NVME_ADMIN_IDENTIFY, 0, 1), {}, 4096).status, NVME_COMMAND_SEQUENCE);
	const HostCompletion connected = early.connect(0);
	EXPECT_EQ(connected.status, 0);
	EXPECT_EQ(early.run(Initiator::command(NVME_ADMIN_IDENTIFY, 0, 1), {}, 4096).status, NVME_COMMAND_SEQUENCE) << "not enabled";
	auto queue = host();
	queue.set_up();
	EXPECT_EQ(queue.connect(1, static_cast<uint16_t>(connected.result)).status, NVME_COMMAND_SEQUENCE);
}

TEST_F(Target, SixtyFourQueuesAndSeveralHosts)
{
	std::vector<Initiator> all;
	for (const uint8_t who : {1, 2}) {
		all.push_back(host({.host_id = who}));
		const uint16_t id = all.back().begin();
		const uint32_t granted = static_cast<uint32_t>(
			all.back().run(Initiator::command(NVME_ADMIN_SET_FEATURES, 0, NVME_FEAT_NUMBER_OF_QUEUES, 99 | 99 << 16)).result);
		EXPECT_EQ(granted, 63u | 63u << 16);
		for (uint16_t qid = 1; qid <= 64; qid++) {
			all.push_back(host({.host_id = who}));
			all.back().begin(qid, id);
		}
	}
	for (unsigned i = 0; i < all.size(); i++)
		if (i % 65)
			EXPECT_EQ(all[i].run(io(NVME_IO_WRITE, i, 1), counting(4096, i)).status, 0);
	for (unsigned i = 1; i < 65; i++)
		EXPECT_EQ(all[65 + i].run(io(NVME_IO_READ, i, 1), {}, 4096).data, counting(4096, i));
}

TEST_F(Target, TheDiscoverySubsystemNamesTheDevice)
{
	auto discovery = host({.subsystem = discovery_name});
	discovery.begin();
	EXPECT_EQ(read_record<nvme_identify_controller>(discovery.identify(NVME_CNS_CONTROLLER)).cntrltype, 2);
	const auto log = discovery.run(Initiator::command(NVME_ADMIN_GET_LOG_PAGE, 0, log_discovery | 511u << 16), {}, 2048);
	ASSERT_EQ(log.status, 0);
	EXPECT_EQ(read_record<DiscoveryHead>(log.data).records, 1u);
	const auto entry = read_record<DiscoveryEntry>(log.data, 1024);
	EXPECT_EQ(entry.transport, transport_tcp);
	EXPECT_STREQ(entry.subsystem, subsystem_name);
	EXPECT_STREQ(entry.service, std::to_string(port()).c_str());
	EXPECT_STREQ(entry.address, "127.0.0.1");
	const auto second = discovery.run(Initiator::command(NVME_ADMIN_GET_LOG_PAGE, 0, log_discovery | 255u << 16, 0, 1024), {}, 1024);
	EXPECT_EQ(read_record<DiscoveryEntry>(second.data).transport, transport_tcp) << "by its offset";
	EXPECT_EQ(discovery.run(Initiator::command(NVME_ADMIN_GET_LOG_PAGE, 0, NVME_LOG_SMART | 127u << 16), {}, 512).status,
		  NVME_LOG_PAGE_INVALID);
	auto queue = host({.subsystem = discovery_name});
	queue.set_up();
	EXPECT_EQ(queue.connect(1, 1).status, status_connect_invalid) << "it has no I/O queues";
}

TEST_F(Target, AbortReachesWhatTheDeviceHasNotBegun)
{
	auto admin = host(), queue = host();
	queue.begin(1, admin.begin());
	backend.hold(true);
	const uint16_t cid = queue.submit(io(NVME_IO_READ, 0, 1), {}, 4096);
	while (admin.run(Initiator::command(NVME_ADMIN_ABORT, 0, 1u | static_cast<uint32_t>(cid) << 16)).result)
		;
	EXPECT_EQ(queue.wait_for(cid).status, NVME_ABORT_REQUESTED);
	backend.hold(false);
	EXPECT_EQ(admin.run(Initiator::command(NVME_ADMIN_ABORT, 0, 1u | 500u << 16)).result, 1u) << "there is no such command";
	EXPECT_EQ(queue.run(io(NVME_IO_READ, 0, 1), {}, 4096).status, 0);
}

TEST_F(Target, EventRequestsAreHeldAndOneTooManyIsRefused)
{
	auto admin = host();
	admin.begin();
	std::vector<uint16_t> held;
	for (unsigned i = 0; i < 4; i++)
		held.push_back(admin.submit(Initiator::command(NVME_ADMIN_ASYNC_EVENT)));
	EXPECT_EQ(admin.run(Initiator::command(NVME_ADMIN_ASYNC_EVENT)).status, NVME_ASYNC_LIMIT);
	EXPECT_EQ(admin.run(Initiator::command(NVME_ADMIN_ABORT, 0, static_cast<uint32_t>(held[0]) << 16)).result, 0u);
	EXPECT_EQ(admin.wait_for(held[0]).status, NVME_ABORT_REQUESTED);
}

TEST_F(Target, HostsHearOfNamespacesThatComeAndGo)
{
	auto other = host({.host_id = 9}), admin = host();
	const uint16_t others = other.begin(), ours = admin.begin();
	EXPECT_EQ(other.run(Initiator::command(NVME_ADMIN_SET_FEATURES, 0, NVME_FEAT_ASYNC_EVENT, NVME_NOTICE_NAMESPACES)).status, 0);
	const uint16_t event = other.submit(Initiator::command(NVME_ADMIN_ASYNC_EVENT));
	const auto attachment = [&](uint32_t select, nvme_controller_list list) {
		const auto bytes = std::as_bytes(std::span(&list, 1));
		return admin.run(Initiator::command(NVME_ADMIN_NAMESPACE_ATTACHMENT, 1, select), Bytes(bytes.begin(), bytes.end())).status;
	};
	EXPECT_NE(ours, NVME_HZ_CONTROLLER_ID) << "the device has another id for its one controller";
	EXPECT_EQ(attachment(1, {}), NVME_CONTROLLER_LIST);
	EXPECT_EQ(attachment(1, {2, {ours, 999}}), NVME_CONTROLLER_LIST) << "nobody has that id";
	EXPECT_EQ(attachment(1, {2, {ours, others}}), 0) << "detach";
	const HostCompletion notice = other.wait_for(event);
	EXPECT_EQ(notice.result, NVME_AEN_NOTICE | NVME_LOG_CHANGED_NAMESPACES << 16u);
	const auto log = other.run(Initiator::command(NVME_ADMIN_GET_LOG_PAGE, 0, NVME_LOG_CHANGED_NAMESPACES | 1023u << 16), {}, 4096);
	EXPECT_EQ(read_record<uint32_t>(log.data), 1u);
	EXPECT_EQ(read_record<uint32_t>(log.data, 4), 0u);
}

TEST_F(Target, AHostThatIsSilentForTooLongIsLetGo)
{
	auto admin = host({.keep_alive_ms = 50}), other = host({.host_id = 9}), queue = host({.keep_alive_ms = 50});
	queue.begin(1, admin.begin());
	other.begin();
	EXPECT_FALSE(queue.hung_up().status());
	EXPECT_FALSE(admin.hung_up().status());
	EXPECT_EQ(other.run(Initiator::command(opcode_keep_alive)).status, 0);
}

TEST_F(Target, AHostComesBack)
{
	for (unsigned round = 0; round < 20; round++) {
		auto admin = host(), queue = host();
		queue.begin(1, admin.begin());
		EXPECT_EQ(queue.run(io(NVME_IO_WRITE, 3, 1), counting(4096, round)).status, 0);
		if (round % 2)
			admin.close();
		else
			queue.close();
	}
}

TEST_F(Target, QueuesEndWithTheirController)
{
	auto admin = host(), queue = host(), last = host();
	const uint16_t id = admin.begin();
	queue.begin(1, id);
	admin.property_set(NVME_REG_CC, 0);
	EXPECT_FALSE(queue.hung_up().status()) << "a reset";
	admin.property_set(NVME_REG_CC, NVME_CC_EN | NVME_CC_CSS_CSI << NVME_CC_CSS_SHIFT);
	last.begin(1, id);
	EXPECT_EQ(last.run(Initiator::command(opcode_fabrics, type_disconnect)).status, 0);
	EXPECT_FALSE(last.hung_up().status());
	EXPECT_EQ(admin.run(Initiator::command(opcode_keep_alive)).status, 0);
}

// Each of these ends its own connection, with a reason, while another host continues.
TEST_F(Target, WhoBreaksTheProtocolIsAlone)
{
	auto good_admin = host({.host_id = 1}), good = host({.host_id = 1});
	good.begin(1, good_admin.begin());
	const auto expect_end = [&](const char *what, std::optional<TermStatus> status, const std::function<void(Initiator &)> &crime) {
		auto admin = host({.host_id = 2}), bad = host({.host_id = 2});
		bad.begin(1, admin.begin());
		crime(bad);
		EXPECT_EQ(bad.hung_up().status(), status) << what;
		EXPECT_EQ(good.run(io(NVME_IO_WRITE, 1, 1), counting(4096)).status, 0) << what;
		EXPECT_EQ(good.run(io(NVME_IO_READ, 1, 1), {}, 4096).data, counting(4096)) << what;
	};
	expect_end("noise", term_header_field, [](Initiator &i) { i.send(Bytes(1000, std::byte(0xa5))); });
	expect_end("a second ICReq", term_sequence, [](Initiator &i) {
		const PduInit init{};
		i.send(i.pdu(pdu_icreq, std::as_bytes(std::span(&init, 1)), {}));
	});
	expect_end("data that nobody asked for", term_header_field, [](Initiator &i) {
		const PduData part{{}, 1, 3, 0, 64, 0};
		i.send(i.pdu(pdu_h2c_data, std::as_bytes(std::span(&part, 1)), Bytes(64), flag_last));
	});
	expect_end("an id twice", term_sequence, [this](Initiator &i) {
		backend.hold(true);
		const PduCommand header{{}, io(NVME_IO_FLUSH, 0, 1)};
		i.send(i.pdu(pdu_command, std::as_bytes(std::span(&header, 1)), {}));
		i.send(i.pdu(pdu_command, std::as_bytes(std::span(&header, 1)), {}));
		i.hung_up();
		backend.hold(false);
	});
	expect_end("a termination request", std::nullopt, [](Initiator &i) {
		PduTerm term{};
		i.send(i.pdu(pdu_h2c_term, std::as_bytes(std::span(&term, 1)), {}));
	});
	for (const auto &[what, at, length, status] : {std::tuple("not in order", 64u, 64u, term_out_of_range),
						       {"too much", 0u, 8192u + 64, term_out_of_range},
						       {"no end", 0u, 8192u, term_header_field}})
		expect_end(what, status,
			   [&, at = at, length = length](Initiator &i) { i.mistransfer(io(NVME_IO_WRITE, 0, 2), 8192, at, length); });
}

TEST_F(Target, WhoDiesInAnyStateIsCleanedUp)
{
	auto good_admin = host({.host_id = 1}), good = host({.host_id = 1});
	good.begin(1, good_admin.begin());
	for (unsigned round = 0; round < 30; round++) {
		auto admin = host({.host_id = 2}), bad = host({.host_id = 2});
		const uint16_t id = admin.begin();
		if (round % 6 == 0)
			continue; // connected, no ICReq
		bad.set_up();
		if (round % 6 == 1)
			continue;
		bad.connect(1, id);
		if (round % 6 == 2)
			for (unsigned i = 0; i < 100; i++)
				bad.submit(io(NVME_IO_READ, 0, 128), {}, 128 * 4096); // answers that are never read
		if (round % 6 == 3)
			for (unsigned i = 0; i < 100; i++)
				bad.submit(io(NVME_IO_WRITE, 0, 128), Bytes(128 * 4096), ~0u, false); // data that never come
		if (round % 6 == 4)
			bad.send(Bytes(3)); // part of a head
		if (round % 6 == 5)
			bad.submit(io(NVME_IO_READ, 0, 1), {}, 4096), admin.close();
		EXPECT_EQ(good.run(io(NVME_IO_READ, 1, 1), {}, 4096).status, 0);
	}
	EXPECT_EQ(good_admin.run(Initiator::command(opcode_keep_alive)).status, 0);
}

} // namespace
} // namespace hz::test
