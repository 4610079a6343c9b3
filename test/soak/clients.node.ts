// The process of all soak clients. Its parent controls it over IPC; it ends with its parent.

import type { Json, SubscriptionBody } from '../../src/client/subscription.ts'
import { serveParent, type WorkerProcess } from '../kit/worker-process.ts'
import { Client } from './client.node.ts'
import { type ClientPlan, type Kind, WANTING } from './mix.ts'
import { type Segment, shownTo } from './rows.ts'
import type { Bounds } from './served.ts'
import type { Absence } from './wellness.ts'

const LOOK_MS = 500

interface Opening {
  readonly plans: readonly (ClientPlan & { readonly key: string; readonly url: string })[]
  readonly coins: readonly string[]
  readonly wallets: readonly string[]
  readonly everyMs: number
}

interface Missing {
  readonly number: number
  readonly kind: Kind
  readonly badMs: number
  readonly ends: Readonly<Record<string, number>>
}

export interface Tally {
  readonly number: number
  readonly bounds: readonly Bounds[]
  readonly absences: readonly Absence[]
  readonly ends: Readonly<Record<string, number>>
}

export interface Shown {
  readonly number: number
  readonly body: SubscriptionBody
  /** By coin, or under `''`. */
  readonly last: Readonly<Record<string, Json>>
  readonly candles: readonly Json[]
}

interface Rows {
  readonly segments: readonly Segment[]
  readonly back: readonly string[]
}

const clients: Client[] = []
const faults: number[] = []
let looking: NodeJS.Timeout | undefined

/** What the parent may ask; every answer survives JSON. */
const DUTIES = {
  open: async ({ plans, everyMs, ...world }: Opening): Promise<void> => {
    for (const { key, url, ...plan } of plans) {
      const client = new Client(plan, { ...world, faults, endpoint: { url, key } })
      clients.push(client)
      client.start()
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  },
  fault: (isKill: boolean): void => {
    faults.push(Date.now())
    if (isKill) for (const { served } of clients) served.killed(Date.now())
  },
  missing: (): Missing[] =>
    wanting().flatMap(({ plan: { number, kind }, wellness: { badSinceMs }, ends }) =>
      badSinceMs === null ? [] : [{ number, kind, badMs: Date.now() - badSinceMs, ends }],
    ),
  capture: (height: number): void => {
    for (const client of wanting()) client.capture(height)
  },
  /** By client; `some`: the coins that wildcards are looked at for, null for all. */
  captured: async (some: readonly string[] | null): Promise<Record<number, Record<string, string>>> => {
    const found: Record<number, Record<string, string>> = {}
    for (const client of wanting()) {
      const isWildcard = client.plan.kind.toLowerCase().includes('wildcard')
      const hashes = client.captured(isWildcard ? some : null)
      if (hashes !== null) found[client.plan.number] = hashes
      // Frames come in between: hashing all books takes seconds.
      await new Promise((resolve) => setImmediate(resolve))
    }
    return found
  },
  /** Whether they are live counts no more: on an exchange that is made quiet all is old. */
  rest: (): void => clearInterval(looking),
  /** What those show of whole states that want to. */
  shown: (): Shown[] =>
    wanting().flatMap(({ plan: { number }, told }) =>
      told === null || shownTo(told.body) !== null
        ? []
        : [{ number, body: told.body, last: told.last(), candles: told.candles() }],
    ),
  /** Rows that a client was told, and what went back; null where there is nothing of the kind. */
  rows: (number: number): Rows | null => {
    const told = clients.find(({ plan }) => plan.number === number)?.told
    return told ? { segments: told.segments(), back: told.back } : null
  },
  end: (): Tally[] => {
    for (const client of clients) client.end()
    return clients.map(({ plan: { number }, served, wellness, ends }) => ({
      number,
      bounds: served.bounds(),
      absences: wellness.absences,
      ends,
    }))
  },
}
export type Crew = WorkerProcess<typeof DUTIES>

const wanting = () => clients.filter(({ plan }) => WANTING.includes(plan.kind))

if (process.send) {
  looking = setInterval(() => {
    const newestMs = Math.max(...clients.map(({ blockMs }) => blockMs))
    for (const client of wanting()) client.look(newestMs)
  }, LOOK_MS)
  serveParent(DUTIES)
}
