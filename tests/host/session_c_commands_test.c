/* Every command from C: several buffers, flags, zeros, zone iteration, identify, log pages, features, and commands by their dwords. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "c_api_check.h"

enum {
	INVALID_OPCODE = 0x001,
	INVALID_FIELD = 0x002,
	INVALID_LOG_PAGE = 0x109,
	INVALID_ZONE_OP = 0x1b6,
	LBA_OUT_OF_RANGE = 0x80,
	SIZE_LIMIT = 0x183,
	COMPARE_FAILURE = 0x285,
	WRITE = 1,
	READ = 2,
	GET_LOG_PAGE = 2,
	SET_FEATURES = 9,
	CREATE_SQ = 1,
	IO_MANAGEMENT_RECEIVE = 0x12
};

static unsigned char data[BLOCKS * HARTZONE_BLOCK_BYTES], back[BLOCKS * HARTZONE_BLOCK_BYTES];

static const char *last_error(void) { return hartzone_error_text(HARTZONE_ERROR); }

/* Cut at odd places: only the sum must be whole blocks. */
static void several_buffers(hartzone_queue *queue)
{
	const size_t cut = 3 * HARTZONE_BLOCK_BYTES + 77;
	struct iovec from[2] = {{data, cut}, {data + cut, sizeof(data) - cut}};
	struct iovec to[3] = {{back, 1}, {back + 1, cut}, {back + 1 + cut, sizeof(back) - cut - 1}};
	struct iovec half = {data, 100}, large[2] = {{data, sizeof(data)}, {data, HARTZONE_BLOCK_BYTES}};
	uint64_t where = 0;

	SUCCEEDS(hartzone_writev(queue, 0, from, 2, HARTZONE_FUA));
	SUCCEEDS(hartzone_readv(queue, 0, to, 3));
	require(memcmp(data, back, sizeof(data)) == 0, "the buffers come back", 0);
	SUCCEEDS(hartzone_appendv(queue, 0, from, 2, 0, &where));
	require(where == BLOCKS, "append tells where", 0);
	require(hartzone_writev(queue, 0, &half, 1, 0) == HARTZONE_ERROR && strstr(last_error(), "no whole blocks"), "half a block", 0);
	require(hartzone_writev(queue, 0, large, 2, 0) == HARTZONE_ERROR && strstr(last_error(), "takes 1 to"),
		"more than the queue takes at a time", 0);
	require(hartzone_writev(queue, 2 * BLOCKS, from, 2, 16) == HARTZONE_ERROR && strstr(last_error(), "flags 16"), "unknown flags", 0);
}

/* Force unit access: with a write it reaches the flash, without it it stays in a buffer, since a buffer takes more than this. */
static uint64_t programs(hartzone_device *device)
{
	static uint64_t log[128]; /* struct hz_log_flash: version and channels, then reads, then programs by cause */
	uint64_t sum = 0;

	SUCCEEDS(hartzone_log_page(device, 0xc1, UINT32_MAX, 0, log, sizeof(log)));
	for (int cause = 0; cause < 16; cause++)
		sum += log[1 + 16 + cause];
	return sum;
}

/* This device has neither. */
static void no_placement(hartzone_device *device, hartzone_queue *queue)
{
	struct iovec one = {data, HARTZONE_BLOCK_BYTES};
	struct hartzone_zrwa zrwa;
	uint32_t handles = 1;

	SUCCEEDS(hartzone_get_handles(device, &handles));
	SUCCEEDS(hartzone_get_zrwa(device, &zrwa));
	require(handles == 0 && zrwa.zones == 0 && zrwa.blocks == 0, "no handles, no random write areas", 0);
	require(hartzone_writev(queue, 2 * BLOCKS, &one, 1, HARTZONE_HANDLE(1)) == HARTZONE_ERROR &&
			strstr(last_error(), "has 0 reclaim unit handles"),
		"a handle that is not there", 0);
	require(hartzone_zone_open_zrwa(queue, 0) == INVALID_ZONE_OP, "a random write area", 0);
	require(hartzone_zone_flush_zrwa(queue, 0) == INVALID_ZONE_OP, "a flush of one", 0);
}

