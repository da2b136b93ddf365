/* An I/O engine for fio: fio's jobs run on the device with the run directory HARTZONE_ATTACH,
 * through libhartzone.
 *
 * Each job, thread or process, attaches by itself and has its own queue pair. fio's queries before
 * its jobs begin (size, zones) use a short attachment of their own, so that a job's process
 * inherits nothing. Blocks are 4 KiB. A request larger than the largest command is split into
 * several commands, as in a kernel, and completes with the last of them. The engine is built
 * against the headers of the fio that loads it, and so becomes a part of fio, which is under the
 * GPL 2. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fio.h"
#include "optgroup.h"
#include "zbd.h"

#include "fio_latency.h"
#include "hartzone.h"

enum { MOST_BLOCKS = 128, MOST_COMMANDS = 128 }; /* of a command; of larger requests under way: each has its own data buffer */
enum { MOST_HANDLES = 128 };                     /* that a job names */

/* Options of the engine in a job file. fdp and fdp_pli are named, and mean, what fio's own do from
 * 3.34 on. */
struct job_options {
	void *pad; /* fio's own */
	unsigned nsid;
	unsigned fdp;
	char *fdp_pli;
};

static struct fio_option job_options[] = {
	{.name = "nsid",
	 .lname = "Namespace",
	 .type = FIO_OPT_INT,
	 .off1 = offsetof(struct job_options, nsid),
	 .help = "Namespace of the device that the job works on",
	 .def = "1",
	 .minval = 1,
	 .category = FIO_OPT_C_ENGINE,
	 .group = FIO_OPT_G_INVALID},
	{.name = "fdp",
	 .lname = "Flexible data placement",
	 .type = FIO_OPT_BOOL,
	 .off1 = offsetof(struct job_options, fdp),
	 .help = "Writes name reclaim unit handles of the device, one after the other",
	 .def = "0",
	 .category = FIO_OPT_C_ENGINE,
	 .group = FIO_OPT_G_INVALID},
	{.name = "fdp_pli",
	 .lname = "Handles of flexible data placement",
	 .type = FIO_OPT_STR_STORE,
	 .off1 = offsetof(struct job_options, fdp_pli),
	 .help = "Which handles fdp=1 names, such as 0,2; default: all of the device",
	 .category = FIO_OPT_C_ENGINE,
	 .group = FIO_OPT_G_INVALID},
	{.name = NULL},
};

/* A request of fio under way. */
struct request {
	unsigned left; /* commands without completion */
	int status;    /* of the first command that failed */
	uint64_t latency_ns;
};

/* A job's place at the device. */
struct seat {
	hartzone_device *device;
	hartzone_queue *queue;
	struct hartzone_info info;
	uint32_t most_blocks;              /* of a command */
	unsigned commands;                 /* the queue has room for */
	unsigned commands_under_way;       /* submitted, completion not taken */
	unsigned under_way;                /* requests of fio not yet in `taken` */
	struct request *requests;          /* of fio's depth, by index */
	struct hartzone_completion *done;  /* of `commands` */
	bool running;                      /* committed, and nothing taken since */
	struct hartzone_completion *taken; /* of fio's depth */
	unsigned take_from, take_to;       /* of these, not yet handed out */
	unsigned event_from;               /* in `taken`, the first one of the last getevents */
	struct fio_latency latency[DDIR_RWDIR_CNT];
	bool reported;                 /* an error status was reported */
	unsigned handle[MOST_HANDLES]; /* that writes name, one after the other */
	unsigned handles, next_handle;
};

static int fail(int error, const char *what)
{
	log_err("hartzone: %s: %s\n", what, hartzone_error_text(HARTZONE_ERROR));
	errno = error;
	return -error;
}

static void leave(struct seat *seat)
{
	hartzone_queue_close(seat->queue);
	hartzone_close(seat->device);
	free(seat->taken);
	free(seat->requests);
	free(seat->done);
	memset(seat, 0, sizeof(*seat));
}

static unsigned nsid_of(const struct thread_data *td) { return ((const struct job_options *)td->eo)->nsid; }

