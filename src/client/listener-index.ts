// Which subscriptions of a connection a frame may be of: those that name what it shows. Where two bodies of one channel want
// the same wallet or coin, or differ in what no frame says, such as `aggregateByTime`, each has the other's frames, too.
// Invariant: a client with many coins or wallets, one by one, pays for each frame what one of them costs.

import { getOrCreate } from '../core/get-or-create.ts'
import { type ChannelFacts, factsOf, namesOfEvents, typeOfFrame } from './channels.ts'
import type { DataFrame } from './server-frame.ts'
import { isInScope, listedCoins, normalBody, type SubscriptionBody } from './subscription.ts'

/** What a body asks for. */
export interface SubscriptionFilter {
  readonly facts: ChannelFacts
  /** In its normal form. */
  readonly body: SubscriptionBody
  /** What it is found by: frames that may be of it have one of these names, or none. Null where any may be. */
  readonly names: readonly string[] | null
}

/** What frames of any channel show that bodies name. */
interface FrameContent {
  readonly fills?: readonly unknown[]
  readonly updates?: readonly unknown[]
  readonly data?: {
    readonly [field: string]: unknown
    readonly userState?: { readonly user: string }
    readonly Snapshot?: { readonly coin: string }
    readonly Updates?: {
      readonly book_diffs: readonly { readonly coin: string }[]
      readonly order_statuses?: readonly { readonly order: { readonly coin: string } }[]
    }
    readonly levels?: unknown
  } | null
}

/** Null where a newer gateway may know. */
export function filterOf(sent: SubscriptionBody): SubscriptionFilter | null {
  const facts = factsOf(sent.type)
  if (!facts) return null
  const body = normalBody(sent)
  return { facts, body, names: namesOfBody(facts, body) }
}

function namesOfBody({ source, isJoint }: ChannelFacts, body: SubscriptionBody): readonly string[] | null {
  switch (source) {
    case 'events':
      return namesOfEvents(body)
    case 'books':
    case 'views':
      return isJoint ? null : listedCoins(body)
    case 'l4':
      return namedBy(body.coin)
    case 'states':
      return body.user === undefined ? namedBy(body.coin) : [body.user, body.coin ?? []].flat().map(String)
  }
}

/** False where the frame shows what this body does not want. */
export function mayMatch(frame: DataFrame, { facts, body, names }: SubscriptionFilter): boolean {
  const shown = frame as FrameContent
  const { coin, dex, user, userState, Snapshot, Updates, fast, spread, levels } = shown.data ?? {}
  switch (facts.source) {
    case 'events':
      return matchesEvents(shown, facts, body, new Set(names))
    case 'books': {
      const coins = Snapshot ? [Snapshot.coin] : (Updates?.book_diffs.map((diff) => diff.coin) ?? [])
      const isIn = (coin: string) => isInScope(body, coin)
      // A wildcard may have been taken over by a wider one (WS-22), whose frames show more.
      return names ? coins.every(isIn) : coins.some(isIn)
    }
    case 'views': {
      if (facts.isJoint) return dex === body.dex
      const isTold = Array.isArray(levels) && levels.every((side) => Array.isArray(side) && side.length > 0)
      const isAsWanted =
        (fast ?? false) === (body.fast ?? false) &&
        (!isTold || (spread !== undefined) === (body.nSigFigs !== undefined))
      return isInScope(body, String(coin)) && isAsWanted
    }
    case 'l4':
      return [body.coin, undefined].includes(bookOf(shown))
    case 'states': {
      const told = { coin, dex, user: user ?? userState?.user }
      return Object.entries(told).every(
        ([field, value]) => value === undefined || [value, undefined].includes(body[field]),
      )
    }
  }
}

function matchesEvents(
  shown: FrameContent,
  { hasUserForm, namesOf = () => [] }: ChannelFacts,
  { user, interval }: SubscriptionBody,
  names: ReadonlySet<string>,
): boolean {
  const { data } = shown
  if (hasUserForm && user === undefined && data !== undefined) return false
  if (data?.user !== undefined) return names.has(String(data.user))
  if (interval !== undefined && data?.i !== interval) return false
  return rowsOf(shown).every((row) => namesOf(row).some((name) => names.has(name)))
}

function rowsOf({ fills, updates, data }: FrameContent): readonly unknown[] {
  return fills ?? updates ?? (Array.isArray(data) ? data : data?.s === undefined ? [] : [data])
}

function bookOf({ data }: FrameContent): string | undefined {
  const { Snapshot, Updates } = data ?? {}
  return (Snapshot ?? Updates?.book_diffs[0] ?? Updates?.order_statuses?.[0]?.order)?.coin
}

/** Names of a frame of a channel: null where it tells nothing. */
function namesOfFrame(frame: DataFrame, { source, namesOf }: ChannelFacts): readonly string[] | null {
  const shown = frame as FrameContent
  const { user, userState, coin } = shown.data ?? {}
  switch (source) {
    case 'events': {
      const [row] = rowsOf(shown)
      return user !== undefined || row === undefined ? namedBy(user) : (namesOf?.(row) ?? null)
    }
    case 'books':
    case 'l4':
      return namedBy(bookOf(shown))
    case 'views':
      return namedBy(coin)
    case 'states':
      return namedBy(user ?? userState?.user ?? coin)
  }
}

function namedBy(name: unknown): readonly string[] | null {
  return name === undefined ? null : [String(name)]
}

/** What the index asks of a subscription. */
interface IndexedSubscription {
  readonly body: SubscriptionBody
  readonly filter: SubscriptionFilter | null
  readonly phase: 'queued' | 'asked' | 'live'
}

/** Those of one type. */
interface TypeEntry<T> {
  readonly all: Set<T>
  readonly byName: Map<string, Set<T>>
  /** Those that frames of any name may be of. */
  readonly nameless: Set<T>
}

/** By type and name. `T`: a subscription. */
export class ListenerIndex<T extends IndexedSubscription> {
  readonly #byType = new Map<string, TypeEntry<T>>()

  /** True where a body of this type is among them. */
  has(type: string): boolean {
    return this.#byType.has(type)
  }

  add(entry: T): void {
    const { type } = entry.body
    const kind = getOrCreate(this.#byType, type, () => ({ all: new Set(), byName: new Map(), nameless: new Set() }))
    kind.all.add(entry)
    const names = entry.filter === null ? null : entry.filter.names
    if (names === null) kind.nameless.add(entry)
    for (const name of names ?? []) getOrCreate(kind.byName, name, () => new Set()).add(entry)
  }

  remove(entry: T): void {
    const { type } = entry.body
    const kind = this.#byType.get(type)
    if (!kind?.all.delete(entry)) return
    if (kind.all.size === 0) this.#byType.delete(type)
    kind.nameless.delete(entry)
    for (const name of entry.filter?.names ?? []) {
      const named = kind.byName.get(name)
      named?.delete(entry)
      if (named?.size === 0) kind.byName.delete(name)
    }
  }

  /** Who is to hear a frame. */
  of(frame: DataFrame): T[] {
    const type = typeOfFrame(frame.channel) ?? ''
    const kind = this.#byType.get(type)
    const facts = factsOf(type)
    const near = kind && facts ? candidates(kind, namesOfFrame(frame, facts)) : []
    return [...near].filter(({ phase, filter }) => phase === 'live' && (filter === null || mayMatch(frame, filter)))
  }
}

function candidates<T>({ all, byName, nameless }: TypeEntry<T>, names: readonly string[] | null): Set<T> {
  if (names === null) return all
  return new Set([...names.flatMap((name) => [...(byName.get(name) ?? [])]), ...nameless])
}
