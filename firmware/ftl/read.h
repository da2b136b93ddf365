/* Read path: a request is split per flash page; each piece comes from a write buffer, SLC, normal flash, or is unmapped (zeros).
 *
 * Flash reads come from a pool per worker; if it is empty the request is parked and goes on when one returns. */
#ifndef FTL_READ_H
#define FTL_READ_H

#include "io.h"

struct ftl;
struct ftl_worker;
struct arena;

enum { READS_PER_WORKER = 256 };
struct flash_read { struct tsu_txn txn; struct ftl_request *req; uint32_t pins; };
struct read_pool { struct flash_read *read; struct tsu_txn *free; struct io_queue waiting; };

void read_pool_init(struct ftl_worker *worker, struct arena *arena);
/* FTL_READ, also its continuation after waiting. */
void read_run(struct ftl_worker *self, struct ftl_request *req);

#endif