static unsigned least(unsigned long long a, unsigned long long b) { return (unsigned)(a < b ? a : b); }

static unsigned most_blocks(const struct hartzone_info *info) { return least(MOST_BLOCKS, info->max_transfer); }

/* blocks: of the largest request. */
static void open_queue(struct seat *seat, unsigned nsid, unsigned long long blocks, unsigned depth)
{
	unsigned pieces; /* of the largest request */

	seat->most_blocks = least(blocks, most_blocks(&seat->info));
	pieces = (unsigned)((blocks + seat->most_blocks - 1) / seat->most_blocks);
	seat->commands = pieces == 1 ? depth : least((unsigned long long)pieces * depth, MOST_COMMANDS);
	seat->queue = hartzone_queue_open_in(seat->device, nsid, HARTZONE_ANY_QUEUE, seat->most_blocks, seat->commands);
	seat->taken = calloc(depth, sizeof(*seat->taken));
	seat->requests = calloc(depth, sizeof(*seat->requests));
	seat->done = calloc(seat->commands, sizeof(*seat->done));
}

static int enter(struct seat *seat, const struct thread_data *td, unsigned long long blocks, unsigned depth)
{
	const unsigned nsid = nsid_of(td);
	const char *directory = getenv("HARTZONE_ATTACH");

	memset(seat, 0, sizeof(*seat));
	if (!directory) {
		log_err("hartzone: HARTZONE_ATTACH does not name the run directory of a device: ./hartzone fio does\n");
		return -ENODEV;
	}
	seat->device = hartzone_attach(directory);
	if (seat->device && !hartzone_get_namespace_info(seat->device, nsid, &seat->info))
		open_queue(seat, nsid, blocks, depth);
	if (seat->queue && seat->taken && seat->requests && seat->done)
		return 0;
	fail(ENODEV, "no queue of the device");
	leave(seat);
	return -ENODEV;
}

/* The job's own seat, or a visit where it has none yet. */
static struct seat *seat_or_visit(struct thread_data *td, struct seat *visit)
{
	if (td->io_ops_data)
		return td->io_ops_data;
	return enter(visit, td, 1, 1) ? NULL : visit;
}

static void end_visit(struct seat *seat, struct seat *visit)
{
	if (seat == visit)
		leave(visit);
}

/* Before the jobs begin. */

static unsigned long long largest_block(struct thread_data *td)
{
	unsigned long long most = 0;

	for (int ddir = 0; ddir < DDIR_RWDIR_CNT; ddir++)
		most = td->o.max_bs[ddir] > most && ddir != DDIR_TRIM ? td->o.max_bs[ddir] : most;
	return most;
}

static int check_blocks(struct thread_data *td, const struct hartzone_info *info)
{
	const unsigned long long most = (unsigned long long)MOST_COMMANDS * most_blocks(info) * HARTZONE_BLOCK_BYTES;

	for (int ddir = 0; ddir < DDIR_RWDIR_CNT; ddir++)
		if (td->o.min_bs[ddir] % HARTZONE_BLOCK_BYTES || td->o.max_bs[ddir] % HARTZONE_BLOCK_BYTES) {
			log_err("hartzone: %s: bs=%llu: blocks are of 4 KiB, so bs is a multiple of 4096\n", td->o.name,
				(unsigned long long)td->o.min_bs[ddir]);
			return 1;
		}
	if (largest_block(td) <= most)
		return 0;
	log_err("hartzone: %s: bs=%llu: a request is of at most %llu bytes\n", td->o.name, largest_block(td), most);
	return 1;
}

/* fio keys its zone information by file name, so each namespace has its own name. */
static void name_file(struct fio_file *file, unsigned nsid)
{
	char name[32];

	snprintf(name, sizeof(name), "hartzone-%u", nsid);
	sfree(file->file_name);
	file->file_name = smalloc_strdup(name);
}

/* A list such as 0,2. Returns how many there are; 0: a word is none of the device's handles. */
static unsigned parse_handles(const char *list, uint32_t most, unsigned *handle)
{
	unsigned count = 0;

	while (count < MOST_HANDLES) {
		char *end;
		const unsigned long number = strtoul(list, &end, 10);

		if (*list < '0' || *list > '9' || number >= most || (*end && *end != ','))
			return 0;
		handle[count++] = (unsigned)number;
		if (!*end)
			return count;
		list = end + 1;
	}
	return 0;
}

