// What a gateway tells of itself: whether it answers, how its log stands, whether our tokens open its doors, and whether
// its clock is ours. Law: a token is in no text.

import * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { NO_TOKEN } from '../core/secret.ts'
import { type Check, fail, ok, secondsText, warn } from './check.ts'
import type { HttpFacts } from './node-http.ts'

const Status = z.looseObject({
  chain: z.string(),
  /** Both missing in gateways of 0.1.0, as is `connected` below. */
  state: z.string().default('live'),
  advice: z.string().default(''),
  /** Missing in gateways of 0.1.0. */
  feedRegion: z.string().nullish(),
  height: z.number().nullable(),
  booksKnown: z.boolean(),
  lagMs: z.number().nullable(),
  feeders: z.array(
    z.looseObject({
      name: z.string(),
      conflict: z.string().nullable(),
      connected: z.boolean().default(true),
      sinceMs: z.number().default(0),
    }),
  ),
  readers: z.array(z.unknown()),
})
type Status = z.infer<typeof Status>

const LATE_MS = 5_000
/** States in which books are served, or will be without anybody's doing. */
const PASSING: readonly string[] = ['late', 'starting']
const PART: Readonly<Record<string, Check['part']>> = {
  late: 'devnet',
  node_still: 'devnet',
  books_unknown: 'feeder',
  feeder_stuck: 'feeder',
  feeder_silent: 'feeder',
  link_down: 'feeder',
  no_feeder: 'feeder',
  archive_full: 'gateway',
}
/** Some minutes of blocks. */
const APART_BLOCKS = 3_000
/** A feeder that is connected for so long has brought the books, or will not. */
const NEW_MS = 60_000
/** A header tells whole seconds. */
const DATE_STEP_MS = 1_000
const SKEW_MS = 2_000

export function judgeStatus({ url, status, text, dateMs, atMs }: HttpFacts, chain: string): Check {
  if (status === null)
    return {
      ...fail(
        'gateway',
        `${url} does not answer: ${text}`,
        'Is it deployed, or "npm start" running? Say its address with --gateway.',
      ),
      part: 'gateway',
    }
  const parsed = Status.safeParse(parseJson(text))
  if (status !== 200 || !parsed.success)
    return fail(
      'gateway',
      `${url} answers with ${status}, and not as a Weir gateway`,
      'Say its address with --gateway.',
    )
  return judgeLog(url, parsed.data, chain, dateMs ?? atMs)
}

function judgeLog(url: string, log: Status, chain: string, atMs: number): Check {
  const { readers, height, lagMs, state, advice } = log
  const feeders = log.feeders.filter(({ connected }) => connected)
  const isNew = ({ sinceMs }: { readonly sinceMs: number }) => atMs - sinceMs < NEW_MS
  const conflict = feeders.find((feeder) => feeder.conflict !== null)
  if (log.chain !== chain)
    return fail('gateway', `${url} is of the chain ${log.chain}, not ${chain}`, 'Say --chain, or another --gateway.')
  if (conflict)
    return fail(
      'gateway',
      `nothing of the feeder ${conflict.name} is taken: ${conflict.conflict}`,
      'See docs/operations.md#what-to-do-when.',
    )
  if (state !== 'live') {
    const isPassing = PASSING.includes(state) || (state === 'books_unknown' && feeders.some(isNew))
    const check = (isPassing ? warn : fail)('gateway', `${url} answers; the feed is ${state}`, advice)
    const part = PART[state]
    return part === undefined ? check : { ...check, part }
  }
  if (feeders.length === 0)
    return fail('gateway', `${url} answers; no feeder is connected`, 'Start one: "npm run feed".')
  if (height === null || lagMs === null)
    return warn('gateway', `${url} answers; its log has no block yet`, 'Look at the line of the feeder.')
  if (!log.booksKnown)
    return warn('gateway', `${url} answers; its books are not known`, 'The feeder needs snapshots of the node.')
  const side = lagMs < -LATE_MS ? 'in the future' : 'late'
  const pinned = log.feedRegion == null ? '' : `, pinned to ${log.feedRegion}`
  const saw = `${url}${pinned} at block ${height}, ${secondsText(lagMs)} ${side}, feeders ${feeders.length}, readers ${readers.length}`
  if (lagMs < -LATE_MS) return warn('gateway', saw, "The clock of the node's host is ahead: set it by NTP.")
  return lagMs > LATE_MS ? warn('gateway', saw, 'See "`lagMs` grows" in docs/operations.md.') : ok('gateway', saw)
}

