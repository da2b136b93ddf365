/* The device as a whole: every module, in the order in which it is brought up. One instance, owned by main.c. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MAIN_DEVICE_H
#define MAIN_DEVICE_H

#include "hil/hil.h"
#include "platform/platform.h"
#include "platform/vsock.h"
#include "nand/nand_media.h"
#include "port/ftl_namespaces.h"
#include "tsu/tsu.h"

struct device {
	struct platform platform;
	struct arena_ledger ledger;
	struct hz_shm_header *header; /* in ivshmem #0 */
	struct hz_device_config cfg;  /* copied: the host cannot change it under a running device */
	struct flash_map map;
	struct nand_media media;
	struct link_pair links;
	struct tsu *tsu;
	struct ftl_namespaces namespaces;
	struct vsock *vsock;
	struct hil_port port;
	struct controller_ops ops;
	struct hil *hil;
	char text[256]; /* room for a sentence of hz_device_config_check */
};

/* Hart 0: brings everything up, ends with HZ_BOOT_READY. Any error ends the run through fail_with. */
void device_start(struct device *device, const void *device_tree);
/* Hart 0, with every other hart out of its loop: checks the whole state once more and switches off. */
_Noreturn void device_stop(struct device *device);
void device_set_state(struct device *device, enum hz_boot_state state);

#endif
