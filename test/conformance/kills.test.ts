// `npm start` with kills: every process is killed in turn. `watch` gets back in sync, examples/book.ts shows only the
// server's books, and the client library delivers every fill exactly once.

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { processInfo } from '../../src/cli/launch/processes.node.ts'
import { Connection } from '../../src/client/connection.ts'
import { nodeRuntime } from '../../src/client/node-runtime.node.ts'
import { allFillsBody } from '../../src/client/subscription.ts'
import type { Levels, UserFill } from '../../src/protocol/feed/block.ts'
import { Gateway } from '../kit/gateway.ts'
import { nodeBlocks } from '../kit/node-blocks.ts'
import { lastingPort, type Program, run, runFile, scratch } from '../kit/program.ts'
import { until } from '../kit/until.ts'
import { stateOf } from './book-follower.ts'

interface Ready {
  readonly url: string
  readonly key: string
  readonly pids: Readonly<Record<'start' | 'devnet' | 'gateway' | 'feeder', number>> & { readonly workerd?: number }
}

const folder = scratch()
const state = join(folder.path, 'state')
/** A rehearsal has many isolates, which start one after another. */
const SLOWER = process.env.REHEARSAL ? 4 : 1
/** What the issue allows between the return of a part and `in step`. */
const BACK_IN_STEP_MS = SLOWER * 5000
/** Blocks that may still be on their way when a kill strikes. */
const SEEN_BLOCKS = 5
/** Of two kinds of markets. */
const COINS = ['BTC', 'xyz:GOLD']
/** Books that the server told while processes died, as the follower calls them: its head, then its hash. */
const told = new Map<string, string>()

/** Fills that the client library told, in their order, and why it said to have missed some. */
const fills: string[] = []
const losses: string[] = []
const nameOf = ([user, { coin, tid, time }]: UserFill) => `${time} ${user} ${coin} ${tid}`

let start: Program
let connection: Connection
let watch: Program
let follower: Program
let first: Ready
let asking: ReturnType<typeof setInterval>
let asked = 0
const launch = async (): Promise<Ready> => {
  start = run('demo', ['--json', '--state', state], { PORT: String(lastingPort()) })
  return JSON.parse(await start.line((line) => line.startsWith('{'))) as Ready
}
const now = () => JSON.parse(readFileSync(join(state, 'running.json'), 'utf8')) as Ready
/** Height of the log, or -1 while nobody answers. */
const height = async () => (await new Gateway(first.url).status().catch(() => null))?.height ?? -1

beforeAll(async () => {
  first = await launch()
  watch = run('watch', ['BTC', '--state', state])
  await watch.line((line) => line.startsWith('in step BTC'))
  follower = runFile('test/conformance/book-follower.ts', COINS, { WEIR_URL: first.url, WEIR_KEY: first.key })
  connection = new Connection(nodeRuntime(), { endpoint: () => first })
  connection.subscribe(allFillsBody(), {
    frame: (frame) => {
      if (frame.channel === 'allFills') fills.push(...(frame.fills as UserFill[]).map(nameOf))
    },
    lost: (reason) => losses.push(reason),
    refused: (reason) => losses.push(reason),
  })
  connection.start()
  // What goes on over a break must have begun before it.
  await until(() => fills.length > 0, 'no fill comes', { withinMs: 30_000 })
  asking = setInterval(() => void askBook().catch(() => {}), 250)
})
afterAll(async () => {
  clearInterval(asking)
  connection?.close()
  await follower?.end('SIGKILL')
  await watch?.end()
  await start?.end('SIGINT')
  folder.remove()
})

/** Splits a line of the follower before its hash. */
const parted = (state: string) => [state.slice(0, state.lastIndexOf(' ')), state] as const

async function askBook(): Promise<void> {
  const coin = COINS[asked++ % COINS.length]!
  const answer = await new Gateway(first.url).info(first.key, { type: 'l2BookDiffSnapshot', coin })
  const book = answer.ok ? ((await answer.json()) as { epoch: string; seq: number; levels: Levels } | null) : null
  if (book) told.set(...parted(stateOf(coin, book, book.levels)))
}

