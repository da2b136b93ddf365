/* Commands that create and delete I/O queues, and Doorbell Buffer Config (base spec 5.4 to 5.8). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_ADMIN_QUEUES_H
#define HIL_ADMIN_QUEUES_H

#include "hil/controller/admin_command.h"

admin_handler admin_create_sq, admin_create_cq, admin_delete_sq, admin_delete_cq, admin_dbbuf;

struct submission_queue;
/* A queue that is being deleted has sent its last completion: answers the Delete command. */
void admin_sq_drained(struct hil *hil, struct submission_queue *sq);

#endif
