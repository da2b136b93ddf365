// Flexible data placement in the controller: identification, features, log pages, the directive's commands, handles of a namespace.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "geometry.h"
#include "rig.hpp"

namespace hil_test {

constexpr uint32_t handles = 3;

struct PlacementOf : testing::Test {
	explicit PlacementOf(uint32_t count) : rig({.block = true, .handles = count}) { rig.enable(); }
	uint16_t log(uint8_t id, uint32_t bytes, uint32_t group = 1, uint32_t extra10 = 0, uint64_t offset = 0)
	{
		nvme_sqe sqe = admin_sqe(NVME_ADMIN_GET_LOG_PAGE, id | (bytes / 4 - 1) << 16 | extra10, group << 16, rig.buffer());
		sqe.cdw12 = static_cast<uint32_t>(offset);
		std::memset(rig.at(rig.buffer()), 0xee, 4096);
		return rig.status_of(sqe);
	}
	Cqe feature(uint8_t opcode, uint32_t cdw10, uint32_t cdw11, uint32_t cdw12 = 0, uint32_t nsid = 1)
	{
		nvme_sqe sqe = admin_sqe(opcode, cdw10, cdw11, rig.buffer(), nsid);
		sqe.cdw12 = cdw12;
		return rig.admin(sqe);
	}
	uint16_t set_events(uint32_t handle, const std::vector<uint8_t> &types, bool on, uint32_t nsid = 1)
	{
		std::copy(types.begin(), types.end(), rig.at(rig.buffer()));
		return feature(NVME_ADMIN_SET_FEATURES, NVME_FEAT_FDP_EVENTS, handle | static_cast<uint32_t>(types.size()) << 16, on, nsid)
			.status;
	}
	Cqe get_events(uint32_t handle, uint32_t room, uint32_t select = 0)
	{
		std::memset(rig.at(rig.buffer()), 0xee, 64);
		return feature(NVME_ADMIN_GET_FEATURES, NVME_FEAT_FDP_EVENTS | select << 8, handle | room << 16);
	}
	uint16_t directive(uint8_t opcode, uint32_t cdw11, uint32_t nsid = 1, uint32_t dwords = 1024)
	{
		std::memset(rig.at(rig.buffer()), 0xee, 4096);
		return rig.status_of(admin_sqe(opcode, dwords - 1, cdw11, rig.buffer(), nsid));
	}
	Rig rig;
};
struct WithPlacement : PlacementOf {
	WithPlacement() : PlacementOf(handles) {}
};
struct WithoutPlacement : PlacementOf {
	WithoutPlacement() : PlacementOf(0) {}
};

TEST_F(WithoutPlacement, NothingOfItIsThere)
{
	for (uint8_t id = NVME_LOG_FDP_CONFIGURATIONS; id <= NVME_LOG_FDP_EVENTS; id++)
		EXPECT_EQ(log(id, 64), dnr(NVME_LOG_PAGE_INVALID));
	for (uint32_t id : {NVME_FEAT_FDP, NVME_FEAT_FDP_EVENTS}) {
		EXPECT_EQ(feature(NVME_ADMIN_GET_FEATURES, id, 1).status, bad_field);
		EXPECT_EQ(feature(NVME_ADMIN_SET_FEATURES, id, 1).status, bad_field);
	}
	EXPECT_EQ(directive(NVME_ADMIN_DIRECTIVE_SEND, 0), dnr(NVME_INVALID_OPCODE));
	EXPECT_EQ(directive(NVME_ADMIN_DIRECTIVE_RECEIVE, NVME_DIRECTIVE_RETURN), dnr(NVME_INVALID_OPCODE));
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_IDENTIFY, NVME_CNS_CONTROLLER, 0, rig.buffer())), 0);
	EXPECT_FALSE(rig.page<nvme_identify_controller>().ctratt & NVME_CTRATT_FDP);
	EXPECT_FALSE(rig.page<nvme_identify_controller>().oacs & NVME_OACS_DIRECTIVES);
	ASSERT_EQ(log(NVME_LOG_EFFECTS, 4096, 0), 0);
	EXPECT_EQ(rig.page<nvme_effects_log>().iocs[NVME_IO_MGMT_SEND], 0u);
	EXPECT_EQ(rig.page<nvme_effects_log>().acs[NVME_ADMIN_DIRECTIVE_RECEIVE], 0u);
}

