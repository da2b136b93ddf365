/* The native image: loading it, its calls, and what it asks for. */
/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "native.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cost/line.h"
#include "guest/memory.h"
#include "guest/symbol.h"
#include "hypercall.h"
#include "lanes.h"
#include "native_abi.h"
#include "schedule/carrier.h"
#include "schedule/token.h"
#include "translate.h"
#include "wait.h"

#ifdef __x86_64__

enum { PAGE = 4096, STACK_BYTES = 256 << 10, MOST_LEVELS = 8, STUB_BYTES = 5, CALL = 0xe8, JUMP = 0xe9 };

/* What the guest asks while it answers a call is a level of its own. */
struct level {
	struct context native; /* while it does not run */
	void *callback;        /* stack of the hypercall's callback, while it runs */
	struct hz_native_call *call;
};
static struct {
	struct level level[MOST_LEVELS];
	unsigned used;
} calls[VC_MAX_HARTS];

/* --- what the native image asks for --- */

/* As at an instruction of the guest. */
static struct vc_hart *caller(uint64_t hart)
{
	struct vc_hart *h = &vc.hart[hart];

	h->wait_pc = h->freeze_pc;
	return h;
}

static uint64_t address_of(const uint64_t *word) { return (uintptr_t)word; }

static void wrote(struct vc_hart *h, enum vc_kind kind, const uint64_t *word)
{
	if (!vc_holds(h) || vc.ended)
		return;
	vc_frozen_access(h, kind, address_of(word));
	vc_line_write(h, address_of(word), false); /* frozen: a release costs no other than any write */
}

static uint64_t serve_load(uint64_t hart, const uint64_t *word)
{
	struct vc_hart *h = caller(hart);
	uint64_t value;

	vc_before(h, VC_LR);
	value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	vc_pair_open(h, address_of(word), sizeof(*word));
	if (!vc_holds(h) || vc.ended)
		return value;
	vc_frozen_access(h, VC_LR, address_of(word));
	vc_line_load_reserved(h, address_of(word));
	return value;
}

/* An AMO: `old` is what atomic() finds. */
#define MODIFY(name, atomic) \
	static uint64_t name(uint64_t hart, uint64_t *word, uint64_t value) \
	{ \
		struct vc_hart *h = caller(hart); \
		uint64_t old; \
\
		vc_before(h, VC_AMO); \
		old = atomic(word, value, __ATOMIC_ACQ_REL); \
		wrote(h, VC_AMO, word); \
		return old; \
	}
MODIFY(serve_swap, __atomic_exchange_n)
MODIFY(serve_add, __atomic_fetch_add)
MODIFY(serve_set, __atomic_fetch_or)
MODIFY(serve_mask, __atomic_fetch_and)

