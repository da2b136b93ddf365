"""Throughput against the number of host threads and the queue depth, as a table."""
# SPDX-License-Identifier: BSD-3-Clause
import hartzone


def main():
    results = hartzone.sweep({"threads": [1, 2], "queue_depth": [1, 8]}, device="small", workload="small", quick=True)
    try:
        print(results.frame()[["threads", "queue_depth", "iops", "mib_s", "waf"]].to_string(index=False))
    except hartzone.HartzoneError as error:  # no pandas
        print(error)
        for row in results.rows():
            print(row["threads"], row["queue_depth"], f"{row['iops']:.0f}")


if __name__ == "__main__":
    main()