TEST_F(WithPlacement, Identification)
{
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_IDENTIFY, NVME_CNS_CONTROLLER, 0, rig.buffer())), 0);
	EXPECT_TRUE(rig.page<nvme_identify_controller>().ctratt & NVME_CTRATT_FDP);
	EXPECT_TRUE(rig.page<nvme_identify_controller>().oacs & NVME_OACS_DIRECTIVES);
	ASSERT_EQ(log(NVME_LOG_EFFECTS, 4096, 0), 0);
	const auto &effects = rig.page<nvme_effects_log>();
	for (uint8_t opcode : {NVME_IO_MGMT_SEND, NVME_IO_MGMT_RECEIVE})
		EXPECT_EQ(effects.iocs[opcode], uint32_t(NVME_EFFECT_SUPPORTED | NVME_SCOPE_NAMESPACE));
	for (uint8_t opcode : {NVME_ADMIN_DIRECTIVE_SEND, NVME_ADMIN_DIRECTIVE_RECEIVE})
		EXPECT_TRUE(effects.acs[opcode] & NVME_EFFECT_SUPPORTED);
	ASSERT_EQ(log(NVME_LOG_SUPPORTED_PAGES, 1024, 0), 0);
	for (uint8_t id = NVME_LOG_FDP_CONFIGURATIONS; id <= NVME_LOG_FDP_EVENTS; id++)
		EXPECT_EQ(rig.page<nvme_supported_pages>().page[id], 1u);
	ASSERT_EQ(log(NVME_LOG_FEATURES, 1024, 0), 0);
	EXPECT_TRUE(rig.page<nvme_features_log>().feature[NVME_FEAT_FDP]);
	EXPECT_TRUE(rig.page<nvme_features_log>().feature[NVME_FEAT_FDP_EVENTS]);
}

TEST_F(WithPlacement, ConfigurationsAndUse)
{
	hz_shape shape;
	hz_shape_of(&rig.cfg, &shape);
	for (uint32_t group : {0u, 2u})
		EXPECT_EQ(log(NVME_LOG_FDP_CONFIGURATIONS, 512, group), bad_field) << "there is one endurance group";
	ASSERT_EQ(log(NVME_LOG_FDP_CONFIGURATIONS, 512), 0);
	const auto &head = rig.page<nvme_fdp_configurations>();
	EXPECT_EQ(head.count, 0) << "one, counted from 0";
	EXPECT_EQ(head.version, 0);
	EXPECT_EQ(head.bytes, 16u + 64 + 4 * handles);
	const auto &one = *rig.at<nvme_fdp_configuration>(rig.buffer() + sizeof head);
	EXPECT_EQ(one.bytes, 64 + 4 * handles);
	EXPECT_EQ(one.attributes, NVME_FDP_VALID | NVME_FDP_VOLATILE_CACHE);
	EXPECT_EQ(one.groups, 1u);
	EXPECT_EQ(one.handles, handles);
	EXPECT_EQ(one.identifiers_most, handles - 1);
	EXPECT_EQ(one.namespaces, 1u);
	EXPECT_EQ(one.unit_bytes, shape.backing_sectors * 4096);
	EXPECT_EQ(one.unit_seconds, 0u);
	for (uint32_t i = 0; i < handles; i++)
		EXPECT_EQ(one.handle[i].type, NVME_HANDLE_INITIALLY_ISOLATED);
	EXPECT_EQ(log(NVME_LOG_FDP_CONFIGURATIONS, 512, 1, 0, head.bytes + 4), bad_field) << "behind the page";
	ASSERT_EQ(log(NVME_LOG_FDP_HANDLES, 512), 0);
	const auto &use = rig.page<nvme_handles_log>();
	EXPECT_EQ(use.count, handles);
	for (uint32_t i = 0; i < handles; i++)
		EXPECT_EQ(use.handle[i].use, NVME_HANDLE_OF_HOST);
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_MANAGEMENT, 1, 0, 0, 1)), 0) << "delete";
	ASSERT_EQ(log(NVME_LOG_FDP_HANDLES, 512), 0);
	EXPECT_EQ(use.handle[0].use, NVME_HANDLE_UNUSED);
}

