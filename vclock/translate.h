/* Instrumentation of translated code: instruction counting and callbacks at synchronisation instructions. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_TRANSLATE_H
#define VC_TRANSLATE_H

#include "base/qemu_api.h"
#include "base/state.h"

/* Once, before any counted code is translated. */
void vc_counters_create(void);
/* Of HZ_VC_…; VC_PLAIN: without an effect. */
enum vc_kind vc_hypercall_kind(uint32_t number);
void vc_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

#endif