/**
 * Waits until the log moves beyond `before`, then until `watch` found a book beyond it in step; answers the ms between
 * the two.
 */
async function backInStep(before: number): Promise<number> {
  await expect.poll(height, { timeout: SLOWER * 30_000, interval: 20 }).toBeGreaterThan(before)
  const returned = Date.now()
  await watch.line((line) => Number(/^in step BTC height=(\d+)/.exec(line)?.[1]) > before, SLOWER * 30_000)
  return Date.now() - returned
}

describe('watch', () => {
  it.each([
    ['the gateway’s process group', () => process.kill(-now().pids.gateway, 'SIGKILL')],
    ['workerd alone', () => process.kill(now().pids.workerd!, 'SIGKILL')],
    ['the feeder', () => process.kill(now().pids.feeder, 'SIGKILL')],
    ['the devnet', () => process.kill(now().pids.devnet, 'SIGKILL')],
  ])('is in sync again after SIGKILL of %s', async (name, kill) => {
    const before = await height()
    kill()
    const ms = await backInStep(before + SEEN_BLOCKS)
    console.log(`${name}: in step ${ms} ms after the log moved on`)
    expect(ms).toBeLessThan(BACK_IN_STEP_MS)
  })

  it('is in sync again after SIGKILL of npm start, with the same URL, key and tokens', async () => {
    const before = await height()
    start.process.kill('SIGKILL')
    await expect.poll(() => start.process.signalCode).toBe('SIGKILL')
    const { pids: _, ...again } = await launch()
    const { pids: __, ...same } = first
    expect(again).toEqual(same)
    expect(await backInStep(before + SEEN_BLOCKS)).toBeLessThan(BACK_IN_STEP_MS)
    expect(await new Gateway(first.url).status<object>()).toMatchObject({ gaps: [], disagreements: 0 })
  })

  it('the client library delivered every fill of the node once and in order', () => {
    const told = [...fills]
    const firstTold = fills[0]!
    const lastTold = fills.at(-1)!
    const written = nodeBlocks<UserFill>(join(state, 'node'), 'fills').flatMap(({ events }) => events.map(nameOf))
    const between = written.slice(written.indexOf(firstTold), written.lastIndexOf(lastTold) + 1)
    console.log(`${told.length} fills told, ${between.length} written`)
    expect(told.length).toBeGreaterThan(100)
    expect(told).toEqual(between)
    expect(losses).toEqual([])
  })

  it('examples/book.ts showed only books of the server, and recovered each time', async () => {
    const before = await height()
    for (const coin of COINS)
      await follower.line((line) => line.startsWith(coin) && Number(line.split(' ')[2]) > before, 30_000)
    const lost = follower.lines.filter((line) => line.endsWith(' lost')).length
    const shown = () => new Map(follower.lines.filter((line) => !line.endsWith(' lost')).map(parted))
    const both = (seen = shown()) => [...told].filter(([head]) => seen.has(head))
    await expect.poll(() => both().length, { timeout: 30_000, interval: 250 }).toBeGreaterThan(10)
    const books = shown()
    const compared = both()
    console.log(`${books.size} books shown, lost ${lost} times, ${compared.length} compared with the server's`)
    expect(compared.filter(([head, state]) => books.get(head) !== state)).toEqual([])
    expect(lost).toBeGreaterThan(2)
  })
})

it('npm start ends with all its processes if its folder is removed', async () => {
  const { pids } = now()
  await watch.end()
  rmSync(state, { recursive: true, force: true, maxRetries: 5 })
  await expect.poll(() => start.process.exitCode, { timeout: 30_000 }).toBe(1)
  const alive = Object.values(pids).filter((pid) => processInfo(pid) !== null)
  expect(alive).toEqual([])
  expect(await height()).toBe(-1)
})