TEST_F(WithPlacement, Statistics)
{
	hz_shape shape;
	hz_shape_of(&rig.cfg, &shape);
	Rig::Queue q = rig.make_queue(1, 8);
	rig.open(q);
	ASSERT_EQ(rig.io(q, io_sqe(NVME_IO_WRITE, 0, 2, heap + (4 << 20), heap + (5 << 20))).status, 0);
	rig.close(q, rig.now());
	ASSERT_EQ(log(NVME_LOG_FDP_STATISTICS, 64), 0);
	const auto &statistics = rig.page<nvme_fdp_statistics>();
	EXPECT_EQ(statistics.host_bytes[0], 2u * 4096);
	EXPECT_EQ(statistics.media_bytes[0], 120u * 4096) << "of all causes";
	const uint64_t normal = shape.superblock_sectors / shape.superblock_planes, slc = shape.slc_superblock_sectors / shape.planes;
	EXPECT_EQ(statistics.erased_bytes[0], (2 * normal + 3 * slc) * 4096);
	EXPECT_EQ(statistics.host_bytes[1] | statistics.media_bytes[1] | statistics.erased_bytes[1], 0u);
	EXPECT_EQ(log(NVME_LOG_FDP_STATISTICS, 64, 0), bad_field);
	EXPECT_EQ(log(NVME_LOG_FDP_STATISTICS, 64, 1, 0, 68), bad_field);
}

TEST_F(WithPlacement, TheFeatureIsOnForGood)
{
	EXPECT_EQ(feature(NVME_ADMIN_GET_FEATURES, NVME_FEAT_FDP, 0, 0, 0).status, bad_field) << "no such endurance group";
	for (uint32_t select : {NVME_FEAT_CURRENT, NVME_FEAT_DEFAULT, NVME_FEAT_SAVED})
		EXPECT_EQ(feature(NVME_ADMIN_GET_FEATURES, NVME_FEAT_FDP | select << 8, 1, 0, 0).dw0, 1u) << "enabled, configuration 0";
	EXPECT_EQ(feature(NVME_ADMIN_GET_FEATURES, NVME_FEAT_FDP | NVME_FEAT_CAPABILITIES << 8, 1, 0, 0).dw0, 0u);
	for (uint32_t enable : {0u, 1u})
		EXPECT_EQ(feature(NVME_ADMIN_SET_FEATURES, NVME_FEAT_FDP, 1, enable, 0).status, dnr(NVME_FEATURE_NOT_CHANGEABLE));
	EXPECT_EQ(feature(NVME_ADMIN_SET_FEATURES, NVME_FEAT_FDP | NVME_FEAT_SAVE, 1, 1, 0).status, dnr(NVME_FEATURE_NOT_SAVEABLE));
}

