// The whole path: devnet's files → feeder → log → hubs → relay → clients, compared with devnet's own books at every
// block. WEIR_SOAK_SECONDS lengthens the run.

import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalBook } from '../../src/book/canonical.ts'
import { Connection } from '../../src/client/connection.ts'
import { DiffBooks } from '../../src/client/diff-books.ts'
import { nodeRuntime } from '../../src/client/node-runtime.node.ts'
import { SeededBooks } from '../../src/client/seeded-books.ts'
import type { Levels } from '../../src/feed/block.ts'
import { type Program, run, scratch } from './children.ts'
import { FEED_TOKEN, startWorld, type World } from './world.ts'

const SECONDS = Number(process.env.WEIR_SOAK_SECONDS ?? 12)
const SETTLE_BLOCKS = 60

let world: World
let devnet: Program
let feeder: Program
let key: string
const folder = scratch()

beforeAll(async () => {
  devnet = run('devnet/main.node.ts', [
    '--data',
    join(folder.path, 'node'),
    '--oracle',
    join(folder.path, 'oracle'),
    '--port',
    '0',
    '--json',
  ])
  const { url } = JSON.parse(await devnet.line((line) => line.startsWith('{'))) as { url: string }
  world = await startWorld({ upstream: `${url}/info` })
  key = await world.newKey('100000')
  const to = ['--data', join(folder.path, 'node'), '--info', url, '--gateway', world.url]
  feeder = run('feeder/main.node.ts', to, { FEED_TOKEN })
})
afterAll(async () => {
  await feeder?.end()
  await devnet?.end()
  await world?.stop()
  folder.remove()
})

const hash = (levels: Levels) => createHash('sha256').update(canonicalBook(levels)).digest('hex')

/** `coin@height` → hash, as a client saw it. */
class Seen {
  readonly hashes = new Map<string, string>()
  readonly first = new Map<string, number>()
  readonly gaps: string[] = []
  note(coin: string, height: number, levels: Levels): void {
    if (!this.first.has(coin)) this.first.set(coin, height)
    this.hashes.set(`${coin}@${height}`, hash(levels))
  }
}

/** What devnet wrote of its own books: height → coin → hash, for the coins changed at that height. */
function oracle(): Map<number, Record<string, string>> {
  const lines = globSync('oracle/**/*', { cwd: folder.path, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').split('\n'))
  // The last line may be half written.
  const whole = lines.filter((line) => line.startsWith('{') && line.endsWith('}}'))
  return new Map(
    whole
      .map((line) => JSON.parse(line) as { height: number; books: Record<string, string> })
      .map(({ height, books }) => [height, books]),
  )
}

describe('clients of the whole path', () => {
  it(
    `hold the exchange's own books at every block, for ${SECONDS} s`,
    async () => {
      const BUILDER_COINS = ['xyz:GOLD', 'xyz:TSLA', 'flx:OIL', 'flx:NVDA']
      const coinsOf = async () => {
        const mids = await world.info(key, { type: 'allMids' })
        return mids.ok ? [...new Set([...Object.keys((await mids.json()) as object), ...BUILDER_COINS])] : []
      }
      // The exchange's books fill over its first blocks: all markets must have begun.
      await expect.poll(async () => (await coinsOf()).length, { timeout: 30_000, interval: 200 }).toBe(20)
      for (const coin of BUILDER_COINS)
        await expect
          .poll(async () => (await world.info(key, { type: 'l2BookDiffSnapshot', coin })).text(), { timeout: 30_000 })
          .toContain('levels')
      const coins = await coinsOf()
      const runtime = nodeRuntime()
      const connect = () => new Connection(runtime, { endpoint: () => ({ url: world.url, key }) })
      const [byDiff, bySeed] = [connect(), connect()]
      const [diff, seeded] = [new Seen(), new Seen()]
      new DiffBooks(
        byDiff,
        runtime,
        { coin: coins.slice(0, 20) },
        {
          changed: (book) => diff.note(book.coin, book.seq, book.levels()),
          gap: (coin, reason) => diff.first.has(coin) && diff.gaps.push(`${coin}: ${reason}`),
        },
      )
      new SeededBooks(
        bySeed,
        { marketTypes: ['*'] },
        {
          changed: (book) => seeded.note(book.coin, book.height, book.levels()),
          gap: (coin, reason) => seeded.first.size > 0 && seeded.gaps.push(`${coin}: ${reason}`),
        },
      )
      byDiff.start()
      bySeed.start()
      await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000))
      const last = Math.max(...[...diff.hashes.keys()].map((at) => Number(at.split('@')[1])))
      // Closing is told as a gap too: what counts is what happened before.
      const gaps = [...diff.gaps, ...seeded.gaps]
      byDiff.close()
      bySeed.close()

      expect(gaps).toEqual([])
      const truth = oracle()
      for (const [name, seen, scope] of [
        ['l2BookDiff2', diff, coins.slice(0, 20)],
        ['l2BookDiff', seeded, coins],
      ] as const) {
        let compared = 0
        const wrong: string[] = []
        for (const coin of scope) {
          const from = seen.first.get(coin)
          expect(from, `${name} ${coin}`).toBeDefined()
          // Orders that come and go within one block change no level: nothing is sent, and the book stands.
          let held = seen.hashes.get(`${coin}@${from}`)
          for (let height = from! + 1; height <= last - 1; height++) {
            held = seen.hashes.get(`${coin}@${height}`) ?? held
            const real = truth.get(height)?.[coin]
            if (real === undefined) continue
            compared++
            if (held !== real) wrong.push(`${name} ${coin}@${height}`)
          }
        }
        console.log(
          `${name}: ${compared} books of ${scope.length} coins compared over ${last} blocks, ${wrong.length} wrong`,
        )
        expect(wrong.slice(0, 5)).toEqual([])
        expect(compared).toBeGreaterThan(SETTLE_BLOCKS)
      }
    },
    (SECONDS + 100) * 1000,
  )
})
