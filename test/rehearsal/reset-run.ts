// Follows one stream of a rehearsed gateway with many clients, and resets all objects within a second, as a deploy or a
// restart by the platform does. Throws unless every client resumes without losing a block and the ledgers add up.

import { Connection } from '../../src/client/connection.ts'
import { nodeRuntime } from '../../src/client/node-runtime.node.ts'
import { allFillsBody } from '../../src/client/subscription.ts'
import type { Fill, UserFill } from '../../src/protocol/feed/block.ts'
import { RunningFeeder } from '../kit/feeder.ts'
import { fillWith } from '../kit/fills.ts'
import type { World } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'

export interface ResetOrder {
  readonly clients: number
  readonly resets: number
  readonly blockEveryMs: number
  readonly say: (line: string) => void
}

export interface ResetReport {
  readonly objects: number
  /** Per reset, from the first reset object to the last client with a later block. */
  readonly recoveredMs: readonly number[]
  readonly blocks: number
  /** Reset objects that, called by their ID, did not know their name and failed. */
  readonly failures: readonly string[]
}

const CLIENTS_PER_ACCOUNT = 50
const OPENING_AT_ONCE = 25
const CREDITS = 1_000_000
const FIRST = 1_000
const USER = `0x${'a'.repeat(40)}`
const LIMIT_MS = 120_000

interface Controlled {
  readonly objects: number
  readonly failures: readonly string[]
}

/** Calls the objects of every Worker. */
async function control(world: World, action: 'reset' | 'wake'): Promise<Controlled> {
  const answers = (await (await fetch(`${world.url}/rehearsal/${action}`)).json()) as Controlled[]
  return {
    objects: answers.reduce((sum, { objects }) => sum + objects, 0),
    failures: answers.flatMap(({ failures }) => failures),
  }
}

/** A client that notes the heights of its fills; each block has one. */
class Follower {
  readonly heights: number[] = []
  readonly losses: string[] = []
  readonly #connection: Connection

  constructor(url: string, key: string) {
    this.#connection = new Connection(nodeRuntime(), { endpoint: () => ({ url, key }) })
    this.#connection.subscribe(allFillsBody(), {
      frame: (frame) => {
        if (frame.channel === 'allFills') this.heights.push(...(frame.fills as UserFill[]).map(([, fill]) => fill.tid))
      },
      lost: (reason) => this.losses.push(reason),
      refused: (reason) => this.losses.push(`refused: ${reason}`),
    })
    this.#connection.start()
  }

  get height(): number {
    return this.heights.at(-1) ?? 0
  }

  /** False before the gateway has said up to which height it sent everything: a socket cut before then starts over. */
  get canResume(): boolean {
    return this.#connection.heightOf(allFillsBody()) !== null
  }

  close(): void {
    this.#connection.close()
  }

  /** A block that is missing or came twice, or null. */
  fault(): string | null {
    const [first = 0] = this.heights
    const wrong = this.heights.findIndex((height, at) => height !== first + at)
    if (wrong < 0) return this.losses[0] ?? null
    return `${this.heights[wrong]} came after ${this.heights[wrong - 1]}, told: ${JSON.stringify(this.losses)}`
  }
}

export async function resetRun(world: World, { clients, resets, blockEveryMs, say }: ResetOrder): Promise<ResetReport> {
  const blockOf = (height: number) => ({
    type: 'block' as const,
    height,
    time: height * 70,
    books: [],
    fills: [[USER, fillWith({ tid: height, time: height * 70 })] as [string, Fill]],
    ledger: [],
    funding: [],
  })
  const feeder = new RunningFeeder(world.ws, FIRST, blockOf)
  let head = FIRST
  const blocks = setInterval(() => feeder.advance(++head), blockEveryMs)
  const followers: Follower[] = []
  try {
    const keys = await Promise.all(
      Array.from({ length: Math.ceil(clients / CLIENTS_PER_ACCOUNT) }, () =>
        world.issue(String(CREDITS), { plan: 'enterprise' }),
      ),
    )
    const allBeyond = (height: number) =>
      until(() => followers.every((one) => one.height > height), 'a client receives nothing', {
        withinMs: LIMIT_MS,
        everyMs: 10,
      })
    for (let at = 0; at < clients; at++) {
      followers.push(new Follower(world.url, keys[Math.floor(at / CLIENTS_PER_ACCOUNT)]!.key))
      if (at % OPENING_AT_ONCE === OPENING_AT_ONCE - 1) await allBeyond(0)
      if (at % 200 === 199) say(`${at + 1} clients are connected`)
    }
    const isResumable = () => followers.every((one) => one.canResume)
    await until(isResumable, 'a client was told no height', { withinMs: LIMIT_MS, everyMs: 10 })
    say(`${clients} clients follow the blocks`)
    let objects = 0
    const recoveredMs: number[] = []
    const failures: string[] = []
    for (let at = 0; at < resets; at++) {
      const sinceMs = performance.now()
      ;({ objects } = await control(world, 'reset'))
      const resetMs = performance.now() - sinceMs
      failures.push(...(await control(world, 'wake')).failures)
      await allBeyond(head)
      recoveredMs.push(Math.round(performance.now() - sinceMs))
      say(
        `${objects} objects reset in ${Math.round(resetMs)} ms; all clients had a later block ${recoveredMs.at(-1)} ms after`,
      )
    }
    clearInterval(blocks)
    await allBeyond(head - 1)
    const faults = followers.flatMap((one, at) => (one.fault() === null ? [] : [`client ${at}: ${one.fault()}`]))
    if (faults.length > 0) throw new Error(`${faults.length} clients lost blocks: ${faults.slice(0, 5).join('; ')}`)
    for (const one of followers) one.close()
    await checkLedgers(
      world,
      keys.map(({ account }) => account),
    )
    return { objects, recoveredMs, blocks: head - FIRST, failures }
  } finally {
    clearInterval(blocks)
    for (const one of followers) one.close()
    feeder.end()
  }
}

/** Minutes are whole credits. A socket that resumes within a paid minute does not pay for it again. */
async function checkLedgers(world: World, accounts: readonly string[]): Promise<void> {
  for (const account of accounts) {
    const { granted, balance, spent, held } = await world.ask<Record<string, string>>('GET', `/accounts/${account}`)
    const sum = Number(balance) + Number(spent)
    if (Number(granted) !== CREDITS || sum !== CREDITS)
      throw new Error(`${account}: ${balance} left (${held} of them held) and ${spent} spent of ${granted}`)
    if (Number(spent) === 0) throw new Error(`${account} paid nothing`)
  }
}
