/* A device file for nvme-cli without a kernel driver: preloaded (LD_PRELOAD), it handles nvme-cli's
 * calls on /dev/hartzone0 and /dev/hartzone0n1 through libhartzone, on the device with the run
 * directory HARTZONE_ATTACH.
 *
 * Only the calls of a Linux NVMe character or block device are handled: open, stat, and the ioctls
 * of linux/nvme_ioctl.h. All else goes to the C library. nvme-cli has one thread, and so this code
 * is not thread-safe. */
/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hartzone.h"

enum { MOST_BLOCKS = 128, MOST_FDS = 1024 };
enum kind { NOT_OURS, CONTROLLER, NAMESPACE };
static const char controller_path[] = "/dev/hartzone0", namespace_path[] = "/dev/hartzone0n1";

static hartzone_device *device;
static hartzone_queue *queue;
static unsigned char opened[MOST_FDS]; /* enum kind by descriptor */

/* Replacements of C library functions. */
int device_open(const char *path, int flags, ...) __asm__("open");
int device_open64(const char *path, int flags, ...) __asm__("open64");
int device_open64_2(const char *path, int flags) __asm__("__open64_2"); /* called by fortified programs */
int device_close(int fd) __asm__("close");
int device_fstat64(int fd, struct stat64 *status) __asm__("fstat64");
int device_stat64(const char *path, struct stat64 *status) __asm__("stat64");
int device_ioctl(int fd, unsigned long request, ...) __asm__("ioctl");

/* The function itself. */
#define NEXT(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

static int fail(int error, const char *sentence)
{
	fprintf(stderr, "hartzone: %s\n", sentence);
	errno = error;
	return -1;
}

static void give_back(void)
{
	hartzone_queue_close(queue);
	hartzone_close(device);
}

static int attach(void)
{
	const char *directory = getenv("HARTZONE_ATTACH");

	if (device)
		return 0;
	if (!directory)
		return fail(ENODEV, "HARTZONE_ATTACH does not name the run directory of a device");
	device = hartzone_attach(directory);
	if (!device)
		return fail(ENODEV, hartzone_error_text(HARTZONE_ERROR));
	atexit(give_back);
	return 0;
}

static enum kind kind_of_path(const char *path)
{
	if (strcmp(path, namespace_path) == 0)
		return NAMESPACE;
	return strcmp(path, controller_path) == 0 ? CONTROLLER : NOT_OURS;
}

static enum kind kind_of(int fd) { return fd >= 0 && fd < MOST_FDS ? opened[fd] : NOT_OURS; }

/* Opens /dev/null, to reserve a descriptor number from the kernel. */
static int open_own(const char *path)
{
	int fd;

	if (attach())
		return -1;
	fd = NEXT(open)("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd >= 0 && fd < MOST_FDS)
		opened[fd] = (unsigned char)kind_of_path(path);
	return fd;
}

static mode_t mode_given(int flags, va_list arguments) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; }

int device_open(const char *path, int flags, ...)
{
	va_list arguments;

	va_start(arguments, flags);
	const mode_t mode = mode_given(flags, arguments);
	va_end(arguments);
	return kind_of_path(path) ? open_own(path) : NEXT(open)(path, flags, mode);
}

int device_open64(const char *path, int flags, ...)
{
	va_list arguments;

	va_start(arguments, flags);
	const mode_t mode = mode_given(flags, arguments);
	va_end(arguments);
	return kind_of_path(path) ? open_own(path) : NEXT(open64)(path, flags, mode);
}

int device_open64_2(const char *path, int flags) { return kind_of_path(path) ? open_own(path) : NEXT(open64)(path, flags); }

int device_close(int fd)
{
	if (kind_of(fd))
		opened[fd] = NOT_OURS;
	return NEXT(close)(fd);
}

static mode_t mode_of(enum kind kind) { return (kind == NAMESPACE ? S_IFBLK : S_IFCHR) | 0600; }

int device_fstat64(int fd, struct stat64 *status)
{
	const int code = NEXT(fstat64)(fd, status);

	if (!code && kind_of(fd))
		status->st_mode = mode_of(kind_of(fd));
	return code;
}

int device_stat64(const char *path, struct stat64 *status)
{
	const int code = NEXT(stat64)(kind_of_path(path) ? "/dev/null" : path, status);

	if (!code && kind_of_path(path))
		status->st_mode = mode_of(kind_of_path(path));
	return code;
}

/* Both forms of the ioctl's record: the second has a wider result. */
static int passthrough(int is_admin, const struct nvme_passthru_cmd64 *c, uint64_t *result)
{
	const struct hartzone_command command = {.opcode = c->opcode,
						 .flags = c->flags,
						 .nsid = c->nsid,
						 .cdw2 = c->cdw2,
						 .cdw3 = c->cdw3,
						 .cdw10 = c->cdw10,
						 .cdw11 = c->cdw11,
						 .cdw12 = c->cdw12,
						 .cdw13 = c->cdw13,
						 .cdw14 = c->cdw14,
						 .cdw15 = c->cdw15};
	void *data = (void *)(uintptr_t)c->addr;
	int code;

	if (!is_admin && !queue)
		queue = hartzone_queue_open(device, HARTZONE_ANY_QUEUE, MOST_BLOCKS);
	if (!is_admin && !queue)
		return fail(EIO, hartzone_error_text(HARTZONE_ERROR));
	code = is_admin ? hartzone_admin(device, &command, data, c->data_len, result)
			: hartzone_io(queue, &command, data, c->data_len, result);
	return code == HARTZONE_ERROR ? fail(EIO, hartzone_error_text(code)) : code;
}

static int answer(int fd, unsigned long request, void *record)
{
	struct nvme_passthru_cmd64 wide;
	uint64_t result = 0;
	int code;

	switch (request) {
	case NVME_IOCTL_ID:
		if (kind_of(fd) == NAMESPACE)
			return 1;
		errno = ENOTTY;
		return -1;
	case NVME_IOCTL_ADMIN64_CMD:
	case NVME_IOCTL_IO64_CMD:
		code = passthrough(request == NVME_IOCTL_ADMIN64_CMD, record, &result);
		((struct nvme_passthru_cmd64 *)record)->result = result;
		return code;
	case NVME_IOCTL_ADMIN_CMD:
	case NVME_IOCTL_IO_CMD:
		memset(&wide, 0, sizeof(wide));
		memcpy(&wide, record, offsetof(struct nvme_passthru_cmd, result)); /* the same up to there */
		code = passthrough(request == NVME_IOCTL_ADMIN_CMD, &wide, &result);
		((struct nvme_passthru_cmd *)record)->result = (uint32_t)result;
		return code;
	default: errno = ENOTTY; return -1;
	}
}

int device_ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;
	void *record;

	va_start(arguments, request);
	record = va_arg(arguments, void *);
	va_end(arguments);
	if (kind_of(fd))
		return answer(fd, request, record);
	return NEXT(ioctl)(fd, request, record);
}