static int name_handles(const struct thread_data *td, struct seat *seat)
{
	const struct job_options *options = td->eo;
	uint32_t there = 0;

	if (!options->fdp && options->fdp_pli) {
		log_err("hartzone: %s: fdp_pli says which handles writes name, and fdp=1 that they name any: add it\n", td->o.name);
		return 1;
	}
	if (!options->fdp)
		return 0;
	if (hartzone_get_handles(seat->device, &there) || !there) {
		log_err("hartzone: %s: fdp=1: the device has no reclaim unit handles: its file sets fdp.handles\n", td->o.name);
		return 1;
	}
	for (seat->handles = 0; seat->handles < there && seat->handles < MOST_HANDLES; seat->handles++)
		seat->handle[seat->handles] = seat->handles;
	if (options->fdp_pli)
		seat->handles = parse_handles(options->fdp_pli, there, seat->handle);
	if (seat->handles)
		return 0;
	log_err("hartzone: %s: fdp_pli=%s: a list of at most %d handles such as 0,2 is wanted; the device has 0 to %u\n", td->o.name,
		options->fdp_pli, MOST_HANDLES, there - 1);
	return 1;
}

/* To fio the device is a block device, or it would not ask for zones. */
static int setup(struct thread_data *td)
{
	struct seat visit;
	struct fio_file *file;
	unsigned i;
	int wrong = 1;

	if (enter(&visit, td, 1, 1))
		return 1;
	for_each_file(td, file, i)
	{
		name_file(file, nsid_of(td));
		file->filetype = FIO_TYPE_BLOCK;
		file->real_file_size = visit.info.blocks * HARTZONE_BLOCK_BYTES;
		fio_file_set_size_known(file);
	}
	wrong = check_blocks(td, &visit.info) || name_handles(td, &visit);
	leave(&visit);
	return wrong;
}

static int get_zoned_model(struct thread_data *td, struct fio_file *file, enum zbd_zoned_model *model)
{
	struct seat visit, *seat = seat_or_visit(td, &visit);

	(void)file;
	if (!seat)
		return -ENODEV;
	*model = seat->info.zones ? ZBD_HOST_MANAGED : ZBD_NONE;
	end_visit(seat, &visit);
	return 0;
}

static void describe(struct zbd_zone *to, const struct hartzone_zone *zone, uint64_t zone_blocks)
{
	const bool has_pointer = zone->state != HARTZONE_CONVENTIONAL && zone->write_pointer != UINT64_MAX;

	to->start = zone->start * HARTZONE_BLOCK_BYTES;
	to->len = zone_blocks * HARTZONE_BLOCK_BYTES;
	to->capacity = zone->capacity * HARTZONE_BLOCK_BYTES;
	to->wp = has_pointer ? zone->write_pointer * HARTZONE_BLOCK_BYTES : to->start;
	to->type = zone->state == HARTZONE_CONVENTIONAL ? ZBD_ZONE_TYPE_CNV : ZBD_ZONE_TYPE_SWR;
	to->cond = (enum zbd_zone_cond)zone->state; /* both use the numbers of the specification */
	if (zone->state == HARTZONE_FULL)
		to->wp = to->start + to->capacity;
}

static int report_zones(struct thread_data *td, struct fio_file *file, uint64_t offset, struct zbd_zone *to, unsigned most)
{
	struct seat visit, *seat = seat_or_visit(td, &visit);
	struct hartzone_zones zones;
	struct hartzone_zone zone;
	unsigned count = 0;

	(void)file;
	if (!seat)
		return -ENODEV;
	hartzone_zones_begin(&zones, seat->queue, offset / HARTZONE_BLOCK_BYTES, HARTZONE_ANY_STATE);
	while (count < most && hartzone_zones_next(&zones, &zone))
		describe(&to[count++], &zone, seat->info.zone_blocks);
	end_visit(seat, &visit);
	return zones.status ? fail(EIO, "zones cannot be reported") : (int)count;
}