static void durable_writes(hartzone_device *device, hartzone_queue *queue, uint64_t zone)
{
	struct iovec one = {data, HARTZONE_BLOCK_BYTES};
	uint64_t before = programs(device);

	SUCCEEDS(hartzone_writev(queue, zone, &one, 1, 0));
	require(programs(device) == before, "a plain write waits in a buffer", 0);
	SUCCEEDS(hartzone_writev(queue, zone + 1, &one, 1, HARTZONE_FUA));
	require(programs(device) > before, "a write with FUA is on flash when it ends", 0);
	SUCCEEDS(hartzone_writev(queue, zone + 2, &one, 1, 0));
	before = programs(device);
	SUCCEEDS(hartzone_writev(queue, zone + 3, &one, 1, HARTZONE_DURABLE));
	require(programs(device) >= before + 2, "a durable write is on flash when it ends, and what its zone had before", 0);
}

static void zeros(hartzone_queue *queue, uint64_t zone)
{
	static const unsigned char nothing[HARTZONE_BLOCK_BYTES];

	SUCCEEDS(hartzone_write_zeroes(queue, zone, 100, 0));
	memset(back, 0xff, sizeof(back));
	SUCCEEDS(hartzone_read(queue, zone + 99, 1, back));
	require(memcmp(back, nothing, sizeof(nothing)) == 0, "zeros come back", 0);
	require(hartzone_write_zeroes(queue, zone, 0, 0) == HARTZONE_ERROR, "no zeros at all", 0);
	SUCCEEDS(hartzone_write_zeroes(queue, zone + 100, 1, HARTZONE_DEALLOCATE | HARTZONE_FUA));
}

static void ranges(hartzone_queue *queue, uint64_t zone)
{
	const struct hartzone_range some[] = {{zone, 2}, {0, 1}}, far = {UINT64_MAX - 1, 1};

	SUCCEEDS(hartzone_deallocate(queue, some, 2));
	require(hartzone_deallocate(queue, &far, 1) == LBA_OUT_OF_RANGE, "a range that does not exist", 0);
	require(hartzone_deallocate(queue, some, 0) == HARTZONE_ERROR && strstr(last_error(), "1 to 256"), "no range at all", 0);
}

static void copies(hartzone_queue *queue, uint64_t from, uint64_t to)
{
	const struct hartzone_range some[] = {{from + 1, 1}, {from, 1}}, far = {UINT64_MAX - 1, 1}, much = {from, 129}, nothing = {from, 0};
	uint64_t block = 0;

	SUCCEEDS(hartzone_copy(queue, to, some, 2, 0));
	SUCCEEDS(hartzone_copy_append(queue, to, some + 1, 1, HARTZONE_FUA, &block));
	require(block == to + 2, "an append tells where it is", 0);
	SUCCEEDS(hartzone_copy_append(queue, to, some, 1, 0, NULL));
	SUCCEEDS(hartzone_read(queue, to, 4, back));
	for (int i = 0; i < 4; i++)
		require(memcmp(back + i * HARTZONE_BLOCK_BYTES, data + (i % 3 == 0 ? HARTZONE_BLOCK_BYTES : 0), HARTZONE_BLOCK_BYTES) == 0,
			"what was copied", i);
	require(hartzone_copy(queue, to + 4, &far, 1, 0) == LBA_OUT_OF_RANGE, "a range that does not exist", 0);
	require(hartzone_copy(queue, to + 4, &much, 1, 0) == SIZE_LIMIT, "more than a copy takes", 0);
	require(hartzone_copy(queue, to + 4, &nothing, 1, 0) == HARTZONE_ERROR && strstr(last_error(), "1 to 65536"), "an empty range", 0);
	require(hartzone_copy(queue, to + 4, some, 129, 0) == HARTZONE_ERROR && strstr(last_error(), "1 to 128"), "too many ranges", 0);
	require(hartzone_copy(queue, to + 4, some, 1, 8) == HARTZONE_ERROR && strstr(last_error(), "flags 8"), "an unknown flag", 0);
}

static int result_of(hartzone_queue *queue, const struct hartzone_request *request)
{
	struct hartzone_completion done;

	SUCCEEDS(hartzone_submit(queue, request));
	require(hartzone_wait(queue, &done, 1) == 1, "one completion", 0);
	return done.status;
}

