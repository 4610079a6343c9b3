// Blocks recorded from the live exchange, through feed, log, hub and relay: a client sees exactly the golden books
// and level changes. Skipped where the recordings are absent: they are not part of the repository.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { canonicalBook } from '../../src/book/canonical.ts'
import { LevelBook } from '../../src/book/level-book.ts'
import type { Levels } from '../../src/feed/block.ts'
import { openReplay } from '../../src/feeder/replay.node.ts'
import { Feeder, Socket } from './socket.ts'
import { startWorld, type World } from './world.ts'

const FOLDER = '../shared/wire/samples/node-capture'
const present = existsSync(`${FOLDER}/l2-golden.json`)

interface Golden {
  readonly coin: string
  readonly snapshot_height: number
  readonly last_height: number
  readonly snapshot: { readonly sha256: string }
  readonly end: { readonly sha256: string }
  readonly diffs: readonly { readonly block_height: number; readonly levels: Levels }[]
}
interface Updates {
  readonly block_height: number
  readonly book_diffs: readonly { readonly levels: Levels }[]
}

const hash = (levels: Levels) => createHash('sha256').update(canonicalBook(levels)).digest('hex')

describe.skipIf(!present)(
  `recorded blocks at a client${present ? '' : ' (skipped: the recordings are not there)'}`,
  () => {
    let world: World
    beforeAll(async () => {
      world = await startWorld()
    })
    afterAll(() => world.stop())

    it('are the golden books and changes, on both streams and in the snapshot', async () => {
      const golden = JSON.parse(readFileSync(`${FOLDER}/l2-golden.json`, 'utf8')) as Golden
      const key = await world.newKey('1000')
      const feeder = await Feeder.connect(world.ws)
      await feeder.hello()
      const replay = await openReplay(FOLDER)
      feeder.snapshot(replay.seed.height, replay.seed.time, replay.seed.books)
      await feeder.acked(replay.seed.height)
      const snapshot = async () => {
        const answer = await world.info(key, { type: 'l2BookDiffSnapshot', coin: golden.coin })
        expect(answer.status).toBe(200)
        return (await answer.json()) as { height: number; levels: Levels }
      }
      const before = await vi.waitFor(snapshot, { timeout: 20_000, interval: 100 })
      expect([before.height, hash(before.levels)]).toEqual([golden.snapshot_height, golden.snapshot.sha256])

      const sockets = [
        await Socket.open(`${world.ws}/ws?key=${key}`),
        await Socket.open(`${world.ws}/ws?key=${key}`),
      ] as const
      for (const [i, type] of ['l2BookDiff', 'l2BookDiff2'].entries()) {
        sockets[i as 0 | 1].send({ method: 'subscribe', subscription: { type, coin: golden.coin } })
        await sockets[i as 0 | 1].channel('subscriptionResponse')
      }
      const seed = ((await sockets[0].channel('l2BookDiff')).data as { Snapshot: { levels: Levels } }).Snapshot
      expect(hash(seed.levels)).toBe(golden.snapshot.sha256)
      for await (const block of replay.blocks()) feeder.block(block)

      const changed = golden.diffs.filter(({ levels }) => levels[0].length + levels[1].length > 0)
      for (const [i, channel] of ['l2BookDiff', 'l2BookDiff2'].entries()) {
        const book = new LevelBook()
        book.apply(seed.levels)
        for (const { block_height, levels } of changed) {
          const { Updates } = (await sockets[i as 0 | 1].channel(channel)).data as { Updates: Updates }
          expect([Updates.block_height, Updates.book_diffs[0]?.levels]).toEqual([block_height, levels])
          book.apply(levels)
        }
        expect(hash(book.levels())).toBe(golden.end.sha256)
      }
      const after = await snapshot()
      expect([after.height, hash(after.levels)]).toEqual([golden.last_height, golden.end.sha256])
      for (const socket of sockets) socket.close()
    })
  },
)
