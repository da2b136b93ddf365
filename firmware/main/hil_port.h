/* The HIL's port to the platform, over a vsock stream. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MAIN_HIL_PORT_H
#define MAIN_HIL_PORT_H

#include "hil/ports/ports.h"

struct vsock;
void hil_port_init(struct hil_port *port, struct vsock *vsock);

#endif
