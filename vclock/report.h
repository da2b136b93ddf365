/* The result file: parameters, verdict, clocks, order hash, switches by cause, busiest lines. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_REPORT_H
#define VC_REPORT_H

/* Write the file of option report=; without the option a no-op. Replaces the file atomically. */
void vc_report_write(void);

#endif