static int get_max_open_zones(struct thread_data *td, struct fio_file *file, unsigned *most)
{
	struct seat visit, *seat = seat_or_visit(td, &visit);

	(void)file;
	if (!seat)
		return -ENODEV;
	*most = seat->info.max_open; /* 0: no limit, to fio too */
	if (seat->info.max_active && (!*most || seat->info.max_active < *most))
		*most = seat->info.max_active;
	end_visit(seat, &visit);
	return 0;
}

/* A job. */

/* A job whose process is killed ends silently, and fio exits with 0: so each job marks its begin
 * and its end in a file of ./hartzone fio. */
static void mark(char what)
{
	const char *marks = getenv("HARTZONE_FIO_MARKS");
	int file = marks ? open(marks, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

	if (file < 0)
		return;
	if (write(file, &what, 1) != 1)
		log_err("hartzone: cannot write to %s: %s\n", marks, strerror(errno));
	close(file);
}

static int init(struct thread_data *td)
{
	struct seat *seat = calloc(1, sizeof(*seat));
	const unsigned long long blocks = largest_block(td) / HARTZONE_BLOCK_BYTES;

	if (!seat)
		return 1;
	if (enter(seat, td, blocks, td->o.iodepth)) {
		free(seat);
		return 1;
	}
	if (name_handles(td, seat)) {
		leave(seat);
		free(seat);
		return 1;
	}
	td->io_ops_data = seat;
	mark('b');
	return 0;
}

static void cleanup(struct thread_data *td)
{
	static const char *const names[DDIR_RWDIR_CNT] = {"read", "write", "trim"};
	struct seat *seat = td->io_ops_data;

	if (!seat)
		return;
	for (int ddir = 0; ddir < DDIR_RWDIR_CNT; ddir++)
		if (getenv("HARTZONE_DEVICE_LATENCY"))
			fio_latency_print(stderr, td->o.name, names[ddir], &seat->latency[ddir]);
	leave(seat);
	free(seat);
	td->io_ops_data = NULL;
	mark('e');
}

static void note(struct thread_data *td, struct io_u *io_u, int status, uint64_t latency_ns)
{
	struct seat *seat = td->io_ops_data;

	io_u->resid = 0;
	io_u->error = status ? EIO : 0;
	if (!status && ddir_rw(io_u->ddir))
		fio_latency_add(&seat->latency[io_u->ddir], latency_ns);
	if (!status || seat->reported)
		return;
	seat->reported = true;
	log_err("hartzone: %s: %s at %llu: %s\n", td->o.name, io_ddir_name(io_u->ddir), (unsigned long long)io_u->offset,
		hartzone_error_text(status));
}

/* Completion of one of a request's commands. The last one completes the request. */
static void count_in(struct seat *seat, const struct hartzone_completion *done)
{
	const struct io_u *io_u = (const struct io_u *)(uintptr_t)done->token;
	struct request *request = &seat->requests[io_u->index];

	request->status = request->status ? request->status : done->status;
	request->latency_ns = done->latency_ns > request->latency_ns ? done->latency_ns : request->latency_ns;
	seat->commands_under_way--;
	if (--request->left)
		return;
	seat->under_way--;
	seat->taken[seat->take_to++] = (struct hartzone_completion){
		.token = done->token, .status = request->status, .latency_ns = request->latency_ns};
}

/* Append completions to the pending ones; wait for at least one if `wait`. */
static int take(struct thread_data *td, bool wait)
{
	struct seat *seat = td->io_ops_data;
	int got;

	seat->take_to -= seat->take_from;
	memmove(seat->taken, &seat->taken[seat->take_from], seat->take_to * sizeof(*seat->taken));
	seat->take_from = 0;
	got = wait ? hartzone_wait(seat->queue, seat->done, seat->commands) : hartzone_reap(seat->queue, seat->done, seat->commands);
	if (got < 0)
		return fail(EIO, "the device does not answer");
	for (int i = 0; i < got; i++)
		count_in(seat, &seat->done[i]);
	if (got)
		seat->running = false;
	return got;
}

/* Until nothing is under way, as a command that the library waits for needs it. */
static int drain(struct thread_data *td)
{
	struct seat *seat = td->io_ops_data;

	while (seat->under_way)
		if (take(td, true) < 0)
			return -EIO;
	return 0;
}

static int each_zone(struct thread_data *td, uint64_t offset, uint64_t length, int (*act)(hartzone_queue *, uint64_t))
{
	struct seat visit, *seat = seat_or_visit(td, &visit);
	const uint64_t end = (offset + length) / HARTZONE_BLOCK_BYTES;
	int status = 0;

	if (!seat)
		return -ENODEV;
	if (seat != &visit && drain(td))
		return -EIO;
	for (uint64_t zone = offset / HARTZONE_BLOCK_BYTES; !status && zone < end; zone += seat->info.zone_blocks)
		status = act(seat->queue, zone);
	if (status)
		log_err("hartzone: %s: zone at %llu: %s\n", td->o.name, (unsigned long long)offset, hartzone_error_text(status));
	end_visit(seat, &visit);
	errno = EIO;
	return status ? -EIO : 0;
}

static int reset_wp(struct thread_data *td, struct fio_file *file, uint64_t offset, uint64_t length)
{
	(void)file;
	return each_zone(td, offset, length, hartzone_zone_reset);
}

#ifdef HAVE_FINISH_ZONE /* from fio 3.34 on */
static int finish_zone(struct thread_data *td, struct fio_file *file, uint64_t offset, uint64_t length)
{
	(void)file;
	return each_zone(td, offset, length, hartzone_zone_finish);
}
#endif

/* fio resets a sequential zone by a trim request to the engine, to keep its own state of the zone. */
static enum fio_q_status trim(struct thread_data *td, struct io_u *io_u)
{
	struct seat *seat = td->io_ops_data;
	const struct hartzone_range range = {.block = io_u->offset / HARTZONE_BLOCK_BYTES,
					     .blocks = (uint32_t)(io_u->xfer_buflen / HARTZONE_BLOCK_BYTES)};
	int status = drain(td) ? HARTZONE_ERROR : 0, was_reset = 0;

	if (!status && td->o.zone_mode == ZONE_MODE_ZBD)
		was_reset = zbd_do_io_u_trim(td, io_u);
	if (was_reset < 0)
		status = HARTZONE_ERROR;
	else if (!status && was_reset != io_u_completed)
		status = hartzone_deallocate(seat->queue, &range, 1);
	note(td, io_u, status, hartzone_latency_ns(seat->queue));
	return FIO_Q_COMPLETED;
}

static enum hartzone_operation operation_of(enum fio_ddir ddir)
{
	if (ddir_sync(ddir))
		return HARTZONE_FLUSH;
	return ddir == DDIR_READ ? HARTZONE_READ : HARTZONE_WRITE;
}

/* All commands of a request name the same handle. */
static unsigned flags_of(const struct thread_data *td, const struct io_u *io_u)
{
	const struct seat *seat = td->io_ops_data;

	if (io_u->ddir != DDIR_WRITE)
		return 0;
	return (td->o.sync_io ? HARTZONE_FUA : 0) | (seat->handles ? HARTZONE_HANDLE(seat->handle[seat->next_handle]) : 0);
}

static void next_handle(struct seat *seat, const struct io_u *io_u)
{
	if (io_u->ddir == DDIR_WRITE && seat->handles)
		seat->next_handle = (seat->next_handle + 1) % seat->handles;
}

/* Submit as many commands as the queue takes; returns their number. */
static unsigned submit(struct thread_data *td, struct io_u *io_u, unsigned commands)
{
	struct seat *seat = td->io_ops_data;
	const unsigned long long most = (unsigned long long)seat->most_blocks * HARTZONE_BLOCK_BYTES;
	const bool moves = !ddir_sync(io_u->ddir);
	const unsigned flags = flags_of(td, io_u);

	for (unsigned i = 0; i < commands; i++) {
		const unsigned long long from = i * most;
		const struct iovec part = {.iov_base = (char *)io_u->xfer_buf + from, .iov_len = least(io_u->xfer_buflen - from, most)};
		const struct hartzone_request request = {.token = (uintptr_t)io_u,
							 .operation = operation_of(io_u->ddir),
							 .flags = flags,
							 .block = moves ? (io_u->offset + from) / HARTZONE_BLOCK_BYTES : 0,
							 .parts = &part,
							 .count = moves ? 1 : 0};
		if (hartzone_submit(seat->queue, &request))
			return i;
	}
	return commands;
}

static enum fio_q_status queue(struct thread_data *td, struct io_u *io_u)
{
	struct seat *seat = td->io_ops_data;
	const unsigned long long most = (unsigned long long)seat->most_blocks * HARTZONE_BLOCK_BYTES;
	const unsigned commands = ddir_sync(io_u->ddir) ? 1 : (unsigned)((io_u->xfer_buflen + most - 1) / most);
	unsigned submitted;

	fio_ro_check(td, io_u);
	if (io_u->ddir == DDIR_TRIM)
		return trim(td, io_u);
	if (seat->under_way + seat->take_to - seat->take_from == td->o.iodepth || seat->commands_under_way + commands > seat->commands)
		return FIO_Q_BUSY;
	submitted = submit(td, io_u, commands);
	if (!submitted && seat->running) /* device time passes: the virtual clock takes no more until something has ended */
		return FIO_Q_BUSY;
	if (!submitted) {
		note(td, io_u, HARTZONE_ERROR, 0);
		return FIO_Q_COMPLETED;
	}
	seat->requests[io_u->index] = (struct request){.left = submitted, .status = submitted < commands ? HARTZONE_ERROR : 0};
	seat->commands_under_way += submitted;
	seat->under_way++;
	next_handle(seat, io_u);
	return FIO_Q_QUEUED;
}

static int commit(struct thread_data *td)
{
	struct seat *seat = td->io_ops_data;

	if (!seat->under_way || seat->running)
		return 0;
	if (hartzone_commit(seat->queue))
		return fail(EIO, "the device does not answer");
	seat->running = true;
	return 0;
}

static int getevents(struct thread_data *td, unsigned least, unsigned most, const struct timespec *until)
{
	struct seat *seat = td->io_ops_data;
	unsigned have;

	(void)until;
	if (seat->under_way && take(td, false) < 0)
		return -EIO;
	while (seat->take_to - seat->take_from < least && seat->under_way)
		if (take(td, true) < 0)
			return -EIO;
	have = seat->take_to - seat->take_from;
	have = have < most ? have : most;
	seat->event_from = seat->take_from;
	seat->take_from += have;
	return (int)have;
}

static struct io_u *event(struct thread_data *td, int number)
{
	struct seat *seat = td->io_ops_data;
	const struct hartzone_completion *completion = &seat->taken[seat->event_from + (unsigned)number];
	struct io_u *io_u = (struct io_u *)(uintptr_t)completion->token;

	note(td, io_u, completion->status, completion->latency_ns);
	return io_u;
}

static int nothing_to_do(struct thread_data *td, struct fio_file *file)
{
	(void)td;
	(void)file;
	return 0;
}

/* The symbol that fio looks up. */
__attribute__((visibility("default"))) struct ioengine_ops ioengine = {
	.name = "hartzone",
	.version = FIO_IOOPS_VERSION,
	.options = job_options,
	.option_struct_size = sizeof(struct job_options),
	.flags = FIO_RAWIO | FIO_DISKLESSIO | FIO_NOEXTEND | FIO_NODISKUTIL | FIO_ASYNCIO_SYNC_TRIM,
	.setup = setup,
	.init = init,
	.cleanup = cleanup,
	.queue = queue,
	.commit = commit,
	.getevents = getevents,
	.event = event,
	.open_file = nothing_to_do,
	.close_file = nothing_to_do,
	.invalidate = nothing_to_do,
	.get_file_size = nothing_to_do,
	.get_zoned_model = get_zoned_model,
	.report_zones = report_zones,
	.reset_wp = reset_wp,
	.get_max_open_zones = get_max_open_zones,
#ifdef HAVE_FINISH_ZONE
	.finish_zone = finish_zone,
#endif
};
