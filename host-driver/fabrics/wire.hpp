// Wire format of NVMe over Fabrics and its TCP transport (NVMe Base 2.0, section 5 of NVMe/TCP
// Transport 1.0), little-endian.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "nvme.h"

namespace hz::fabrics {

enum PduType : uint8_t {
	pdu_icreq = 0,
	pdu_icresp = 1,
	pdu_h2c_term = 2,
	pdu_c2h_term = 3,
	pdu_command = 4,
	pdu_response = 5,
	pdu_h2c_data = 6,
	pdu_c2h_data = 7,
	pdu_r2t = 9,
};
enum PduFlag : uint8_t { flag_header_digest = 1, flag_data_digest = 2, flag_last = 4, flag_success = 8 };

struct PduHead {
	uint8_t type, flags, hlen, pdo;
	uint32_t plen;
};
static_assert(sizeof(PduHead) == 8);

// ICReq and ICResp: the limit is the number of R2Ts, 0's based, or the most bytes of an H2CData PDU.
struct PduInit {
	PduHead head;
	uint16_t format;
	uint8_t alignment, digests; // alignment: of data, in dwords, 0's based
	uint32_t limit;
	uint8_t reserved[112];
};
static_assert(sizeof(PduInit) == 128);
enum InitDigest : uint8_t { init_header_digest = 1, init_data_digest = 2 };

struct PduTerm {
	PduHead head;
	uint16_t status, field_low, field_high; // field: offset of the wrong byte in the PDU that follows
	uint8_t reserved[10];
};
static_assert(sizeof(PduTerm) == 24);
enum TermStatus : uint16_t {
	term_header_field = 1,
	term_sequence = 2,
	term_header_digest = 3,
	term_out_of_range = 4,
	term_limit = 5,
	term_unsupported = 6,
};

struct PduCommand {
	PduHead head;
	nvme_sqe sqe;
};
struct PduResponse {
	PduHead head;
	nvme_cqe cqe;
};
struct PduData { // also R2T: both address bytes of a command
	PduHead head;
	uint16_t cid, tag;
	uint32_t offset, length, reserved;
};
static_assert(sizeof(PduCommand) == 72 && sizeof(PduResponse) == 24 && sizeof(PduData) == 24);

// The data pointer of a command, in place of its PRPs.
struct Sgl {
	uint64_t offset;
	uint32_t length;
	uint8_t reserved[3], kind;
};
static_assert(sizeof(Sgl) == 16);
enum SglKind : uint8_t { sgl_in_capsule = 0x01, sgl_transport = 0x5a };
constexpr uint8_t psdt_sgl = 0x40; // of the flags of a command: NVME_SQE_PSDT_MASK

constexpr uint8_t opcode_fabrics = 0x7f, opcode_keep_alive = 0x18;
enum FabricsType : uint8_t {
	type_property_set = 0,
	type_connect = 1,
	type_property_get = 4,
	type_auth_send = 5,
	type_auth_receive = 6,
	type_disconnect = 8,
};

// Fabrics commands, in the layout of nvme_sqe: the type is the first byte of the NSID; these start
// at CDW10, offset 40.
struct ConnectFields {
	uint16_t format, qid, sqsize; // sqsize: 0's based
	uint8_t attributes, reserved;
	uint32_t kato_ms;
};
constexpr uint8_t connect_no_flow_control = 0x04;
struct PropertyFields {
	uint8_t size, reserved[3]; // 0: four bytes, 1: eight
	uint32_t offset;
	uint64_t value;
};
struct AuthFields { // of Authentication Send and Receive
	uint8_t reserved, specific0, specific1, protocol;
	uint32_t length;
};
constexpr uint8_t auth_protocol = 0xe9, auth_specific = 0x01;
struct ConnectData {
	uint8_t host_id[16];
	uint16_t cntlid;
	uint8_t reserved18[238];
	char subsystem[256], host[256], reserved768[256];
};
static_assert(sizeof(ConnectFields) == 12 && sizeof(PropertyFields) == 16 && sizeof(AuthFields) == 8 && sizeof(ConnectData) == 1024);
constexpr uint16_t any_controller = 0xffff;
constexpr uint32_t connect_authenticate = 1u << 17; // of Connect's result: ATR

// Messages of DH-HMAC-CHAP (NVMe Base 2.0, section 8.13.5), the data of Authentication Send and Receive.
struct AuthHead {
	uint8_t type, id;
	uint16_t reserved, transaction;
};
enum AuthType : uint8_t { auth_common = 0, auth_dhchap = 1 };
enum AuthId : uint8_t {
	auth_negotiate = 0x00, // auth_common
	auth_challenge = 0x01,
	auth_reply = 0x02,
	auth_success1 = 0x03,
	auth_success2 = 0x04,
	auth_failure2 = 0xf0, // auth_common, from the host
	auth_failure1 = 0xf1, // auth_common, to the host
};
enum AuthHash : uint8_t { hash_none = 0, hash_sha256 = 1, hash_sha384 = 2, hash_sha512 = 3 };
enum AuthGroup : uint8_t { group_null = 0, group_ffdhe2048 = 1, group_ffdhe3072 = 2 };
enum AuthReason : uint8_t { // the explanation of a failure
	auth_failed = 1,
	auth_protocol_unusable = 2,
	auth_channel_mismatch = 3,
	auth_hash_unusable = 4,
	auth_group_unusable = 5,
	auth_wrong_payload = 6,
	auth_wrong_message = 7,
};
struct AuthNegotiate { // descriptors follow
	AuthHead head;
	uint8_t channel, descriptors;
};
struct AuthDescriptor {
	uint8_t protocol, reserved, hashes, groups, hash[30], group[30];
};
constexpr uint8_t auth_descriptor_dhchap = 1;
struct AuthChallenge { // the challenge and the DH value follow
	AuthHead head;
	uint8_t hash_bytes, reserved, hash, group;
	uint16_t dh_bytes;
	uint32_t sequence;
};
struct AuthReply { // the response, the host's challenge and the DH value follow
	AuthHead head;
	uint8_t hash_bytes, reserved, mutual, reserved9;
	uint16_t dh_bytes;
	uint32_t sequence;
};
struct AuthSuccess1 { // the controller's response follows
	AuthHead head;
	uint8_t hash_bytes, reserved, mutual, reserved9[7];
};
struct AuthFailure {
	AuthHead head;
	uint8_t code, reason;
};
constexpr uint8_t auth_failure_code = 1;
static_assert(sizeof(AuthHead) == 6 && sizeof(AuthNegotiate) == 8 && sizeof(AuthDescriptor) == 64 && sizeof(AuthFailure) == 8);
static_assert(sizeof(AuthChallenge) == 16 && sizeof(AuthReply) == 16 && sizeof(AuthSuccess1) == 16);

// In addition to those of protocol/nvme.h.
enum FabricsStatus : uint16_t {
	status_sgl_length = 0x00f,
	status_sgl_kind = 0x011,
	status_sgl_offset = 0x016,
	status_keep_alive_invalid = 0x019,
	status_transport_error = 0x022,
	status_connect_format = 0x180,
	status_connect_busy = 0x181,
	status_connect_invalid = 0x182,
	status_connect_host = 0x184,
	status_authentication_required = 0x191,
};
enum FabricsFeature : uint8_t { feature_keep_alive = 0x0f, feature_host_id = 0x81 };

constexpr uint8_t log_discovery = 0x70;
constexpr const char *discovery_name = "nqn.2014-08.org.nvmexpress.discovery";
struct DiscoveryHead {
	uint64_t generation, records;
	uint16_t format;
	uint8_t reserved[1006];
};
struct DiscoveryEntry {
	uint8_t transport, family, kind, requirements;
	uint16_t port, cntlid, admin_entries, flags;
	uint8_t reserved12[20];
	char service[32];
	uint8_t reserved64[192];
	char subsystem[256], address[256];
	uint8_t security[256];
};
static_assert(sizeof(DiscoveryHead) == 1024 && sizeof(DiscoveryEntry) == 1024);
enum DiscoveryWord : uint8_t { transport_tcp = 3, family_ipv4 = 1, family_ipv6 = 2, kind_nvm = 2, may_disable_flow_control = 4 };

constexpr uint16_t controller_io = 1, controller_discovery = 2; // CNTRLTYPE

} // namespace hz::fabrics