TEST_F(WithPlacement, EventsAreChosenByHandle)
{
	const Cqe all = get_events(1, 255);
	ASSERT_EQ(all.status, 0);
	EXPECT_EQ(all.dw0, 3u);
	const auto *choice = rig.at<nvme_fdp_event_choice>(rig.buffer());
	const uint8_t types[] = {NVME_FDP_UNIT_NOT_FULL, NVME_FDP_INVALID_PLACEMENT, NVME_FDP_MEDIA_REALLOCATED};
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(choice[i].type, types[i]);
		EXPECT_EQ(choice[i].enabled, 0);
	}
	EXPECT_EQ(choice[3].type, 0xee);
	ASSERT_EQ(set_events(1, {NVME_FDP_MEDIA_REALLOCATED, NVME_FDP_UNIT_NOT_FULL}, true), 0);
	ASSERT_EQ(set_events(1, {NVME_FDP_UNIT_NOT_FULL}, false), 0);
	EXPECT_EQ(rig.fake->noted[1], ftl_placement_type(NVME_FDP_MEDIA_REALLOCATED));
	EXPECT_EQ(rig.fake->noted[0], 0u);
	ASSERT_EQ(get_events(1, 3).status, 0);
	EXPECT_EQ(choice[0].enabled, 0);
	EXPECT_EQ(choice[2].enabled, 1);
	ASSERT_EQ(get_events(1, 1).status, 0);
	EXPECT_EQ(choice[1].type, 0xee) << "no room";
	ASSERT_EQ(get_events(1, 3, NVME_FEAT_DEFAULT).status, 0);
	EXPECT_EQ(choice[2].enabled, 0);
	EXPECT_EQ(get_events(1, 0, NVME_FEAT_CAPABILITIES).dw0, uint32_t(NVME_FEAT_CAP_CHANGEABLE | NVME_FEAT_CAP_PER_NAMESPACE));
	EXPECT_EQ(get_events(1, 0).dw0, 3u);
	rig.set(NVME_REG_CC, 0);
	rig.enable();
	EXPECT_EQ(rig.fake->noted[1], ftl_placement_type(NVME_FDP_MEDIA_REALLOCATED)) << "after a controller reset";
	for (uint8_t type : {0x01, 0x02, 0x04, 0x81, 0xff})
		EXPECT_EQ(set_events(1, {NVME_FDP_UNIT_NOT_FULL, type}, true), bad_field) << int(type);
	EXPECT_EQ(rig.fake->noted[1], ftl_placement_type(NVME_FDP_MEDIA_REALLOCATED)) << "refused as a whole";
	EXPECT_EQ(set_events(handles, {}, true), bad_field);
	EXPECT_EQ(get_events(handles, 0).status, bad_field);
	for (uint32_t nsid : {0u, 2u, NVME_NSID_ALL})
		EXPECT_EQ(set_events(0, {}, true, nsid), dnr(NVME_INVALID_NAMESPACE));
	EXPECT_EQ(feature(NVME_ADMIN_SET_FEATURES, NVME_FEAT_FDP_EVENTS | NVME_FEAT_SAVE, 0).status, dnr(NVME_FEATURE_NOT_SAVEABLE));
}

TEST_F(WithPlacement, EventsOfEitherKind)
{
	rig.fake->placement_events[1] = {{5000000, 7, 0, 9, NVME_FDP_INVALID_PLACEMENT}, {6999999, 0, 0, 2, NVME_FDP_UNIT_NOT_FULL}};
	rig.fake->placement_events[0] = {{0x123456789ull * 1000000, 77, 70000, 1, NVME_FDP_MEDIA_REALLOCATED}};
	const auto &page = rig.page<nvme_fdp_events>();
	ASSERT_EQ(log(NVME_LOG_FDP_EVENTS, 4096, 1, NVME_FDP_HOST_EVENTS), 0);
	ASSERT_EQ(page.count, 2u);
	EXPECT_EQ(page.event[0].type, NVME_FDP_INVALID_PLACEMENT);
	EXPECT_EQ(page.event[0].flags, NVME_FDP_HAS_PLACEMENT | NVME_FDP_HAS_NSID);
	EXPECT_EQ(page.event[0].placement, 9);
	EXPECT_EQ(page.event[0].milliseconds[0], 5);
	EXPECT_EQ(page.event[0].nsid, 1u);
	EXPECT_EQ(page.event[1].flags, NVME_FDP_HAS_PLACEMENT | NVME_FDP_HAS_NSID | NVME_FDP_HAS_LOCATION);
	EXPECT_EQ(page.event[1].handle, 2);
	EXPECT_EQ(page.event[1].group, 0);
	EXPECT_EQ(page.event[1].milliseconds[0], 6);
	EXPECT_EQ(page.event[2].type, 0) << "zeros";
	ASSERT_EQ(log(NVME_LOG_FDP_EVENTS, 4096), 0);
	ASSERT_EQ(page.count, 1u);
	EXPECT_EQ(page.event[0].moved, 0xffff) << "as many as the field has room for";
	EXPECT_EQ(page.event[0].lba_valid, NVME_FDP_LBA_VALID);
	EXPECT_EQ(page.event[0].first_lba[0], 77);
	EXPECT_EQ(page.event[0].milliseconds[4], 1);
	EXPECT_EQ(page.event[0].milliseconds[0], 0x89);
	EXPECT_EQ(log(NVME_LOG_FDP_EVENTS, 64, 1, 0, 64), 0);
	EXPECT_EQ(rig.at(rig.buffer())[0], NVME_FDP_MEDIA_REALLOCATED);
	EXPECT_EQ(log(NVME_LOG_FDP_EVENTS, 64, 1, 0, 132), bad_field) << "behind the page";
	EXPECT_EQ(log(NVME_LOG_FDP_EVENTS, 64, 2), bad_field);
}

