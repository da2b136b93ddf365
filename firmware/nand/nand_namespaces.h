/* Records of an image, next to its header: the namespaces (the windows that it was made with, their existence and attachment), and the
 * state of the controller. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAND_NAMESPACES_H
#define NAND_NAMESPACES_H

#include "nand/nand_media.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A new image: all of the config's namespaces exist, as large as they can be, and are attached. */
void nand_namespaces_format(struct nand_media *media);
/* NULL, or the sentence that the image was made for other namespaces. Changes nothing; reads the first copy only, as the second may be
 * elsewhere in an image of another shape. */
const char *nand_namespaces_differ(struct nand_media *media);
/* Start, with media->header set. NULL: they are the config's; or one sentence. A damaged copy is rewritten from the other one. */
const char *nand_namespaces_open(struct nand_media *media);

/* The media's side of nand_ops.namespace_state and .set_namespace. */
struct nand_namespace nand_namespace_read(struct nand *nand, uint32_t window);
void nand_namespace_write(struct nand *nand, uint32_t window, struct nand_namespace to);

/* A new image: nothing has happened yet. */
void nand_controller_format(struct nand_media *media);
/* Start. NULL, or one sentence. A damaged copy is rewritten from the other one. */
const char *nand_controller_open(struct nand_media *media);
/* The media's side of nand_ops.controller and .set_controller. */
void nand_controller_read(struct nand *nand, struct hz_nand_controller *out);
void nand_controller_write(struct nand *nand, const struct hz_nand_controller *to);

#ifdef __cplusplus
}
#endif
#endif