/* The SC of a pair: a broken reservation counts while there is an order. */
static bool store_conditional(struct vc_hart *h, uint64_t *word, uint64_t old, uint64_t value)
{
	bool may;

	h->in_wfi = false;
	vc_order(h, VC_SC);
	may = h->reserved || !vc_holds(h) || vc.ended;
	vc_pair_drop(h);
	return may && __atomic_compare_exchange_n(word, &old, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static uint64_t serve_compare_and_swap(uint64_t hart, uint64_t *word, uint64_t old, uint64_t value)
{
	struct vc_hart *h = &vc.hart[hart];
	uint64_t seen;

	do {
		seen = serve_load(hart, word);
		if (seen != old)
			return seen;
	} while (!store_conditional(h, word, old, value));
	wrote(h, VC_SC, word);
	return seen;
}

static void serve_copy(void *to, const void *from, uint64_t bytes)
{
	vc.bulk_bytes += bytes;
	memcpy(to, from, bytes);
}

static void serve_fill(void *to, uint64_t value, uint64_t bytes)
{
	vc.bulk_bytes += bytes;
	memset(to, (int)(value & 0xff), bytes);
}

static void serve_lanes(void *sum, const void *data, uint64_t bytes)
{
	vc.bulk_bytes += bytes;
	hz_lanes_mix(sum, data, bytes);
}

/* --- calls --- */

/* Leave the running stack for another one, which has left the same way or is new. */
struct context *context_swap(struct context *from, void **from_stack, void *to_stack);

static uint64_t serve_upcall(uint64_t function, const uint64_t *argument, uint64_t hart)
{
	struct level *level = &calls[hart].level[calls[hart].used - 1];

	level->call->function = function;
	memcpy(level->call->argument, argument, sizeof(level->call->argument));
	level->call->state = HZ_NATIVE_ASKS;
	context_swap(NULL, &level->native.stack, level->callback);
	return level->call->result;
}

static void serve_hypercall(uint64_t hart, uint64_t number)
{
	enum vc_kind kind = vc_hypercall_kind((uint32_t)number);

	if (kind != VC_PLAIN)
		vc_before(caller(hart), kind);
	/* QEMU may want the hart to stop, which it does in the guest's code. */
	if (kind == VC_TAKE && !vc_holds(&vc.hart[hart]))
		serve_upcall(vc_symbol_value("lt_kick"), (const uint64_t[HZ_NATIVE_ARGUMENTS]){ hart }, hart);
}

/* Call a function with six arguments and the hart's number in r15. */
uint64_t vc_native_enter(uint64_t function, const uint64_t *argument, uint64_t hart);
__asm__(".text\n"
	".globl vc_native_enter\n"
	".hidden vc_native_enter\n"
	".type vc_native_enter, @function\n"
	"vc_native_enter:\n"
	"	push %r15\n"
	"	mov %rdx, %r15\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %r10\n"
	"	mov (%r10), %rdi\n"
	"	mov 8(%r10), %rsi\n"
	"	mov 16(%r10), %rdx\n"
	"	mov 24(%r10), %rcx\n"
	"	mov 32(%r10), %r8\n"
	"	mov 40(%r10), %r9\n"
	"	call *%rax\n"
	"	pop %r15\n"
	"	ret\n"
	".size vc_native_enter, . - vc_native_enter\n");

static void run_calls(struct context *left, void *home)
{
	struct level *level = home;
	uint64_t hart = (uint64_t)((char *)level - (char *)calls) / sizeof(calls[0]);

	(void)left;
	for (;;) {
		struct hz_native_call *call = level->call;

		call->result = vc_native_enter(call->function, call->argument, hart);
		level->call->state = HZ_NATIVE_DONE;
		context_swap(NULL, &level->native.stack, level->callback);
	}
}

static bool has_stack(struct level *level)
{
	char *stack;

	if (level->native.stack)
		return true;
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return false;
	context_make(&level->native, stack + STACK_BYTES, run_calls, level);
	return true;
}

void vc_native(struct vc_hart *h)
{
	struct hz_native_call *call = vc_guest(h->slot->arg0, sizeof(*call));
	struct level *level = calls[h->index].level;

	if (!call || !h->slot->native || !h->frozen)
		return;
	if (call->state == HZ_NATIVE_ASKED) {
		if (calls[h->index].used == MOST_LEVELS || !has_stack(&level[calls[h->index].used]))
			return;
		calls[h->index].used++;
	} else if (call->state != HZ_NATIVE_ASKS || !calls[h->index].used) {
		return;
	}
	level = &level[calls[h->index].used - 1];
	level->call = call;
	context_swap(NULL, &level->callback, level->native.stack);
	calls[h->index].used -= call->state == HZ_NATIVE_DONE;
	vc.native_calls += call->state == HZ_NATIVE_DONE;
}

/* --- loading --- */

static bool place(uint64_t address, uint64_t bytes, int flags, int fd)
{
	void *where = (void *)(uintptr_t)address;

	return mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE | flags, fd, 0) == where;
}

static bool place_file(uint64_t address, uint64_t bytes, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool placed = fd >= 0 && place(address, bytes, MAP_SHARED, fd);

	if (fd >= 0)
		close(fd);
	return placed;
}

static uint64_t pages(uint64_t bytes) { return (bytes + PAGE - 1) & -(uint64_t)PAGE; }

/* Its code at its address, its constants in guest RAM. NULL: it cannot be used. */
static const struct hz_native_header *load_image(const uint8_t *image, uint64_t bytes)
{
	const Elf64_Ehdr *header = (const void *)image;
	const Elf64_Phdr *part = (const void *)(image + header->e_phoff);

	for (unsigned i = 0; i < header->e_phnum; i++) {
		void *where = (void *)(uintptr_t)part[i].p_vaddr;

		if (part[i].p_type != PT_LOAD || !part[i].p_memsz)
			continue;
		if (part[i].p_offset > bytes || part[i].p_filesz > bytes - part[i].p_offset)
			return NULL;
		if (part[i].p_vaddr == HZ_NATIVE_CODE && !place(part[i].p_vaddr, pages(part[i].p_memsz), MAP_PRIVATE | MAP_ANONYMOUS, -1))
			return NULL;
		memcpy(where, image + part[i].p_offset, part[i].p_filesz);
		if (part[i].p_vaddr == HZ_NATIVE_CODE && mprotect(where, pages(part[i].p_memsz), PROT_READ | PROT_EXEC))
			return NULL;
	}
	return (const void *)(uintptr_t)HZ_NATIVE_CODE;
}

static bool is_image(const uint8_t *image, uint64_t bytes)
{
	const Elf64_Ehdr *header = (const void *)image;

	return image && bytes > sizeof(*header) && !memcmp(image, ELFMAG, SELFMAG) && header->e_machine == EM_X86_64 &&
	       header->e_phoff < bytes && header->e_phnum * sizeof(Elf64_Phdr) <= bytes - header->e_phoff;
}

static void put_stub(uint64_t at, uint8_t code, uint64_t target)
{
	uint8_t *where = (uint8_t *)(uintptr_t)at;
	int32_t distance = (int32_t)(target - at - STUB_BYTES);

	where[0] = code;
	memcpy(where + 1, &distance, sizeof(distance));
}

static void put_upcall(uint64_t function, void *upcall) { put_stub(function, CALL, (uintptr_t)upcall); }

/* Only the plugin's process sees these pages where the guest has its code. They end with some of its constants. */
static bool put_stubs(const struct hz_native_header *header)
{
	uint64_t bytes = pages(vc_symbol_value("code_end") - HZ_RAM_BASE);
	void *code = (void *)(uintptr_t)HZ_RAM_BASE;

	if (mmap(code, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != code)
		return false;
	memcpy(code, vc.ram, bytes);
	vc_symbols_each_function(put_upcall, (void *)(uintptr_t)header->upcall);
	for (uint64_t i = 0; i < header->copies; i++)
		put_stub(header->copy[i].guest, JUMP, header->copy[i].native);
	return !mprotect(code, bytes, PROT_READ | PROT_EXEC);
}

static bool wanted(void) { return vc.options.native && !vc.options.race_check && !vc.options.profile && !vc.options.count_each; }

static bool start(const uint8_t *image, uint64_t bytes)
{
	static const struct hz_native_services services = { .load = serve_load,
							    .swap = serve_swap,
							    .add = serve_add,
							    .set = serve_set,
							    .mask = serve_mask,
							    .compare_and_swap = serve_compare_and_swap,
							    .hypercall = serve_hypercall,
							    .copy = serve_copy,
							    .fill = serve_fill,
							    .lanes = serve_lanes,
							    .upcall = serve_upcall };
	const struct hz_native_header *header;

	if (!place_file(HZ_RAM_BASE, vc.ram_bytes, vc.options.ram) || !place(HZ_NATIVE_SERVICES, PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1))
		return false;
	*(struct hz_native_services *)(uintptr_t)HZ_NATIVE_SERVICES = services;
	header = load_image(image, bytes);
	return header && header->magic == HZ_NATIVE_MAGIC && put_stubs(header);
}

static void serve(bool serves)
{
	for (unsigned i = 0; i < vc.harts; i++)
		vc.hart[i].slot->native = serves;
}

void vc_native_start(void)
{
	uint64_t bytes = 0;
	const uint8_t *image = wanted() ? vc_section(HZ_NATIVE_SECTION, &bytes) : NULL;

	if (!is_image(image, bytes))
		return;
	if (start(image, bytes))
		serve(true);
	else
		vc_say("hardware is emulated: addresses of the guest are taken in this process");
}

void vc_native_window(uint64_t guest, uint64_t bytes, uint64_t file)
{
	const char *path = file == HZ_VC_SHM ? vc.options.shm : vc.options.nand;

	if (!vc.hart[0].slot->native || !path || !bytes || place_file(guest, bytes, path))
		return;
	serve(false);
	vc_say("hardware is emulated: the address of %s is taken in this process", path);
}

#else

void vc_native_start(void) {}
void vc_native(struct vc_hart *h) { (void)h; }
void vc_native_window(uint64_t guest, uint64_t bytes, uint64_t file) { (void)guest, (void)bytes, (void)file; }

#endif
