/* The C interface used from C: write, append, read back, report, refusals, and a second life of the same image. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "c_api_check.h"

#include <unistd.h>

static unsigned char out[BLOCKS * HARTZONE_BLOCK_BYTES], in[BLOCKS * HARTZONE_BLOCK_BYTES];

static hartzone_device *launch(const char *image)
{
	struct hartzone_options options = {.image_file = image, .workers = 2};

	return launch_with(&options);
}

static void first_life(const char *image)
{
	hartzone_device *device = launch(image);
	hartzone_queue *queue = hartzone_queue_open(device, 1, BLOCKS);
	struct hartzone_info info;
	struct hartzone_zone zone;
	uint64_t where = 0;
	int code;

	require(queue != NULL, "hartzone_queue_open", HARTZONE_ERROR);
	SUCCEEDS(hartzone_get_info(device, &info));
	require(info.zones > 1 && info.blocks == info.zones * info.zone_blocks, "info is consistent", 0);
	SUCCEEDS(hartzone_write(queue, 0, BLOCKS, out));
	SUCCEEDS(hartzone_append(queue, 0, BLOCKS, out, &where));
	require(where == BLOCKS, "append returns the write pointer", 0);
	SUCCEEDS(hartzone_read(queue, BLOCKS, BLOCKS, in));
	require(memcmp(in, out, sizeof(in)) == 0, "data come back", 0);
	require(hartzone_latency_ns(queue) > 0, "latency is known", 0);
	SUCCEEDS(hartzone_report_zone(queue, 0, &zone));
	require(zone.state == HARTZONE_IMPLICIT_OPEN && zone.write_pointer == 2 * BLOCKS, "zone is open", 0);
	code = hartzone_report_zone(queue, UINT64_MAX, &zone);
	require(code == 0x80, "there is no zone beyond the last", code);
	code = hartzone_write(queue, 1, 1, out);
	require(code == 0x1bc && strstr(hartzone_error_text(code), "Zone Invalid Write") != NULL, "a misplaced write is refused", code);
	require(hartzone_read(queue, 0, BLOCKS + 1, in) == HARTZONE_ERROR, "a large transfer is refused", 0);
	SUCCEEDS(hartzone_flush(queue));
	SUCCEEDS(hartzone_queue_close(queue));
	SUCCEEDS(hartzone_close(device));
}

static void second_life(const char *image)
{
	hartzone_device *device = launch(image);
	hartzone_queue *queue = hartzone_queue_open(device, 3, BLOCKS);
	struct hartzone_zone zone;

	memset(in, 0, sizeof(in));
	SUCCEEDS(hartzone_read(queue, 0, BLOCKS, in));
	require(memcmp(in, out, sizeof(in)) == 0, "data survive", 0);
	SUCCEEDS(hartzone_report_zone(queue, 0, &zone));
	require(zone.state == HARTZONE_CLOSED && zone.write_pointer == 2 * BLOCKS, "zone is closed after a restart", 0);
	SUCCEEDS(hartzone_zone_reset(queue, 0));
	SUCCEEDS(hartzone_report_zone(queue, 0, &zone));
	require(zone.state == HARTZONE_EMPTY && zone.write_pointer == 0, "zone is empty after a reset", 0);
	SUCCEEDS(hartzone_queue_close(queue));
	hartzone_kill(device);
}

/* A block device, and one with conventional zones: information and zone commands as the header
 * defines them. */
static hartzone_device *launch_preset(const char *file)
{
	struct hartzone_options options = {.device_file = file, .workers = 2};
	hartzone_device *device = hartzone_launch(&options);

	require(device != NULL, file, HARTZONE_ERROR);
	return device;
}

