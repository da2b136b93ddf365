/* Which superpage buffer a zone of the namespace gets. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BINDING_H
#define FTL_BINDING_H

#include <stdint.h>

struct extent;
struct superpage_pool;

/* The buffer that the extent gets, if it is free, or waits for. Class BUFFER held. O(1), or O(buffers) where it must compare. */
typedef uint32_t binding_fn(const struct superpage_pool *pool, const struct extent *ext);

extern binding_fn *const binding_policies[]; /* by enum hz_buffer_binding */

#endif
