// Which bodies of its channel a frame may be of: those that name what it shows. Where two bodies of one channel want the same
// wallet or coin, or differ in what no frame says, such as `aggregateByTime`, each has the other's frames, too.

import { marketTypeOf } from '../core/coin.ts'
import type { BookBody } from '../stream/body-fields.ts'
import type { AnyChannel, Wanted, WantedEvents } from '../stream/channel.ts'
import type { DataFrame } from './server-frame.ts'

/** What frames of any channel show that bodies name. */
interface Shown {
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
    readonly levels?: readonly (readonly unknown[])[]
  }
}

/** False where the frame shows what this body does not want. */
export function mayBeOf(frame: DataFrame, wanted: Wanted): boolean {
  const shown = frame as Shown
  const { coin, dex, user, userState, Snapshot, Updates, fast, spread, levels } = shown.data ?? {}
  switch (wanted.source) {
    case 'events':
      return isOfEvents(shown, wanted)
    case 'books': {
      const coins = Snapshot ? [Snapshot.coin] : (Updates?.book_diffs.map((diff) => diff.coin) ?? [])
      // A wildcard may have been taken over by a wider one (WS-22), whose frames show more.
      return wanted.body.coins ? coins.every(isOf(wanted.body)) : coins.some(isOf(wanted.body))
    }
    case 'views': {
      const { body, channel } = wanted
      if (channel.isJoint) return dex === body.dex
      const { fast: isFast = false, nSigFigs = null } = body.echo
      const isTold = levels?.every((side) => side.length > 0) ?? false
      const isAsWanted = (fast ?? false) === isFast && (!isTold || (spread !== undefined) === (nSigFigs !== null))
      return isOf(body)(String(coin)) && isAsWanted
    }
    case 'l4':
      return [wanted.body.coin, undefined].includes(bookOf(shown))
    case 'states': {
      const body = wanted.body as Readonly<Record<string, unknown>>
      const told = { coin, dex, user: user ?? userState?.user }
      return Object.entries(told).every(
        ([field, value]) => value === undefined || [value, undefined].includes(body[field]),
      )
    }
  }
}

function isOf({ coins, types }: BookBody): (coin: string) => boolean {
  return (coin) => (coins ? coins.includes(coin) : types.includes(marketTypeOf(coin)))
}

function isOfEvents(shown: Shown, { channel, body }: WantedEvents): boolean {
  const { data } = shown
  const names = new Set(channel.names(body))
  const { isOfUser, interval } = body as { readonly isOfUser?: boolean; readonly interval?: string }
  if (isOfUser === false && data !== undefined) return false
  if (data?.user !== undefined) return names.has(String(data.user))
  if (interval !== undefined && data?.i !== interval) return false
  return itemsOf(shown).every((item) => channel.namesOf(item).some((name) => names.has(name)))
}

function itemsOf({ fills, updates, data }: Shown): readonly unknown[] {
  return fills ?? updates ?? (Array.isArray(data) ? data : data?.s === undefined ? [] : [data])
}

function bookOf({ data: { Snapshot, Updates } = {} }: Shown): string | undefined {
  return (Snapshot ?? Updates?.book_diffs[0] ?? Updates?.order_statuses?.[0]?.order)?.coin
}

/** What a body is found by: frames that may be of it have one of these names, or none. Null where any may be. */
export function namesOfBody(wanted: Wanted): readonly string[] | null {
  switch (wanted.source) {
    case 'events':
      return wanted.channel.names(wanted.body)
    case 'books':
    case 'views':
      return wanted.body.coins
    case 'l4':
      return [wanted.body.coin]
    case 'states': {
      const { user, coin } = wanted.body as { readonly user?: string; readonly coin?: string }
      return namedBy(user ?? coin)
    }
  }
}

/** Those of a frame of a channel: null where it tells nothing. */
export function namesOfFrame(frame: DataFrame, channel: AnyChannel): readonly string[] | null {
  const shown = frame as Shown
  const { user, userState, coin } = shown.data ?? {}
  switch (channel.source) {
    case 'events': {
      const [item] = itemsOf(shown)
      if (user !== undefined || item === undefined) return namedBy(user)
      return channel.namesOf(item)
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
