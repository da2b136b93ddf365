// protocol/nvme.h against libnvme: sizes, offsets of fields, opcodes, register offsets, feature and log ids, status codes.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include <nvme/types.h>

#include "base.h"
#include "device_config.h"
#include "logs.h"
#include "tuple.h"

namespace ours { // both define names like nvme_status; the include guard of base.h keeps its content outside
#include "nvme.h"
} // namespace ours

namespace {

#define SAME_SIZE(mine, theirs) EXPECT_EQ(sizeof(ours::mine), sizeof(struct ::theirs)) << #mine
#define SAME_FIELD(mine, field, theirs, their_field) \
	do { \
		EXPECT_EQ(offsetof(ours::mine, field), offsetof(struct ::theirs, their_field)) << #mine "." #field; \
		EXPECT_EQ(sizeof(ours::mine::field), sizeof(::theirs::their_field)) << #mine "." #field; \
	} while (0)
#define SAME(mine, theirs) EXPECT_EQ(static_cast<unsigned>(ours::mine), static_cast<unsigned>(::theirs)) << #mine

TEST(NvmeVsLibnvme, FlexibleDataPlacement)
{
	SAME_SIZE(nvme_fdp_configuration, nvme_fdp_config_desc);
	SAME_FIELD(nvme_fdp_configuration, bytes, nvme_fdp_config_desc, size);
	SAME_FIELD(nvme_fdp_configuration, attributes, nvme_fdp_config_desc, fdpa);
	SAME_FIELD(nvme_fdp_configuration, vendor_bytes, nvme_fdp_config_desc, vss);
	SAME_FIELD(nvme_fdp_configuration, groups, nvme_fdp_config_desc, nrg);
	SAME_FIELD(nvme_fdp_configuration, handles, nvme_fdp_config_desc, nruh);
	SAME_FIELD(nvme_fdp_configuration, identifiers_most, nvme_fdp_config_desc, maxpids);
	SAME_FIELD(nvme_fdp_configuration, namespaces, nvme_fdp_config_desc, nnss);
	SAME_FIELD(nvme_fdp_configuration, unit_bytes, nvme_fdp_config_desc, runs);
	SAME_FIELD(nvme_fdp_configuration, unit_seconds, nvme_fdp_config_desc, erutl);
	SAME_SIZE(nvme_fdp_configurations, nvme_fdp_config_log);
	SAME_FIELD(nvme_fdp_configurations, count, nvme_fdp_config_log, n);
	SAME_FIELD(nvme_fdp_configurations, bytes, nvme_fdp_config_log, size);
	SAME_SIZE(nvme_handles_log, nvme_fdp_ruhu_log);
	SAME_FIELD(nvme_handles_log, count, nvme_fdp_ruhu_log, nruh);
	SAME_SIZE(nvme_fdp_statistics, nvme_fdp_stats_log);
	SAME_FIELD(nvme_fdp_statistics, host_bytes, nvme_fdp_stats_log, hbmw);
	SAME_FIELD(nvme_fdp_statistics, media_bytes, nvme_fdp_stats_log, mbmw);
	SAME_FIELD(nvme_fdp_statistics, erased_bytes, nvme_fdp_stats_log, mbe);
	SAME_SIZE(nvme_fdp_events, nvme_fdp_events_log);
	SAME_FIELD(nvme_fdp_events, event, nvme_fdp_events_log, events);
#define F(field, theirs) SAME_FIELD(nvme_fdp_event, field, nvme_fdp_event, theirs)
	SAME_SIZE(nvme_fdp_event, nvme_fdp_event);
	F(type, type);
	F(flags, flags);
	F(placement, pid);
	F(nsid, nsid);
	F(group, rgid);
	F(handle, ruhid);
#undef F
	EXPECT_EQ(offsetof(ours::nvme_fdp_event, milliseconds), offsetof(::nvme_fdp_event, ts));
	const size_t specific = offsetof(::nvme_fdp_event, type_specific);
	EXPECT_EQ(offsetof(ours::nvme_fdp_event, lba_valid), specific + offsetof(::nvme_fdp_event_realloc, flags));
	EXPECT_EQ(offsetof(ours::nvme_fdp_event, moved), specific + offsetof(::nvme_fdp_event_realloc, nlbam));
	SAME_SIZE(nvme_handles_status, nvme_fdp_ruh_status);
	SAME_FIELD(nvme_handles_status, count, nvme_fdp_ruh_status, nruhsd);
	SAME_SIZE(nvme_handle_status, nvme_fdp_ruh_status_desc);
	SAME_FIELD(nvme_handle_status, placement, nvme_fdp_ruh_status_desc, pid);
	SAME_FIELD(nvme_handle_status, handle, nvme_fdp_ruh_status_desc, ruhid);
	SAME_FIELD(nvme_handle_status, seconds_left, nvme_fdp_ruh_status_desc, earutr);
	SAME_FIELD(nvme_handle_status, blocks_left, nvme_fdp_ruh_status_desc, ruamw);
	SAME_SIZE(nvme_fdp_event_choice, nvme_fdp_supported_event_desc);
	SAME(NVME_HANDLE_INITIALLY_ISOLATED, NVME_FDP_RUHT_INITIALLY_ISOLATED);
	SAME(NVME_HANDLE_PERSISTENTLY_ISOLATED, NVME_FDP_RUHT_PERSISTENTLY_ISOLATED);
	SAME(NVME_FDP_UNIT_NOT_FULL, NVME_FDP_EVENT_RUNFW);
	SAME(NVME_FDP_INVALID_PLACEMENT, NVME_FDP_EVENT_PID);
	SAME(NVME_FDP_MEDIA_REALLOCATED, NVME_FDP_EVENT_REALLOC);
	SAME(NVME_FDP_HAS_PLACEMENT, NVME_FDP_EVENT_F_PIV);
	SAME(NVME_FDP_HAS_NSID, NVME_FDP_EVENT_F_NSIDV);
	SAME(NVME_FDP_HAS_LOCATION, NVME_FDP_EVENT_F_LV);
	SAME(NVME_CTRATT_FDP, NVME_CTRL_CTRATT_FDPS);
	SAME(NVME_OACS_DIRECTIVES, NVME_CTRL_OACS_DIRECTIVES);
	SAME(NVME_FEAT_FDP, NVME_FEAT_FID_FDP);
	SAME(NVME_FEAT_FDP_EVENTS, NVME_FEAT_FID_FDP_EVENTS);
	SAME(NVME_LOG_FDP_CONFIGURATIONS, NVME_LOG_LID_FDP_CONFIGS);
	SAME(NVME_LOG_FDP_HANDLES, NVME_LOG_LID_FDP_RUH_USAGE);
	SAME(NVME_LOG_FDP_STATISTICS, NVME_LOG_LID_FDP_STATS);
	SAME(NVME_LOG_FDP_EVENTS, NVME_LOG_LID_FDP_EVENTS);
	SAME(NVME_IO_MGMT_RECEIVE, nvme_cmd_io_mgmt_recv);
	SAME(NVME_IO_MGMT_SEND, nvme_cmd_io_mgmt_send);
	SAME(NVME_ADMIN_DIRECTIVE_SEND, nvme_admin_directive_send);
	SAME(NVME_ADMIN_DIRECTIVE_RECEIVE, nvme_admin_directive_recv);
}

TEST(NvmeVsLibnvme, IdentifyController)
{
	SAME_SIZE(nvme_identify_controller, nvme_id_ctrl);
#define F(field) SAME_FIELD(nvme_identify_controller, field, nvme_id_ctrl, field)
	F(vid);
	F(ssvid);
	F(sn);
	F(mn);
	F(fr);
	F(rab);
	F(ieee);
	F(cmic);
	F(mdts);
	F(cntlid);
	F(ver);
	F(rtd3r);
	F(rtd3e);
	F(oaes);
	F(ctratt);
	F(rrls);
	F(cntrltype);
	F(fguid);
	F(nvmsr);
	F(vwci);
	F(mec);
	F(oacs);
	F(acl);
	F(aerl);
	F(frmw);
	F(lpa);
	F(elpe);
	F(npss);
	F(edstt);
	F(dsto);
	F(sanicap);
	F(avscc);
	F(apsta);
	F(wctemp);
	F(cctemp);
	F(mtfa);
	F(hmpre);
	F(hmmin);
	F(tnvmcap);
	F(unvmcap);
	F(sqes);
	F(cqes);
	F(maxcmd);
	F(nn);
	F(oncs);
	F(fuses);
	F(fna);
	F(vwc);
	F(awun);
	F(awupf);
	F(icsvscc);
	F(nwpc);
	F(acwu);
	F(sgls);
	F(mnan);
	F(subnqn);
	F(psd);
	F(vs);
#undef F
}

TEST(NvmeVsLibnvme, PowerState)
{
	SAME_SIZE(nvme_power_state, nvme_id_psd);
#define F(field) SAME_FIELD(nvme_power_state, field, nvme_id_psd, field)
	F(mp);
	F(flags);
	F(enlat);
	F(exlat);
	F(rrt);
	F(rrl);
	F(rwt);
	F(rwl);
	F(idlp);
	F(ips);
	F(actp);
	F(apws);
#undef F
}

TEST(NvmeVsLibnvme, BitsOfIdentifyController)
{
	SAME(NVME_OACS_DBBUF, NVME_CTRL_OACS_DBBUF_CFG);
	SAME(NVME_OACS_FORMAT, NVME_CTRL_OACS_FORMAT);
	SAME(NVME_OACS_SELF_TEST, NVME_CTRL_OACS_SELF_TEST);
	SAME(NVME_DSTO_ONE_TEST, NVME_CTRL_DSTO_ONE_DST);
	SAME(NVME_ONCS_COMPARE, NVME_CTRL_ONCS_COMPARE);
	SAME(NVME_ONCS_WRITE_UNCORRECTABLE, NVME_CTRL_ONCS_WRITE_UNCORRECTABLE);
	SAME(NVME_MC_SEPARATE, NVME_NS_MC_SEPARATE);
	SAME(NVME_DPC_TYPE1, NVME_NS_DPC_PI_TYPE1);
	SAME(NVME_DPC_LAST_BYTES, NVME_NS_DPC_PI_LAST);
	SAME(NVME_DPS_TYPE1, NVME_NS_DPS_PI_TYPE1);
	SAME(NVME_ONCS_VERIFY, NVME_CTRL_ONCS_VERIFY);
	SAME(NVME_ONCS_WRITE_ZEROES, NVME_CTRL_ONCS_WRITE_ZEROES);
	SAME(NVME_ONCS_SELECT, NVME_CTRL_ONCS_SAVE_FEATURES);
	SAME(NVME_NOTICE_ZONES, NVME_CTRL_OAES_ZD);
	SAME(NVME_NOTICE_NAMESPACES, NVME_CTRL_OAES_NA);
	SAME(NVME_AEN_NOTICE_NAMESPACES, NVME_AER_NOTICE_NS_CHANGED);
	SAME(NVME_LOG_CHANGED_NAMESPACES, NVME_LOG_LID_CHANGED_NS);
	SAME(NVME_WARNING_SPARE, NVME_SMART_CRIT_SPARE);
	SAME(NVME_AEN_SMART_SPARE, NVME_AER_SMART_SPARE_THRESHOLD);
	SAME(NVME_VWC_PRESENT, NVME_CTRL_VWC_PRESENT);
	SAME(NVME_VWC_FLUSH_ALL, NVME_CTRL_VWC_FLUSH);
	SAME(NVME_LPA_EFFECTS, NVME_CTRL_LPA_CMD_EFFECTS);
	SAME(NVME_LPA_EXTENDED, NVME_CTRL_LPA_EXTENDED);
	SAME(NVME_LPA_SUPPORTED_PAGES, NVME_CTRL_LPA_LI0_LI5_LI12_LI13);
}

TEST(NvmeVsLibnvme, IdentifyNamespace)
{
	SAME_SIZE(nvme_identify_namespace, nvme_id_ns);
#define F(field) SAME_FIELD(nvme_identify_namespace, field, nvme_id_ns, field)
	F(nsze);
	F(ncap);
	F(nuse);
	F(nsfeat);
	F(nlbaf);
	F(flbas);
	F(mc);
	F(dpc);
	F(dps);
	F(nmic);
	F(rescap);
	F(fpi);
	F(dlfeat);
	F(nawun);
	F(nawupf);
	F(nacwu);
	F(nabsn);
	F(nabo);
	F(nabspf);
	F(noiob);
	F(nvmcap);
	F(npwg);
	F(npwa);
	F(npdg);
	F(npda);
	F(nows);
	F(mssrl);
	F(mcl);
	F(msrc);
	F(anagrpid);
	F(nsattr);
	F(nvmsetid);
	F(endgid);
	F(nguid);
	F(eui64);
	F(lbaf);
#undef F
	SAME_SIZE(nvme_lba_format, nvme_lbaf);
	SAME_FIELD(nvme_lba_format, ms, nvme_lbaf, ms);
	SAME_FIELD(nvme_lba_format, lbads, nvme_lbaf, ds);
	SAME_SIZE(nvme_zns_identify_namespace, nvme_zns_id_ns);
#define F(field) SAME_FIELD(nvme_zns_identify_namespace, field, nvme_zns_id_ns, field)
	F(zoc);
	F(ozcs);
	F(mar);
	F(mor);
	F(rrl);
	F(frl);
	F(numzrwa);
	F(zrwafg);
	F(zrwacap);
	F(lbafe);
	F(vs);
#undef F
	SAME_FIELD(nvme_zns_identify_namespace, zrwas, nvme_zns_id_ns, zrwasz);
	SAME_SIZE(nvme_zns_lba_format, nvme_zns_lbafe);
	SAME_FIELD(nvme_zns_lba_format, zsze, nvme_zns_lbafe, zsze);
	SAME_FIELD(nvme_zns_lba_format, zdes, nvme_zns_lbafe, zdes);
}

TEST(NvmeVsLibnvme, OtherIdentifyPages)
{
	SAME_SIZE(nvme_zns_identify_controller, nvme_zns_id_ctrl);
	SAME_SIZE(nvme_nvm_identify_controller, nvme_id_ctrl_nvm);
#define F(field) SAME_FIELD(nvme_nvm_identify_controller, field, nvme_id_ctrl_nvm, field)
	F(vsl);
	F(wzsl);
	F(wusl);
	F(dmrl);
	F(dmrsl);
	F(dmsl);
#undef F
	SAME_SIZE(nvme_independent_namespace, nvme_id_independent_id_ns);
#define F(field) SAME_FIELD(nvme_independent_namespace, field, nvme_id_independent_id_ns, field)
	F(nsfeat);
	F(nmic);
	F(rescap);
	F(fpi);
	F(anagrpid);
	F(nsattr);
	F(nvmsetid);
	F(endgid);
	F(nstat);
#undef F
	SAME_FIELD(nvme_namespace_descriptor, nidt, nvme_ns_id_desc, nidt);
	SAME_FIELD(nvme_namespace_descriptor, nidl, nvme_ns_id_desc, nidl);
	EXPECT_EQ(sizeof(ours::nvme_namespace_descriptor), offsetof(struct ::nvme_ns_id_desc, nid));
	SAME(NVME_NIDT_EUI64, NVME_NIDT_EUI64);
	SAME(NVME_NIDT_NGUID, NVME_NIDT_NGUID);
	SAME(NVME_NIDT_UUID, NVME_NIDT_UUID);
	SAME(NVME_NIDT_CSI, NVME_NIDT_CSI);
	SAME(NVME_CNS_NAMESPACE, NVME_IDENTIFY_CNS_NS);
	SAME(NVME_CNS_CONTROLLER, NVME_IDENTIFY_CNS_CTRL);
	SAME(NVME_CNS_ACTIVE_NAMESPACES, NVME_IDENTIFY_CNS_NS_ACTIVE_LIST);
	SAME(NVME_CNS_DESCRIPTORS, NVME_IDENTIFY_CNS_NS_DESC_LIST);
	SAME(NVME_CNS_CSI_NAMESPACE, NVME_IDENTIFY_CNS_CSI_NS);
	SAME(NVME_CNS_CSI_CONTROLLER, NVME_IDENTIFY_CNS_CSI_CTRL);
	SAME(NVME_CNS_CSI_ACTIVE_NAMESPACES, NVME_IDENTIFY_CNS_CSI_NS_ACTIVE_LIST);
	SAME(NVME_CNS_INDEPENDENT_NAMESPACE, NVME_IDENTIFY_CNS_CSI_INDEPENDENT_ID_NS);
	SAME(NVME_CNS_COMMAND_SETS, NVME_IDENTIFY_CNS_COMMAND_SET_STRUCTURE);
}

TEST(NvmeVsLibnvme, LogPages)
{
	SAME_SIZE(nvme_smart_log, nvme_smart_log);
#define F(field, theirs) SAME_FIELD(nvme_smart_log, field, nvme_smart_log, theirs)
	F(critical_warning, critical_warning);
	F(temperature, temperature);
	F(available_spare, avail_spare);
	F(spare_threshold, spare_thresh);
	F(percentage_used, percent_used);
	F(data_units_read, data_units_read);
	F(data_units_written, data_units_written);
	F(host_reads, host_reads);
	F(host_writes, host_writes);
	F(busy_minutes, ctrl_busy_time);
	F(power_cycles, power_cycles);
	F(power_on_hours, power_on_hours);
	F(unsafe_shutdowns, unsafe_shutdowns);
	F(media_errors, media_errors);
	F(error_entries, num_err_log_entries);
	F(warning_temperature_time, warning_temp_time);
	F(temperature_sensor, temp_sensor);
#undef F
	SAME_SIZE(nvme_error_entry, nvme_error_log_page);
#define F(field, theirs) SAME_FIELD(nvme_error_entry, field, nvme_error_log_page, theirs)
	F(error_count, error_count);
	F(sqid, sqid);
	F(cid, cmdid);
	F(status_field, status_field);
	F(parameter_location, parm_error_location);
	F(lba, lba);
	F(nsid, nsid);
	F(vs, vs);
	F(trtype, trtype);
	F(cs, cs);
	F(trtype_info, trtype_spec_info);
#undef F
	SAME_SIZE(nvme_changed_zones_log, nvme_zns_changed_zone_log);
	SAME_FIELD(nvme_changed_zones_log, zones, nvme_zns_changed_zone_log, nrzid);
	SAME_FIELD(nvme_changed_zones_log, start, nvme_zns_changed_zone_log, zid);
	SAME_SIZE(nvme_changed_namespaces_log, nvme_ns_list);
	SAME_FIELD(nvme_changed_namespaces_log, nsid, nvme_ns_list, ns);
	SAME_SIZE(nvme_firmware_log, nvme_firmware_slot);
	SAME_FIELD(nvme_firmware_log, frs, nvme_firmware_slot, frs);
	SAME_SIZE(nvme_effects_log, nvme_cmd_effects_log);
	SAME_FIELD(nvme_effects_log, iocs, nvme_cmd_effects_log, iocs);
	SAME(NVME_EFFECT_SUPPORTED, NVME_CMD_EFFECTS_CSUPP);
	SAME(NVME_EFFECT_LBA_CHANGE, NVME_CMD_EFFECTS_LBCC);
	SAME(NVME_EFFECT_INVENTORY_CHANGE, NVME_CMD_EFFECTS_NIC);
	SAME(NVME_LOG_ERROR, NVME_LOG_LID_ERROR);
	SAME(NVME_LOG_SMART, NVME_LOG_LID_SMART);
	SAME(NVME_LOG_ENDURANCE_GROUP, NVME_LOG_LID_ENDURANCE_GROUP);
	SAME_SIZE(nvme_endurance_log, nvme_endurance_group_log);
	SAME_FIELD(nvme_endurance_log, available_spare, nvme_endurance_group_log, avl_spare);
	SAME_FIELD(nvme_endurance_log, percentage_used, nvme_endurance_group_log, percent_used);
	SAME_FIELD(nvme_endurance_log, media_written, nvme_endurance_group_log, media_units_written);
	SAME_FIELD(nvme_endurance_log, error_entries, nvme_endurance_group_log, num_err_info_log_entries);
	SAME(NVME_LOG_FIRMWARE, NVME_LOG_LID_FW_SLOT);
	SAME(NVME_LOG_CHANGED_ZONES, NVME_LOG_LID_ZNS_CHANGED_ZONES);
	SAME(NVME_LOG_EFFECTS, NVME_LOG_LID_CMD_EFFECTS);
}

TEST(NvmeVsLibnvme, TelemetryAndSelfTest)
{
	SAME_SIZE(nvme_telemetry_header, nvme_telemetry_log);
#define F(field, theirs) SAME_FIELD(nvme_telemetry_header, field, nvme_telemetry_log, theirs)
	F(lpi, lpi);
	F(ieee, ieee);
	F(last_block4, dalb4);
	F(host_generation, hostdgn);
	F(controller_available, ctrlavail);
	F(controller_generation, ctrldgn);
	F(reason, rsnident);
#undef F
	EXPECT_EQ(offsetof(ours::nvme_telemetry_header, last_block), offsetof(::nvme_telemetry_log, dalb1));
	SAME(NVME_TELEMETRY_BLOCK, NVME_LOG_TELEM_BLOCK_SIZE);
	SAME(NVME_TELEMETRY_CREATE, NVME_LOG_TELEM_HOST_LSP_CREATE << 8);
	SAME(NVME_LOG_TELEMETRY_HOST, NVME_LOG_LID_TELEMETRY_HOST);
	SAME(NVME_LOG_TELEMETRY_CONTROLLER, NVME_LOG_LID_TELEMETRY_CTRL);
	SAME_SIZE(nvme_self_test_log, nvme_self_test_log);
	SAME_SIZE(nvme_self_test_result, nvme_st_result);
#define F(field, theirs) SAME_FIELD(nvme_self_test_result, field, nvme_st_result, theirs)
	F(status, dsts);
	F(segment, seg);
	F(valid, vdi);
	F(power_on_hours, poh);
	F(nsid, nsid);
	F(failing_lba, flba);
	F(sct, sct);
	F(sc, sc);
#undef F
	SAME(NVME_SELF_TEST_RESULTS, NVME_LOG_ST_MAX_RESULTS);
	SAME(NVME_SELF_TEST_PASSED, NVME_ST_RESULT_NO_ERR);
	SAME(NVME_SELF_TEST_ABORTED, NVME_ST_RESULT_ABORTED);
	SAME(NVME_SELF_TEST_RESET, NVME_ST_RESULT_CLR);
	SAME(NVME_SELF_TEST_REMOVED, NVME_ST_RESULT_NS_REMOVED);
	SAME(NVME_SELF_TEST_FORMATTED, NVME_ST_RESULT_ABORTED_FORMAT);
	SAME(NVME_SELF_TEST_FAILED, NVME_ST_RESULT_KNOWN_SEG_FAIL);
	SAME(NVME_SELF_TEST_UNUSED, NVME_ST_RESULT_NOT_USED);
	SAME(NVME_SELF_TEST_NSID, NVME_ST_VALID_DIAG_INFO_NSID);
	SAME(NVME_SELF_TEST_LBA, NVME_ST_VALID_DIAG_INFO_FLBA);
	SAME(NVME_SELF_TEST_SCT, NVME_ST_VALID_DIAG_INFO_SCT);
	SAME(NVME_SELF_TEST_SC, NVME_ST_VALID_DIAG_INFO_SC);
	SAME(NVME_LOG_SELF_TEST, NVME_LOG_LID_DEVICE_SELF_TEST);
}

TEST(NvmeVsLibnvme, Zones)
{
	SAME_SIZE(nvme_zone_descriptor, nvme_zns_desc);
#define F(field, theirs) SAME_FIELD(nvme_zone_descriptor, field, nvme_zns_desc, theirs)
	F(type, zt);
	F(state, zs);
	F(attributes, za);
	F(attributes_info, zai);
	F(capacity, zcap);
	F(start, zslba);
	F(write_pointer, wp);
#undef F
	SAME_SIZE(nvme_zone_report, nvme_zone_report);
	SAME(NVME_ZS_EMPTY, NVME_ZNS_ZS_EMPTY);
	SAME(NVME_ZS_IMPLICIT_OPEN, NVME_ZNS_ZS_IMPL_OPEN);
	SAME(NVME_ZS_EXPLICIT_OPEN, NVME_ZNS_ZS_EXPL_OPEN);
	SAME(NVME_ZS_CLOSED, NVME_ZNS_ZS_CLOSED);
	SAME(NVME_ZS_READ_ONLY, NVME_ZNS_ZS_READ_ONLY);
	SAME(NVME_ZS_FULL, NVME_ZNS_ZS_FULL);
	SAME(NVME_ZS_OFFLINE, NVME_ZNS_ZS_OFFLINE);
	SAME(NVME_ZSA_CLOSE, NVME_ZNS_ZSA_CLOSE);
	SAME(NVME_ZSA_FINISH, NVME_ZNS_ZSA_FINISH);
	SAME(NVME_ZSA_OPEN, NVME_ZNS_ZSA_OPEN);
	SAME(NVME_ZSA_RESET, NVME_ZNS_ZSA_RESET);
	SAME(NVME_ZSA_OFFLINE, NVME_ZNS_ZSA_OFFLINE);
	SAME(NVME_ZSA_SET_EXTENSION, NVME_ZNS_ZSA_SET_DESC_EXT);
	SAME(NVME_ZRA_REPORT, NVME_ZNS_ZRA_REPORT_ZONES);
	SAME(NVME_ZRA_EXTENDED_REPORT, NVME_ZNS_ZRA_EXTENDED_REPORT_ZONES);
	SAME(NVME_ZRASF_ALL, NVME_ZNS_ZRAS_REPORT_ALL);
	SAME(NVME_ZRASF_EMPTY, NVME_ZNS_ZRAS_REPORT_EMPTY);
	SAME(NVME_ZRASF_IMPLICIT_OPEN, NVME_ZNS_ZRAS_REPORT_IMPL_OPENED);
	SAME(NVME_ZRASF_EXPLICIT_OPEN, NVME_ZNS_ZRAS_REPORT_EXPL_OPENED);
	SAME(NVME_ZRASF_CLOSED, NVME_ZNS_ZRAS_REPORT_CLOSED);
	SAME(NVME_ZRASF_FULL, NVME_ZNS_ZRAS_REPORT_FULL);
	SAME(NVME_ZRASF_READ_ONLY, NVME_ZNS_ZRAS_REPORT_READ_ONLY);
	SAME(NVME_ZRASF_OFFLINE, NVME_ZNS_ZRAS_REPORT_OFFLINE);
	SAME(NVME_CSI_NVM, NVME_CSI_NVM);
	SAME(NVME_CSI_ZNS, NVME_CSI_ZNS);
}

TEST(NvmeVsLibnvme, Opcodes)
{
	SAME(NVME_ADMIN_DELETE_SQ, nvme_admin_delete_sq);
	SAME(NVME_ADMIN_CREATE_SQ, nvme_admin_create_sq);
	SAME(NVME_ADMIN_GET_LOG_PAGE, nvme_admin_get_log_page);
	SAME(NVME_ADMIN_DELETE_CQ, nvme_admin_delete_cq);
	SAME(NVME_ADMIN_CREATE_CQ, nvme_admin_create_cq);
	SAME(NVME_ADMIN_IDENTIFY, nvme_admin_identify);
	SAME(NVME_ADMIN_ABORT, nvme_admin_abort_cmd);
	SAME(NVME_ADMIN_SET_FEATURES, nvme_admin_set_features);
	SAME(NVME_ADMIN_GET_FEATURES, nvme_admin_get_features);
	SAME(NVME_ADMIN_ASYNC_EVENT, nvme_admin_async_event);
	SAME(NVME_ADMIN_DBBUF, nvme_admin_dbbuf);
	SAME(NVME_ADMIN_FORMAT_NVM, nvme_admin_format_nvm);
	SAME(NVME_ADMIN_SANITIZE, nvme_admin_sanitize_nvm);
	SAME(NVME_ADMIN_DEVICE_SELF_TEST, nvme_admin_dev_self_test);
	SAME(NVME_SANITIZE_BLOCK_ERASE, NVME_SANITIZE_SANACT_START_BLOCK_ERASE);
	SAME(NVME_SANITIZE_EXIT_FAILURE, NVME_SANITIZE_SANACT_EXIT_FAILURE);
	SAME(NVME_SANITIZE_DONE, NVME_SANITIZE_SSTAT_STATUS_COMPLETE_SUCCESS);
	SAME(NVME_SANITIZE_RUNS, NVME_SANITIZE_SSTAT_STATUS_IN_PROGESS);
	SAME(NVME_SANITIZE_HAS_FAILED, NVME_SANITIZE_SSTAT_STATUS_COMPLETED_FAILED);
	SAME(NVME_SELF_TEST_SHORT, NVME_DST_STC_SHORT);
	SAME(NVME_SELF_TEST_EXTENDED, NVME_DST_STC_LONG);
	SAME(NVME_SELF_TEST_ABORT, NVME_DST_STC_ABORT);
	SAME(NVME_FORMAT_USER_DATA, NVME_FORMAT_SES_USER_DATA_ERASE);
	SAME(NVME_FORMAT_CRYPTO, NVME_FORMAT_SES_CRYPTO_ERASE);
	SAME(NVME_IO_FLUSH, nvme_cmd_flush);
	SAME(NVME_IO_WRITE, nvme_cmd_write);
	SAME(NVME_IO_READ, nvme_cmd_read);
	SAME(NVME_IO_COMPARE, nvme_cmd_compare);
	SAME(NVME_IO_VERIFY, nvme_cmd_verify);
	SAME(NVME_IO_WRITE_ZEROES, nvme_cmd_write_zeroes);
	SAME(NVME_IO_WRITE_UNCORRECTABLE, nvme_cmd_write_uncor);
	SAME(NVME_IO_ZONE_MGMT_SEND, nvme_zns_cmd_mgmt_send);
	SAME(NVME_IO_ZONE_MGMT_RECV, nvme_zns_cmd_mgmt_recv);
	SAME(NVME_IO_ZONE_APPEND, nvme_zns_cmd_append);
	EXPECT_EQ(NVME_RW_FUA >> 16, static_cast<unsigned>(NVME_IO_FUA));
	EXPECT_EQ(NVME_RW_PRACT >> 16, static_cast<unsigned>(NVME_IO_PRINFO_PRACT));
	EXPECT_EQ(NVME_RW_PIREMAP >> 16, static_cast<unsigned>(NVME_IO_ZNS_APPEND_PIREMAP));
	EXPECT_EQ(HZ_CHECK_GUARD << ours::NVME_RW_PRCHK_SHIFT >> 16, static_cast<int>(NVME_IO_PRINFO_PRCHK_GUARD));
	EXPECT_EQ(HZ_CHECK_APPLICATION << ours::NVME_RW_PRCHK_SHIFT >> 16, static_cast<int>(NVME_IO_PRINFO_PRCHK_APP));
	EXPECT_EQ(HZ_CHECK_REFERENCE << ours::NVME_RW_PRCHK_SHIFT >> 16, static_cast<int>(NVME_IO_PRINFO_PRCHK_REF));
}

TEST(NvmeVsLibnvme, Registers)
{
	SAME(NVME_REG_CAP, NVME_REG_CAP);
	SAME(NVME_REG_VS, NVME_REG_VS);
	SAME(NVME_REG_INTMS, NVME_REG_INTMS);
	SAME(NVME_REG_INTMC, NVME_REG_INTMC);
	SAME(NVME_REG_CC, NVME_REG_CC);
	SAME(NVME_REG_CSTS, NVME_REG_CSTS);
	SAME(NVME_REG_NSSR, NVME_REG_NSSR);
	SAME(NVME_REG_AQA, NVME_REG_AQA);
	SAME(NVME_REG_ASQ, NVME_REG_ASQ);
	SAME(NVME_REG_ACQ, NVME_REG_ACQ);
	SAME(NVME_REG_CMBLOC, NVME_REG_CMBLOC);
	SAME(NVME_REG_CMBSZ, NVME_REG_CMBSZ);
	SAME(NVME_CAP_CQR, NVME_CAP_CQR_SHIFT);
	SAME(NVME_CAP_AMS, NVME_CAP_AMS_SHIFT);
	SAME(NVME_CAP_TO, NVME_CAP_TO_SHIFT);
	SAME(NVME_CAP_DSTRD, NVME_CAP_DSTRD_SHIFT);
	SAME(NVME_CAP_CSS, NVME_CAP_CSS_SHIFT);
	SAME(NVME_CAP_MPSMIN, NVME_CAP_MPSMIN_SHIFT);
	SAME(NVME_CAP_MPSMAX, NVME_CAP_MPSMAX_SHIFT);
	SAME(NVME_CAP_CSS_NVM, NVME_CAP_CSS_NVM);
	SAME(NVME_CAP_CSS_CSI, NVME_CAP_CSS_CSI);
	SAME(NVME_CAP_CSS_ADMIN, NVME_CAP_CSS_ADMIN);
	SAME(NVME_CC_CSS_SHIFT, NVME_CC_CSS_SHIFT);
	SAME(NVME_CC_MPS_SHIFT, NVME_CC_MPS_SHIFT);
	SAME(NVME_CC_AMS_SHIFT, NVME_CC_AMS_SHIFT);
	SAME(NVME_CC_AMS_ROUND_ROBIN, NVME_CC_AMS_RR);
	SAME(NVME_CC_AMS_WEIGHTED, NVME_CC_AMS_WRRU);
	SAME(NVME_CC_AMS_VENDOR, NVME_CC_AMS_VS);
	SAME(NVME_CC_SHN_SHIFT, NVME_CC_SHN_SHIFT);
	SAME(NVME_CC_IOSQES_SHIFT, NVME_CC_IOSQES_SHIFT);
	SAME(NVME_CC_IOCQES_SHIFT, NVME_CC_IOCQES_SHIFT);
	SAME(NVME_CC_CSS_CSI, NVME_CC_CSS_CSI);
	SAME(NVME_CC_CSS_ADMIN, NVME_CC_CSS_ADMIN);
	SAME(NVME_CC_SHN_NORMAL, NVME_CC_SHN_NORMAL);
	SAME(NVME_CC_SHN_ABRUPT, NVME_CC_SHN_ABRUPT);
	EXPECT_EQ(unsigned{ours::NVME_CSTS_SHST_OCCURRING}, unsigned{::NVME_CSTS_SHST_OCCUR} << ::NVME_CSTS_SHST_SHIFT);
	EXPECT_EQ(unsigned{ours::NVME_CSTS_SHST_COMPLETE}, unsigned{::NVME_CSTS_SHST_CMPLT} << ::NVME_CSTS_SHST_SHIFT);
	EXPECT_EQ(unsigned{ours::NVME_CSTS_CFS}, 1u << ::NVME_CSTS_CFS_SHIFT);
	SAME(NVME_AQA_ACQS_SHIFT, NVME_AQA_ACQS_SHIFT);
	SAME(NVME_AQA_ASQS_MASK, NVME_AQA_ASQS_MASK);
}

TEST(NvmeVsLibnvme, Features)
{
	SAME(NVME_FEAT_ARBITRATION, NVME_FEAT_FID_ARBITRATION);
	SAME(NVME_FEAT_POWER_MANAGEMENT, NVME_FEAT_FID_POWER_MGMT);
	SAME(NVME_FEAT_TEMPERATURE_THRESHOLD, NVME_FEAT_FID_TEMP_THRESH);
	SAME(NVME_FEAT_ERROR_RECOVERY, NVME_FEAT_FID_ERR_RECOVERY);
	SAME(NVME_FEAT_VOLATILE_WRITE_CACHE, NVME_FEAT_FID_VOLATILE_WC);
	SAME(NVME_FEAT_NUMBER_OF_QUEUES, NVME_FEAT_FID_NUM_QUEUES);
	SAME(NVME_FEAT_INTERRUPT_COALESCING, NVME_FEAT_FID_IRQ_COALESCE);
	SAME(NVME_FEAT_INTERRUPT_VECTOR, NVME_FEAT_FID_IRQ_CONFIG);
	SAME(NVME_FEAT_WRITE_ATOMICITY, NVME_FEAT_FID_WRITE_ATOMIC);
	SAME(NVME_FEAT_ASYNC_EVENT, NVME_FEAT_FID_ASYNC_EVENT);
	SAME(NVME_FEAT_IOCS_PROFILE, NVME_FEAT_FID_IOCS_PROFILE);
	SAME(NVME_FEAT_CURRENT, NVME_GET_FEATURES_SEL_CURRENT);
	SAME(NVME_FEAT_CAPABILITIES, NVME_GET_FEATURES_SEL_SUPPORTED);
}

TEST(NvmeVsLibnvme, StatusCodes)
{
#define GENERIC(mine, theirs) EXPECT_EQ(unsigned{ours::mine}, unsigned{::NVME_SCT_GENERIC} << 8 | unsigned{::theirs}) << #mine
#define SPECIFIC(mine, theirs) EXPECT_EQ(unsigned{ours::mine}, unsigned{::NVME_SCT_CMD_SPECIFIC} << 8 | unsigned{::theirs}) << #mine
#define MEDIA(mine, theirs) EXPECT_EQ(unsigned{ours::mine}, unsigned{::NVME_SCT_MEDIA} << 8 | unsigned{::theirs}) << #mine
	GENERIC(NVME_SUCCESS, NVME_SC_SUCCESS);
	GENERIC(NVME_INVALID_OPCODE, NVME_SC_INVALID_OPCODE);
	GENERIC(NVME_INVALID_FIELD, NVME_SC_INVALID_FIELD);
	GENERIC(NVME_CID_CONFLICT, NVME_SC_CMDID_CONFLICT);
	GENERIC(NVME_DATA_TRANSFER_ERROR, NVME_SC_DATA_XFER_ERROR);
	GENERIC(NVME_INTERNAL_ERROR, NVME_SC_INTERNAL);
	GENERIC(NVME_ABORT_REQUESTED, NVME_SC_ABORT_REQ);
	GENERIC(NVME_ABORT_SQ_DELETED, NVME_SC_ABORT_QUEUE);
	GENERIC(NVME_INVALID_NAMESPACE, NVME_SC_INVALID_NS);
	GENERIC(NVME_COMMAND_SEQUENCE, NVME_SC_CMD_SEQ_ERROR);
	GENERIC(NVME_PRP_OFFSET_INVALID, NVME_SC_PRP_INVALID_OFFSET);
	GENERIC(NVME_INVALID_IOCS, NVME_SC_INVALID_IOCS);
	GENERIC(NVME_LBA_OUT_OF_RANGE, NVME_SC_LBA_RANGE);
	GENERIC(NVME_CAPACITY_EXCEEDED, NVME_SC_CAP_EXCEEDED);
	GENERIC(NVME_NAMESPACE_NOT_READY, NVME_SC_NS_NOT_READY);
	GENERIC(NVME_FORMAT_IN_PROGRESS, NVME_SC_FORMAT_IN_PROGRESS);
	SPECIFIC(NVME_CQ_INVALID, NVME_SC_CQ_INVALID);
	SPECIFIC(NVME_QID_INVALID, NVME_SC_QID_INVALID);
	SPECIFIC(NVME_QUEUE_SIZE, NVME_SC_QUEUE_SIZE);
	SPECIFIC(NVME_ABORT_LIMIT, NVME_SC_ABORT_LIMIT);
	SPECIFIC(NVME_ASYNC_LIMIT, NVME_SC_ASYNC_LIMIT);
	SPECIFIC(NVME_INTERRUPT_VECTOR, NVME_SC_INVALID_VECTOR);
	SPECIFIC(NVME_LOG_PAGE_INVALID, NVME_SC_INVALID_LOG_PAGE);
	SPECIFIC(NVME_QUEUE_DELETION, NVME_SC_INVALID_QUEUE);
	SPECIFIC(NVME_FEATURE_NOT_SAVEABLE, NVME_SC_FEATURE_NOT_SAVEABLE);
	SPECIFIC(NVME_FEATURE_NOT_CHANGEABLE, NVME_SC_FEATURE_NOT_CHANGEABLE);
	SPECIFIC(NVME_FEATURE_NOT_PER_NAMESPACE, NVME_SC_FEATURE_NOT_PER_NS);
	SPECIFIC(NVME_SELF_TEST_RUNS, NVME_SC_SELF_TEST_IN_PROGRESS);
	SPECIFIC(NVME_IOCS_NOT_SUPPORTED, NVME_SC_IOCS_NOT_SUPPORTED);
	SPECIFIC(NVME_INVALID_PROTECTION, NVME_SC_INVALID_PI);
	SPECIFIC(NVME_ZONE_BOUNDARY, NVME_SC_ZNS_BOUNDARY_ERROR);
	SPECIFIC(NVME_ZONE_FULL, NVME_SC_ZNS_FULL);
	SPECIFIC(NVME_ZONE_READ_ONLY, NVME_SC_ZNS_READ_ONLY);
	SPECIFIC(NVME_ZONE_OFFLINE, NVME_SC_ZNS_OFFLINE);
	SPECIFIC(NVME_ZONE_INVALID_WRITE, NVME_SC_ZNS_INVALID_WRITE);
	SPECIFIC(NVME_TOO_MANY_ACTIVE, NVME_SC_ZNS_TOO_MANY_ACTIVE);
	SPECIFIC(NVME_TOO_MANY_OPEN, NVME_SC_ZNS_TOO_MANY_OPENS);
	SPECIFIC(NVME_ZONE_INVALID_TRANSITION, NVME_SC_ZNS_INVAL_TRANSITION);
	MEDIA(NVME_WRITE_FAULT, NVME_SC_WRITE_FAULT);
	MEDIA(NVME_UNRECOVERED_READ, NVME_SC_READ_ERROR);
	MEDIA(NVME_GUARD_CHECK, NVME_SC_GUARD_CHECK);
	MEDIA(NVME_APPLICATION_CHECK, NVME_SC_APPTAG_CHECK);
	MEDIA(NVME_REFERENCE_CHECK, NVME_SC_REFTAG_CHECK);
	EXPECT_EQ(unsigned{ours::NVME_DNR}, unsigned{::NVME_SC_DNR});
}

} // namespace