/** Where the node's newest block is far from the log's: `nodeHeight` null where it has none. */
export function judgeHeights({ text }: HttpFacts, nodeHeight: number | null): Check[] {
  const height = Status.safeParse(parseJson(text)).data?.height ?? null
  if (height === null || nodeHeight === null || Math.abs(height - nodeHeight) < APART_BLOCKS) return []
  const fix =
    'One catches up with the other, or the node started over or is of another chain: docs/operations.md#what-to-do-when.'
  return [warn('heights', `the node's files end at block ${nodeHeight} and the log at ${height}`, fix)]
}

/** A token that was not sent, because no header carries it. */
export const judgeForm = (name: string): Check => fail(name, `it ${NO_TOKEN}`, 'Nothing was asked with it.')

/** `GET /feed` without an upgrade; null where no token was given. */
export function judgeFeedToken(answer: HttpFacts | null): Check {
  const name = 'feed token'
  if (answer === null) return warn(name, 'not looked at', 'Set FEED_TOKEN in the environment.')
  const { status } = answer
  if (status === 426) return ok(name, 'the gateway takes it')
  if (status === 401) return fail(name, 'the gateway refuses it', "Set FEED_TOKEN to the gateway's own.")
  if (status === 404)
    return fail(
      name,
      'the gateway has no /feed',
      'Set its FEED_TOKEN, of at least 32 characters: "npm run wrangler -- secret put FEED_TOKEN".',
    )
  return unclear(name, answer)
}

/** `GET /admin/plans`; null where no token was given, which a feeder's host does without. */
export function judgeAdminToken(answer: HttpFacts | null): Check[] {
  const name = 'admin token'
  if (answer === null) return []
  const { status } = answer
  if (status === 200) return [ok(name, 'the gateway takes it')]
  if (status === 401) return [fail(name, 'the gateway refuses it', "Set ADMIN_TOKEN to the gateway's own.")]
  if (status === 404)
    return [
      fail(
        name,
        'the gateway has no /admin',
        'Set its ADMIN_TOKEN, of at least 32 characters: "npm run wrangler -- secret put ADMIN_TOKEN".',
      ),
    ]
  if (status === 503)
    return [fail(name, 'the gateway answers 503', 'Set its KEY_SECRET: "npm run wrangler -- secret put KEY_SECRET".')]
  return [unclear(name, answer)]
}

function unclear(name: string, { status, text }: HttpFacts): Check {
  const saw = status === null ? `no answer: ${text}` : `the gateway answers with ${status}`
  if (status === null || status < 500) return warn(name, saw, 'Try again.')
  return { ...fail(name, saw, 'Its log says why.'), part: 'gateway' }
}

export function judgeClock({ dateMs, atMs, tookMs }: HttpFacts): Check[] {
  if (dateMs === null) return []
  const offMs = atMs - (dateMs + DATE_STEP_MS / 2)
  const unsureMs = DATE_STEP_MS / 2 + tookMs / 2
  if (Math.abs(offMs) <= SKEW_MS + unsureMs) return [ok('clock', 'agrees with the gateway')]
  const side = offMs > 0 ? 'ahead of' : 'behind'
  return [warn('clock', `${secondsText(offMs)} ${side} the gateway`, 'Set the clock of this machine by NTP.')]
}