TEST_F(WithPlacement, Directives)
{
	ASSERT_EQ(directive(NVME_ADMIN_DIRECTIVE_RECEIVE, NVME_DIRECTIVE_RETURN), 0);
	const auto &found = rig.page<nvme_directives>();
	EXPECT_EQ(found.supported[0], 1 << NVME_DIRECTIVE_IDENTIFY | 1 << NVME_DIRECTIVE_PLACEMENT);
	EXPECT_EQ(found.enabled[0], found.supported[0]);
	EXPECT_EQ(found.persistent[0], 1 << NVME_DIRECTIVE_PLACEMENT);
	EXPECT_EQ(found.supported[1] | found.enabled[31] | found.persistent[31] | found.reserved96[3999], 0);
	ASSERT_EQ(directive(NVME_ADMIN_DIRECTIVE_RECEIVE, NVME_DIRECTIVE_RETURN, 1, 8), 0);
	EXPECT_EQ(rig.at(rig.buffer())[32], 0xee);
	EXPECT_EQ(directive(NVME_ADMIN_DIRECTIVE_RECEIVE, NVME_DIRECTIVE_RETURN, 2), dnr(NVME_INVALID_NAMESPACE));
	EXPECT_EQ(directive(NVME_ADMIN_DIRECTIVE_RECEIVE, NVME_DIRECTIVE_RETURN | NVME_DIRECTIVE_STREAMS << 8), bad_field);
	EXPECT_EQ(directive(NVME_ADMIN_DIRECTIVE_RECEIVE, 2), bad_field);
	EXPECT_EQ(directive(NVME_ADMIN_DIRECTIVE_SEND, 1), bad_field) << "it can be neither enabled nor disabled";
}

TEST_F(WithPlacement, ANamespaceHasAllHandles)
{
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_MANAGEMENT, 1, 0, 0, 1)), 0);
	const auto create = [&](const std::vector<uint16_t> &list) {
		std::memset(rig.at(rig.buffer()), 0, 4096);
		auto &id = *rig.at<nvme_identify_namespace>(rig.buffer());
		id.nsze = id.ncap = 8;
		auto &wish = *rig.at<nvme_handle_list>(rig.buffer());
		wish.count = static_cast<uint16_t>(list.size());
		std::copy(list.begin(), list.end(), wish.handle);
		return rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_MANAGEMENT, 0, 0, rig.buffer()));
	};
	for (const std::vector<uint16_t> &list : {std::vector<uint16_t>{0}, {1, 0, 2}, {0, 1, 2, 3}, {0, 1, 3}})
		EXPECT_EQ(create(list), dnr(NVME_INVALID_HANDLE_LIST));
	rig.fake->noted[1] = 1;
	rig.fake->placement_events[1] = {{5000000, 7, 0, 9, NVME_FDP_INVALID_PLACEMENT}};
	EXPECT_EQ(create({0, 1, 2}), 0);
	EXPECT_EQ(rig.fake->noted[1], 0u) << "chosen for the namespace before it";
	EXPECT_TRUE(rig.fake->placement_events[1].empty());
	ASSERT_EQ(rig.status_of(admin_sqe(NVME_ADMIN_NAMESPACE_MANAGEMENT, 1, 0, 0, 1)), 0);
	EXPECT_EQ(create({}), 0);
}

} // namespace hil_test
