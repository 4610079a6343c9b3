// Finds the subscriptions to which a frame may belong, by the names in the frame. If two bodies of a channel have the
// same wallet or coin, or differ only in options that frames do not show (such as `aggregateByTime`), each gets the
// frames of both. Invariant: the cost per frame does not grow with the number of subscriptions to a single coin or
// wallet.

import { getOrCreate } from '../core/get-or-create.ts'
import { type ChannelFacts, factsOf, namesOfEvents, typeOfFrame } from './channels.ts'
import type { DataFrame } from './server-frame.ts'
import { isInScope, listedCoins, normalBody, type SubscriptionBody } from './subscription.ts'

/** The selection of a subscription body. */
export interface SubscriptionFilter {
  readonly facts: ChannelFacts
  /** The body in normal form. */
  readonly body: SubscriptionBody
  /** Index names. A matching frame has one of these names, or no name. Null if any frame may match. */
  readonly names: readonly string[] | null
}

/** The fields of a frame of any channel that a body may name. */
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

/** Null for a channel that only a newer gateway knows. */
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

/** Whether a frame may belong to a body. It does not if it shows something that the body does not select. */
export function mayMatch(frame: DataFrame, { facts, body, names }: SubscriptionFilter): boolean {
  const content = frame as FrameContent
  const { coin, dex, user, userState, Snapshot, Updates, fast, spread, levels } = content.data ?? {}
  switch (facts.source) {
    case 'events':
      return matchesEvents(content, facts, body, new Set(names))
    case 'books': {
      const coins = Snapshot ? [Snapshot.coin] : (Updates?.book_diffs.map((diff) => diff.coin) ?? [])
      const isIn = (coin: string) => isInScope(body, coin)
      // A body with a wildcard may have been replaced by one with a wider wildcard, whose frames show more (WS-22).
      return names ? coins.every(isIn) : coins.some(isIn)
    }
    case 'views': {
      if (facts.isJoint) return dex === body.dex
      const hasBothSides = Array.isArray(levels) && levels.every((side) => Array.isArray(side) && side.length > 0)
      const hasSameOptions =
        (fast ?? false) === (body.fast ?? false) &&
        (!hasBothSides || (spread !== undefined) === (body.nSigFigs !== undefined))
      return isInScope(body, String(coin)) && hasSameOptions
    }
    case 'l4':
      return [body.coin, undefined].includes(bookOf(content))
    case 'states': {
      const state = { coin, dex, user: user ?? userState?.user }
      return Object.entries(state).every(
        ([field, value]) => value === undefined || [value, undefined].includes(body[field]),
      )
    }
  }
}

function matchesEvents(
  content: FrameContent,
  { hasUserForm, namesOf = () => [] }: ChannelFacts,
  { user, interval }: SubscriptionBody,
  names: ReadonlySet<string>,
): boolean {
  const { data } = content
  if (hasUserForm && user === undefined && data !== undefined) return false
  if (data?.user !== undefined) return names.has(String(data.user))
  if (interval !== undefined && data?.i !== interval) return false
  return rowsOf(content).every((row) => namesOf(row).some((name) => names.has(name)))
}

function rowsOf({ fills, updates, data }: FrameContent): readonly unknown[] {
  if (Array.isArray(data?.actions)) return data.actions
  return fills ?? updates ?? (Array.isArray(data) ? data : data?.s === undefined ? [] : [data])
}

function bookOf({ data }: FrameContent): string | undefined {
  const { Snapshot, Updates } = data ?? {}
  return (Snapshot ?? Updates?.book_diffs[0] ?? Updates?.order_statuses?.[0]?.order)?.coin
}

/** The index names in a frame; null if it shows none. */
function namesOfFrame(frame: DataFrame, { source, namesOf }: ChannelFacts): readonly string[] | null {
  const content = frame as FrameContent
  const { user, userState, coin } = content.data ?? {}
  switch (source) {
    case 'events': {
      const [row] = rowsOf(content)
      return user !== undefined || row === undefined ? namedBy(user) : (namesOf?.(row) ?? null)
    }
    case 'books':
    case 'l4':
      return namedBy(bookOf(content))
    case 'views':
      return namedBy(coin)
    case 'states':
      return namedBy(user ?? userState?.user ?? coin)
  }
}

function namedBy(name: unknown): readonly string[] | null {
  return name === undefined ? null : [String(name)]
}

/** The fields of a subscription that the index uses. */
interface IndexedSubscription {
  readonly body: SubscriptionBody
  readonly filter: SubscriptionFilter | null
  readonly phase: 'queued' | 'requested' | 'live'
}

/** All subscriptions of one type. */
interface TypeEntry<T> {
  readonly all: Set<T>
  readonly byName: Map<string, Set<T>>
  /** Subscriptions that may match frames with any name. */
  readonly nameless: Set<T>
}

/** An index of subscriptions (`T`) by type and name. */
export class ListenerIndex<T extends IndexedSubscription> {
  readonly #byType = new Map<string, TypeEntry<T>>()

  /** Whether the index has a body of this type. */
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

  /** The live subscriptions that may match a frame. */
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
