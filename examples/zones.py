"""Boots a device, fills a zone, and shows how its state changes."""
# SPDX-License-Identifier: BSD-3-Clause
import hartzone


def main():
    with hartzone.Device("small") as device, device.queue() as queue:
        info = device.info()
        print(f"{info.zones} zones of {info.zone_capacity} blocks")
        data = bytes(8 * hartzone.BLOCK_BYTES)
        for _ in range(info.zone_capacity // 8):
            block = queue.append(0, data)
        print(f"the last append went to block {block} and took {queue.latency_ns} ns of device time")
        try:
            queue.append(0, data)
        except hartzone.StatusError as error:
            print(f"one more is refused: {error}")
        queue.reset_zone(0)
        print("after a reset:", next(queue.zones()).state.name)


if __name__ == "__main__":
    main()
