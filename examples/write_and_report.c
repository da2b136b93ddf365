/* Boots a device, appends to two zones, reads back, and shows the zones that are not empty. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <hartzone.h>

#include <stdio.h>
#include <string.h>

static unsigned char data[4 * HARTZONE_BLOCK_BYTES], back[sizeof(data)];

static int work(hartzone_device *device, hartzone_queue *queue)
{
	struct hartzone_info info;
	struct hartzone_zones zones;
	struct hartzone_zone zone;
	uint64_t block;
	int code = hartzone_get_info(device, &info);

	for (unsigned z = 0; !code && z < 2; z++) {
		code = hartzone_append(queue, z * info.zone_blocks, 4, data, &block);
		if (!code)
			printf("appended at block %llu in %llu ns of device time\n", (unsigned long long)block,
			       (unsigned long long)hartzone_latency_ns(queue));
	}
	if (!code)
		code = hartzone_read(queue, block, 4, back);
	if (!code)
		printf("what comes back is %s\n", memcmp(data, back, sizeof(data)) ? "something else" : "what was written");
	hartzone_zones_begin(&zones, queue, 0, HARTZONE_IMPLICIT_OPEN);
	while (!code && hartzone_zones_next(&zones, &zone))
		printf("zone at %llu is open, write pointer %llu\n", (unsigned long long)zone.start, (unsigned long long)zone.write_pointer);
	return code ? code : zones.status;
}

int main(void)
{
	hartzone_device *device = hartzone_launch(NULL);
	hartzone_queue *queue = device ? hartzone_queue_open(device, HARTZONE_ANY_QUEUE, 0) : NULL;
	int code = queue ? work(device, queue) : HARTZONE_ERROR;

	if (code)
		fprintf(stderr, "%s\n", hartzone_error_text(code));
	hartzone_queue_close(queue);
	return hartzone_close(device) || code;
}
