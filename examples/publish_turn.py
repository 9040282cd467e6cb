# Usage: publish_turn.py NATS_URL (pip install nats-py)
import asyncio, json, sys
import nats


async def main():
    nc = await nats.connect(sys.argv[1])
    turn = {"session_id": "hello-py", "turn_index": 0, "status": "completed"}
    ack = await nc.jetstream().publish("fm.default.turn.ended", json.dumps(turn).encode())
    print(ack.stream, ack.seq)
    await nc.close()


asyncio.run(main())
