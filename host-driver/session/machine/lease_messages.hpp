// Lease messages: requests of an attached process to the device's owner, one record each way over a
// SOCK_SEQPACKET connection.
//
// The socket `control` is in the run directory. The first request is hello; every request gets one
// reply, in order. A refusal of the connection itself is the reply to hello. When the connection
// ends, all its leases return to the owner. Both ends must be of one build: the version checks
// that.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "nvme.h"

namespace hz::lease {

constexpr const char *socket_name = "control";
constexpr uint32_t version = 1;

enum class Ask : uint32_t {
	hello = 1,    // value: version
	admin,        // sqe
	allocate,     // value: bytes → value: address
	free,         // value: address
	create_queue, // qid, depth, value: bytes of a data buffer → qid, value: memory, doorbells
	delete_queue, // qid
	leave,        // everything that was granted goes back
};

struct Request {
	Ask ask{};
	uint32_t tag = 0; // echoed; 1 for hello, then one more each time
	uint32_t qid = 0, depth = 0;
	uint64_t value = 0;
	nvme_sqe sqe{};
};

enum class Outcome : uint32_t { done, refused, nvme_error };

struct Reply {
	Outcome outcome{};
	uint32_t tag = 0;
	uint32_t qid = 0, dw0 = 0;
	uint64_t value = 0, doorbells = 0;
	uint16_t status = 0; // of admin and nvme_error: SCT << 8 | SC
	uint16_t do_not_retry = 0;
	char text[476]{}; // refused, nvme_error: one sentence, NUL-terminated
};
static_assert(sizeof(Request) == 88 && sizeof(Reply) == 512);

} // namespace hz::lease
