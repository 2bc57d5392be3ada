"""Reads the phone's port 9100 to its end through pymobiledevice3's userspace tunnel; run by its own interpreter.

usage: pymobiledevice3_bulk.py UDID
"""

import asyncio
import json
import sys
import time

from pymobiledevice3.remote.userspace_tunnel import UserspaceRsdTunnel


async def main(udid):
    async with UserspaceRsdTunnel(serial=udid) as rsd:
        reader, writer = await rsd.open_connection(rsd.service.address[0], 9100)
        start, count = time.monotonic(), 0
        while part := await reader.read(1 << 16):
            count += len(part)
        print(json.dumps({"bytes": count, "seconds": time.monotonic() - start}), flush=True)
        writer.close()


asyncio.run(main(sys.argv[1]))
