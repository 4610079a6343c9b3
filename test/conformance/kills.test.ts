// `npm start` under fire: every process of it is killed in turn, and `watch`, left alone, is in step again.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Program, run, scratch } from './children.ts'

interface Ready {
  readonly url: string
  readonly key: string
  readonly pids: {
    readonly start: number
    readonly devnet: number
    readonly gateway: number
    readonly feeder: number
    readonly workerd?: number
  }
}

const folder = scratch()
const state = join(folder.path, 'state')
/** What the issue allows between the return of a part and `in step`. */
const BACK_IN_STEP_MS = 5000
/** Blocks that may still be on their way when a kill strikes. */
const SEEN_BLOCKS = 5

let start: Program
let watch: Program
let first: Ready
const launch = async (): Promise<Ready> => {
  start = run('launch/main.node.ts', ['--json', '--state', state], { PORT: String(20_000 + (process.pid % 20_000)) })
  return JSON.parse(await start.line((line) => line.startsWith('{'))) as Ready
}
const now = () => JSON.parse(readFileSync(join(state, 'dev.json'), 'utf8')) as Ready
const isUp = async () => {
  try {
    return (await fetch(`${first.url}/status`)).ok
  } catch {
    return false
  }
}

beforeAll(async () => {
  first = await launch()
  watch = run('cli/watch.node.ts', ['BTC', '--state', state])
  await watch.line((line) => line.startsWith('in step BTC'))
})
afterAll(async () => {
  await watch?.end()
  await start?.end('SIGINT')
  folder.remove()
})

/** Height of the log, or -1 while nobody answers. */
async function height(): Promise<number> {
  if (!(await isUp())) return -1
  return ((await (await fetch(`${first.url}/status`)).json()) as { height: number }).height
}

/**
 * Waits until the log moves beyond `before`, then until `watch` found a book beyond it in step; answers the ms between
 * the two.
 */
async function backInStep(before: number): Promise<number> {
  await expect.poll(height, { timeout: 30_000, interval: 20 }).toBeGreaterThan(before)
  const returned = Date.now()
  await watch.line((line) => Number(/^in step BTC height=(\d+)/.exec(line)?.[1]) > before, 30_000)
  return Date.now() - returned
}

describe('watch', () => {
  it.each([
    ['the gateway’s process group', () => process.kill(-now().pids.gateway, 'SIGKILL')],
    ['workerd alone', () => process.kill(now().pids.workerd!, 'SIGKILL')],
    ['the feeder', () => process.kill(now().pids.feeder, 'SIGKILL')],
    ['the devnet', () => process.kill(now().pids.devnet, 'SIGKILL')],
  ])('is in step again after SIGKILL of %s', async (name, kill) => {
    const before = await height()
    kill()
    const ms = await backInStep(before + SEEN_BLOCKS)
    console.log(`${name}: in step ${ms} ms after the log moved on`)
    expect(ms).toBeLessThan(BACK_IN_STEP_MS)
  })

  it('and after SIGKILL of npm start itself, with the same URL, key and tokens', async () => {
    const before = await height()
    start.process.kill('SIGKILL')
    await expect.poll(() => start.process.signalCode).toBe('SIGKILL')
    const { pids: _, ...again } = await launch()
    const { pids: __, ...same } = first
    expect(again).toEqual(same)
    expect(await backInStep(before + SEEN_BLOCKS)).toBeLessThan(BACK_IN_STEP_MS)
    const { gaps, disagreements } = (await (await fetch(`${first.url}/status`)).json()) as {
      gaps: unknown[]
      disagreements: number
    }
    expect([gaps, disagreements]).toEqual([[], 0])
  })
})