static void block_device(void)
{
	enum { INVALID_OPCODE = 1 };
	hartzone_device *device = launch_preset(HZ_TREE "/configs/devices/small-legacy.yaml");
	hartzone_queue *queue = hartzone_queue_open(device, 1, BLOCKS);
	struct hartzone_info info;
	struct hartzone_zone zone;
	uint64_t where;

	SUCCEEDS(hartzone_get_info(device, &info));
	require(info.blocks > BLOCKS && info.max_transfer >= BLOCKS, "a block device has blocks", 0);
	require(!info.zone_blocks && !info.zone_capacity && !info.zones && !info.max_open && !info.max_active && !info.max_append,
		"a block device has nothing of zones", 0);
	for (int turn = 0; turn < 2; turn++)
		SUCCEEDS(hartzone_write(queue, info.blocks - BLOCKS, BLOCKS, out));
	SUCCEEDS(hartzone_read(queue, info.blocks - BLOCKS, BLOCKS, in));
	require(memcmp(in, out, sizeof(in)) == 0, "data come back", 0);
	require(hartzone_append(queue, 0, 1, out, &where) == INVALID_OPCODE, "no append", 0);
	require(hartzone_zone_reset(queue, 0) == INVALID_OPCODE && hartzone_zone_open(queue, 0) == INVALID_OPCODE, "no zone commands", 0);
	require(hartzone_report_zone(queue, 0, &zone) == INVALID_OPCODE, "no zone report", 0);
	SUCCEEDS(hartzone_queue_close(queue));
	SUCCEEDS(hartzone_close(device));
}

static void conventional_zones(void)
{
	hartzone_device *device = launch_preset(HZ_TREE "/configs/devices/small-mixed.yaml");
	hartzone_queue *queue = hartzone_queue_open(device, 1, BLOCKS);
	struct hartzone_zone zone;
	struct hartzone_info info;

	SUCCEEDS(hartzone_get_info(device, &info));
	SUCCEEDS(hartzone_write(queue, 3, 1, out));
	SUCCEEDS(hartzone_report_zone(queue, 0, &zone));
	require(zone.state == HARTZONE_CONVENTIONAL && zone.write_pointer == UINT64_MAX, "the first zone is conventional", 0);
	SUCCEEDS(hartzone_report_zone(queue, info.blocks - 1, &zone));
	require(zone.state == HARTZONE_EMPTY && zone.start == info.blocks - info.zone_blocks, "the last zone is sequential", 0);
	SUCCEEDS(hartzone_queue_close(queue));
	SUCCEEDS(hartzone_close(device));
}

static void wrong_arguments(void)
{
	struct hartzone_options many = {.workers = 61}, nowhere = {.device_file = "/nowhere.yaml"};
	hartzone_device *device = launch(NULL);
	hartzone_queue *queue = hartzone_queue_open(device, 64, 0);

	require(queue && hartzone_latency_ns(queue) == 0, "no latency before the first command", HARTZONE_ERROR);
	require(!hartzone_queue_open(device, 65, 0) && strstr(hartzone_error_text(HARTZONE_ERROR), "1 to 64"), "queue ids", 0);
	require(!hartzone_queue_open(device, 64, 0) && strstr(hartzone_error_text(HARTZONE_ERROR), "open already"), "a queue is open once",
		0);
	require(hartzone_read(queue, 0, 0, in) == HARTZONE_ERROR && strstr(hartzone_error_text(HARTZONE_ERROR), "0 blocks"), "no blocks",
		0);
	SUCCEEDS(hartzone_write(queue, 0, 1, out));
	SUCCEEDS(hartzone_queue_close(queue));
	SUCCEEDS(hartzone_queue_close(NULL));
	SUCCEEDS(hartzone_close(NULL));
	hartzone_kill(NULL);
	hartzone_kill(device);
	require(!hartzone_launch(&many) && strstr(hartzone_error_text(HARTZONE_ERROR), "61 are too many"), "too many workers", 0);
	require(!hartzone_launch(&nowhere) && strstr(hartzone_error_text(HARTZONE_ERROR), "/nowhere.yaml"), "no device file", 0);
}

static void error_texts(void)
{
	require(strstr(hartzone_error_text(0), "success") != NULL, "0 is success", 0);
	require(!strstr(hartzone_error_text(0x7ff), "not a value"), "the last status there may be", 0);
	require(strstr(hartzone_error_text(0x800), "2048 is not a value") != NULL, "no status", 0);
	require(strstr(hartzone_error_text(-5), "-5 is not a value") != NULL, "no code", 0);
}

int main(void)
{
	char image[] = "/tmp/hz-c-api-XXXXXX";
	int fd = mkstemp(image);

	if (fd < 0)
		return 1;
	close(fd);
	unlink(image); /* an image of 0 bytes is refused */
	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (unsigned char)(i * 7 + i / 251);
	error_texts();
	require(hartzone_attach("/nowhere") == NULL, "attach to nothing fails", 0);
	first_life(image);
	second_life(image);
	block_device();
	conventional_zones();
	wrong_arguments();
	unlink(image);
	puts("the C interface works");
	return 0;
}