static void comparisons(hartzone_queue *queue, uint64_t zone)
{
	struct iovec part = {data, 2 * HARTZONE_BLOCK_BYTES};
	struct hartzone_request request = {.operation = HARTZONE_COMPARE, .block = zone, .parts = &part, .count = 1};

	SUCCEEDS(hartzone_write(queue, zone, 2, data));
	SUCCEEDS(hartzone_verify(queue, zone, 128));
	require(hartzone_verify(queue, zone, 129) == HARTZONE_ERROR && strstr(last_error(), "1 to 128"), "too much to verify", 0);
	SUCCEEDS(hartzone_compare(queue, zone, 2, data));
	require(hartzone_compare(queue, zone, 2, data + 1) == COMPARE_FAILURE, "other data", 0);
	require(hartzone_compare(queue, zone, 0, data) == HARTZONE_ERROR, "nothing to compare", 0);
	SUCCEEDS(result_of(queue, &request));
	part.iov_base = data + 1;
	require(result_of(queue, &request) == COMPARE_FAILURE, "other data", 0);
	request = (struct hartzone_request){.operation = HARTZONE_VERIFY, .block = zone, .blocks = 2};
	SUCCEEDS(result_of(queue, &request));
}

static unsigned count_zones(hartzone_queue *queue, uint64_t from, int state, uint64_t zone_blocks)
{
	struct hartzone_zones zones;
	struct hartzone_zone zone;
	unsigned count = 0;
	uint64_t next = from;

	hartzone_zones_begin(&zones, queue, from, state);
	for (; hartzone_zones_next(&zones, &zone); count++) {
		require(state != HARTZONE_ANY_STATE || zone.start == next, "zones come in order, none twice", 0);
		require(state == HARTZONE_ANY_STATE || (int)zone.state == state, "of the wanted state", 0);
		next = zone.start + zone_blocks;
	}
	SUCCEEDS(zones.status);
	return count;
}

static void zones(hartzone_queue *queue, const struct hartzone_info *info)
{
	struct hartzone_zones list;
	struct hartzone_zone zone;

	require(info->zones > HARTZONE_ZONES_PER_REPORT, "more zones than a report has", 0);
	require(count_zones(queue, 0, HARTZONE_ANY_STATE, info->zone_blocks) == info->zones, "all zones", 0);
	require(count_zones(queue, 5 * info->zone_blocks, HARTZONE_ANY_STATE, info->zone_blocks) == info->zones - 5, "from the sixth", 0);
	SUCCEEDS(hartzone_zone_finish(queue, 70 * info->zone_blocks));
	require(count_zones(queue, 0, HARTZONE_FULL, 0) == 1 && count_zones(queue, 0, HARTZONE_OFFLINE, 0) == 0, "by state", 0);
	require(count_zones(queue, 0, HARTZONE_EMPTY, 0) > HARTZONE_ZONES_PER_REPORT - 10, "by state, over several reports", 0);
	hartzone_zones_begin(&list, queue, info->blocks, HARTZONE_ANY_STATE);
	require(!hartzone_zones_next(&list, &zone) && list.status == 0x080, "behind the end: LBA Out of Range", list.status);
	require(hartzone_zone_offline(queue, 0) == 0x1bf, "only a read-only zone goes offline", 0);
}

static void admin(hartzone_device *device, hartzone_queue *queue)
{
	static unsigned char page[4096];
	struct hartzone_command command = {.opcode = GET_LOG_PAGE, .nsid = UINT32_MAX, .cdw10 = 0x02 | 127 << 16};
	uint64_t result = 77;
	uint32_t value;

	SUCCEEDS(hartzone_identify(device, 1, 0, 0, page));
	require(memcmp(page + 24, "Hartzone", 8) == 0, "Identify names the model", 0);
	SUCCEEDS(hartzone_admin(device, &command, page, 512, &result));
	require(page[3] == 100 && result == 0, "SMART by dwords: all spare is there", 0);
	require(hartzone_log_page(device, 0x99, UINT32_MAX, 0, page, 512) == INVALID_LOG_PAGE, "an unknown log page", 0);
	require(hartzone_log_page(device, 2, UINT32_MAX, 0, page, 3) == HARTZONE_ERROR, "three bytes of a log page", 0);
	SUCCEEDS(hartzone_set_feature(device, 6, 0));
	SUCCEEDS(hartzone_get_feature(device, 6, 0, &value));
	require(value == 0, "the write cache is off", 0);
	SUCCEEDS(hartzone_get_feature(device, 6, 1, &value));
	require(value == 1, "its default is on", 0);
	command = (struct hartzone_command){.opcode = SET_FEATURES, .cdw10 = 6, .cdw11 = 1};
	SUCCEEDS(hartzone_admin(device, &command, NULL, 0, NULL));
	SUCCEEDS(hartzone_get_feature(device, 6, 0, &value));
	require(value == 1, "the write cache is on, by dwords", 0);
	command = (struct hartzone_command){.opcode = CREATE_SQ};
	require(hartzone_admin(device, &command, NULL, 0, NULL) == HARTZONE_ERROR && strstr(last_error(), "manages queues"),
		"no queues by hand", 0);
	command = (struct hartzone_command){.opcode = READ, .nsid = 1, .cdw12 = 1};
	require(hartzone_io(queue, &command, back, 4096, NULL) == HARTZONE_ERROR && strstr(last_error(), "moves 8192 bytes"),
		"a short buffer", 0);
	SUCCEEDS(hartzone_io(queue, &command, back, 8192, NULL));
	require(memcmp(back, data, 8192) == 0, "a read by dwords", 0);
	command.opcode = 0x55;
	require(hartzone_io(queue, &command, NULL, 0, NULL) == INVALID_OPCODE, "an unknown command", 0);
	command = (struct hartzone_command){.opcode = WRITE, .flags = 0x40, .nsid = 1};
	require(hartzone_io(queue, &command, data, 4096, NULL) == INVALID_FIELD, "a scatter-gather list, which is not supported", 0);
}

