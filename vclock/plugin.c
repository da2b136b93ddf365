/* Loading: check version and options, register callbacks, and map the files once the machine
 * exists. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cost/cache.h"
#include "cost/line.h"
#include "schedule/carrier.h"
#include "schedule/clock.h"
#include "guest/memory.h"
#include "base/qemu_api.h"
#include "guest/cpu.h"
#include "native.h"
#include "report.h"
#include "profile/account.h"
#include "guest/symbol.h"
#include "schedule/token.h"
#include "translate.h"
#include "schedule/watchdog.h"

QEMU_EXPORT int qemu_plugin_version = VC_API_VERSION;

/* Runs in each vCPU's thread before guest code; the last call finds the machine, its memory files
 * and all vCPUs in place. Counters are created only here: for more than 16 vCPUs QEMU would
 * otherwise have to stop all vCPUs to enlarge them. */
static void on_init(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	if (!vc_registers_find(vcpu))
		_exit(2);
	pthread_mutex_lock(&vc.lock);
	if (++vc.inited == vc.harts) {
		if (!vc_map_files())
			_exit(2);
		if (!vc_cache_create() || !vc_line_create()) {
			vc_say("no memory to know who holds each line of %s", vc.options.ram);
			_exit(2);
		}
		vc_counters_create();
	}
	pthread_mutex_unlock(&vc.lock);
}

static void on_idle(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	vc_hart_idle(&vc.hart[vcpu]);
}

static void on_resume(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	vc_hart_resume(&vc.hart[vcpu]);
}

static void on_flush(qemu_plugin_id_t id)
{
	(void)id;
	if (vc.phase == VC_RUNNING)
		vc_flag_run(VC_FLAG_FLUSHED);
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *unused)
{
	(void)id;
	(void)unused;
	if (!vc.ended)
		vc_report_write();
	if (vc.exit_code) {
		fflush(NULL);
		_exit(vc.exit_code);
	}
}

static bool check_machine(const qemu_info_t *info, char *text, size_t bytes)
{
	if (info->version.min > VC_API_VERSION || info->version.cur < VC_API_VERSION)
		snprintf(text, bytes,
			 "this QEMU serves plugin API versions %d to %d, but version %d is needed: "
			 "use QEMU 10.0 or later",
			 info->version.min, info->version.cur, VC_API_VERSION);
	else if (strcmp(info->target_name, "riscv64") || !info->system_emulation)
		snprintf(text, bytes, "this is %s of target %s: use qemu-system-riscv64",
			 info->system_emulation ? "system emulation" : "user emulation", info->target_name);
	else if (info->system.smp_vcpus > VC_MAX_HARTS)
		snprintf(text, bytes, "the machine has %d harts, at most %d are possible", info->system.smp_vcpus, VC_MAX_HARTS);
	else
		return true;
	return false;
}

/* auto: in user space if possible. */
static bool choose_switch(char *text, size_t bytes)
{
	bool possible = vc_carrier_in_user_space();

	if (vc.options.switch_by == VC_SWITCH_USER && !possible) {
		snprintf(text, bytes, "option switch=user: this machine does not let programs set their thread pointer; use switch=futex");
		return false;
	}
	if (vc.options.switch_by == VC_SWITCH_AUTO)
		vc.options.switch_by = possible ? VC_SWITCH_USER : VC_SWITCH_FUTEX;
	if (vc_carrier_start(vc.options.switch_by == VC_SWITCH_USER))
		return true;
	snprintf(text, bytes, "no memory for %u stacks", vc.harts);
	return false;
}

static bool prepare(const qemu_info_t *info, int argc, char **argv, char *text, size_t bytes)
{
	if (!check_machine(info, text, bytes) || !vc_options_parse(&vc.options, argc, argv, text, bytes))
		return false;
	vc.harts = (unsigned)info->system.smp_vcpus;
	if (vc.options.harts && vc.options.harts != vc.harts) {
		snprintf(text, bytes, "option harts=%u, but the machine has %u (-smp)", vc.options.harts, vc.harts);
		return false;
	}
	if (vc.options.elf && !vc_symbols_load(vc.options.elf)) {
		snprintf(text, bytes, "option elf=%s is unusable", vc.options.elf);
		return false;
	}
	vc_stages_load();
	if (!vc_order_start()) {
		snprintf(text, bytes, "option trace=%s is unusable", vc.options.trace);
		return false;
	}
	return choose_switch(text, bytes);
}

static void begin(void)
{
	vc_native_start();
	vc_watchdog_start();
}

QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	char text[400];

	if (!prepare(info, argc, argv, text, sizeof(text))) {
		vc_say("%s", text);
		return 1;
	}
	for (unsigned i = 0; i < VC_MAX_HARTS; i++) {
		vc.hart[i].index = i;
		vc.key[i] = VC_NEVER;
	}
	vc_token_start(&(struct vc_token_hooks){ .opened = begin, .ended = vc_report_write });
	vc_jitter_start();
	qemu_plugin_register_vcpu_init_cb(id, on_init);
	qemu_plugin_register_vcpu_idle_cb(id, on_idle);
	qemu_plugin_register_vcpu_resume_cb(id, on_resume);
	qemu_plugin_register_flush_cb(id, on_flush);
	qemu_plugin_register_vcpu_tb_trans_cb(id, vc_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
