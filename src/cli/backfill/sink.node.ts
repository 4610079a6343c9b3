// The gateway whose archive is filled: what it has, and bodies that it takes. Law: a body is sent again where no answer came,
// since one that is there already is passed over.

import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import * as z from 'zod'
import { backoffMs } from '../../core/backoff.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Gateway } from '../gateway.node.ts'
import type { Taken } from './filling.ts'
import type { ReadBlock } from './read-blocks.ts'
import { Held, type HeldGap } from './window.ts'

const PATH = '/admin/history/backfill'
const TRIES = 6
const RETRY = { firstMs: 1_000, capMs: 30_000, jitter: 0.5 }

const Place = z.object({ height: z.int(), time: z.int() }).nullable()
const Gap = z.object({ from: z.int(), to: z.int(), after_ms: z.int(), before_ms: z.int() })
const State = z.looseObject({
  chain: z.string(),
  from: Place,
  before: Place,
  gaps: z.array(Gap),
  next: z.int().nullable(),
})
const Answer = z.object({ blocks: z.int(), segments: z.int(), bytes: z.int(), next: z.int().nullable() })

export interface Sink {
  readonly chain: string
  readonly held: Held
}

const NOTHING =
  'The gateway has archived no block of its own yet, and what is older than its first is unknown: start a feeder, and run this a minute later.'

/** What the gateway has; or why it takes nothing. */
export async function readSink(gateway: Gateway): Promise<Result<Sink, string>> {
  const gaps: HeldGap[] = []
  for (let after = 0; ; ) {
    const state = await gateway.ask('GET', `${PATH}?after=${after}`, State)
    if (!state.ok) return state
    const { chain, from, before, next } = state.value
    gaps.push(...state.value.gaps)
    if (before === null) return err(NOTHING)
    if (next === null) return ok({ chain, held: new Held(from, before, gaps) })
    after = next
  }
}

/** Sends a body, and again while that may help. */
export async function sendBody(
  gateway: Gateway,
  body: readonly ReadBlock[],
  note: (sentence: string) => void,
  isStopped: () => boolean,
): Promise<Result<Taken, string>> {
  const packed = gzipSync(body.map(({ line }) => line).join('\n'))
  for (let tries = 0; ; tries++) {
    const taken = await gateway.send(PATH, Answer, packed)
    if (taken.ok) return taken
    const { sentence, isPassing } = taken.error
    if (!isPassing || tries === TRIES || isStopped()) return err(`${sentence} (Blocks ${namesOf(body)}.)`)
    const waitMs = backoffMs(RETRY, tries, Math.random())
    note(`${sentence} Trying again in ${Math.ceil(waitMs / 1_000)} s.`)
    await sleep(waitMs)
  }
}

const namesOf = (body: readonly ReadBlock[]) => `${body[0]?.height} to ${body.at(-1)?.height}, as lines`
