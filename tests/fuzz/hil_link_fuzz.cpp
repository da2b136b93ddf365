// Fuzz target: any bytes on the register link of a whole HIL, with admin commands in host memory for whoever finds the doorbell.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "rig.hpp"

using namespace hil_test;

namespace {

// The stream's bytes also serve as the admin queue's content.
void fill_admin_queue(Rig &rig, const uint8_t *data, size_t size)
{
	static const uint8_t opcodes[] = {0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x7c, 0xc0};
	for (size_t i = 0; i + 8 <= size; i += 8) {
		nvme_sqe sqe = admin_sqe(opcodes[data[i] % sizeof(opcodes)], data[i + 1] | static_cast<uint32_t>(data[i + 2]) << 16,
					 data[i + 3] | static_cast<uint32_t>(data[i + 4] % 4) << 16, rig.buffer() + data[i + 5] * 4096,
					 data[i + 6] % 3);
		sqe.prp2 = rig.buffer() + data[i + 7] * 512;
		sqe.cid = static_cast<uint16_t>(i + 1);
		rig.place_admin(sqe);
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	Rig rig({.virtual_clock = (data[0] & 1) != 0});
	if (data[0] & 2) {
		rig.enable();
		fill_admin_queue(rig, data, std::min<size_t>(size, 31 * 8));
	}
	for (size_t at = 1; at < size;) {
		size_t piece = std::min<size_t>(1 + data[at] % 64, size - at);
		rig.send(data + at, piece);
		rig.run_for(20000);
		at += piece;
	}
	rig.run_for(1000000);
	rig.hang_up();
	return 0;
}