/* What the superblock of a handle still takes (struct nvme_handles_status). */
static uint64_t room_of(hartzone_queue *queue, unsigned handle)
{
	enum { HEAD = 16, EACH = 32, HANDLES = 4 };
	struct hartzone_command status = {.opcode = IO_MANAGEMENT_RECEIVE, .nsid = 1, .cdw10 = 1, .cdw11 = (HEAD + HANDLES * EACH) / 4 - 1};
	uint64_t blocks;

	SUCCEEDS(hartzone_io(queue, &status, back, HEAD + HANDLES * EACH, NULL));
	memcpy(&blocks, back + HEAD + handle * EACH + 8, sizeof(blocks));
	return blocks;
}

/* A write takes room of the handle that it names, and of no other. */
static void placement(void)
{
	struct hartzone_options options = {.device_file = HZ_TREE "/configs/devices/small-fdp.yaml"};
	hartzone_device *device = launch_with(&options);
	hartzone_queue *queue = hartzone_queue_open(device, HARTZONE_ANY_QUEUE, BLOCKS);
	struct iovec all = {data, sizeof(data)};
	uint32_t handles;
	uint64_t room;

	SUCCEEDS(hartzone_get_handles(device, &handles));
	require(handles == 4, "four handles", 0);
	room = room_of(queue, 0);
	SUCCEEDS(hartzone_writev(queue, 0, &all, 1, HARTZONE_HANDLE(2)));
	for (unsigned handle = 0; handle < handles; handle++)
		require(room_of(queue, handle) == (handle == 2 ? room - BLOCKS : room), "the room of each handle", 0);
	require(hartzone_writev(queue, 0, &all, 1, HARTZONE_HANDLE(4)) == HARTZONE_ERROR && strstr(last_error(), "has 4"), "no fifth", 0);
	SUCCEEDS(hartzone_queue_close(queue));
	SUCCEEDS(hartzone_close(device));
}

int main(void)
{
	struct hartzone_options options = {.device_file = HZ_TREE "/tests/host/protected.yaml"};
	hartzone_device *device = launch_with(&options);
	hartzone_queue *queue = hartzone_queue_open(device, HARTZONE_ANY_QUEUE, BLOCKS);
	struct hartzone_info info;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 13 + i / 253);
	require(queue != NULL, "hartzone_queue_open", HARTZONE_ERROR);
	SUCCEEDS(hartzone_get_info(device, &info));
	require(info.durable_writes == 1, "the device says that it takes durable writes", 0);
	require(info.protection == 1, "the device says that data are checked", 0);
	several_buffers(queue);
	no_placement(device, queue);
	durable_writes(device, queue, info.zone_blocks);
	zeros(queue, 2 * info.zone_blocks);
	ranges(queue, 2 * info.zone_blocks);
	comparisons(queue, 3 * info.zone_blocks);
	copies(queue, 3 * info.zone_blocks, 4 * info.zone_blocks);
	zones(queue, &info);
	admin(device, queue);
	SUCCEEDS(hartzone_queue_close(queue));
	SUCCEEDS(hartzone_close(device));
	placement();
	puts("every command works from C");
	return 0;
}
