// Recorded node blocks through feed, log, hub and relay: a client sees exactly the golden books and level changes.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ChannelTypes } from '../../src/client/wire.ts'
import { openReplay } from '../../src/feeder/replay.node.ts'
import { LevelBook } from '../../src/order-books/level-book.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'
import { recount } from '../feeder/recount.ts'
import { CAPTURE, WIRES } from '../fixtures/wire.ts'
import { hashOf } from '../kit/book-hash.ts'
import { Feeder } from '../kit/feeder.ts'
import { startWorld, type World } from '../kit/gateway.ts'
import { Socket } from '../kit/socket.ts'

type Data = ChannelTypes['l2BookDiff2']['frame']['data']

describe.each(WIRES)('%s blocks at a client', (_, wire, isAbsent) => {
  describe.skipIf(isAbsent)('through feed, log, hub and relay', () => {
    let world: World
    beforeAll(async () => {
      world = await startWorld()
    })
    afterAll(() => world.stop())

    it('yield the golden books and changes on both streams and in the snapshot', async () => {
      const golden = recount(wire)
      const key = await world.newKey('1000')
      const feeder = await Feeder.connect(world.ws)
      await feeder.hello()
      const replay = await openReplay(join(wire, CAPTURE))
      feeder.snapshot(replay.seed.height, replay.seed.time, replay.seed.books)
      await feeder.acked(replay.seed.height)
      const snapshot = async () => {
        const answer = await world.info(key, { type: 'l2BookDiffSnapshot', coin: golden.coin })
        expect(answer.status).toBe(200)
        return (await answer.json()) as { height: number; levels: Levels }
      }
      const before = await vi.waitFor(snapshot, { timeout: 20_000, interval: 100 })
      expect([before.height, hashOf(before.levels)]).toEqual([golden.snapshot_height, golden.snapshot.sha256])

      const sockets = [
        await Socket.open(`${world.ws}/ws?key=${key}`),
        await Socket.open(`${world.ws}/ws?key=${key}`),
      ] as const
      for (const [i, type] of ['l2BookDiff', 'l2BookDiff2'].entries()) {
        await sockets[i as 0 | 1].subscribe({ type, coin: golden.coin })
      }
      const seed = ((await sockets[0].channel('l2BookDiff')).data as { Snapshot: { levels: Levels } }).Snapshot
      expect(hashOf(seed.levels)).toBe(golden.snapshot.sha256)
      for await (const block of replay.blocks()) feeder.block(block)

      const changed = golden.diffs.filter(({ levels }) => levels[0].length + levels[1].length > 0)
      for (const [i, channel] of ['l2BookDiff', 'l2BookDiff2'].entries()) {
        const book = new LevelBook()
        book.apply(seed.levels)
        for (const { block_height, levels } of changed) {
          const { Updates } = (await sockets[i as 0 | 1].channel(channel)).data as Data
          expect([Updates.block_height, Updates.book_diffs[0]?.levels]).toEqual([block_height, levels])
          book.apply(levels)
        }
        expect(hashOf(book.levels())).toBe(golden.end.sha256)
      }
      const after = await snapshot()
      expect([after.height, hashOf(after.levels)]).toEqual([golden.last_height, golden.end.sha256])
      for (const socket of sockets) socket.close()
    })
  })
})
