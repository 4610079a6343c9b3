// Parsed bodies for fan-out tests, and the frames that a target gets for a block.

import type { BlockEvents, Target } from '../../src/relay/channel.ts'
import { CHANNELS, channelOf, readBody } from '../../src/relay/channels/catalogue.ts'
import { EventFanout } from '../../src/relay/events/event-fanout.ts'
import type { Frame } from './world.ts'

type Body = { readonly type: string } & Readonly<Record<string, unknown>>

/** Throws if the body is rejected. */
export function targetOf(body: Body): Target {
  const read = readBody(body)
  if (!read.ok) throw new Error(`${read.error.path}: ${read.error.message}`)
  return read.value
}

/** Parses bodies of channels of one kind. */
const targetReader =
  <S extends Target['source']>(source: S) =>
  (body: Body): Extract<Target, { source: S }> => {
    const one = targetOf(body)
    if (one.source !== source) throw new Error(`${body.type} is no channel of ${source}`)
    return one as Extract<Target, { source: S }>
  }
export const booksTarget = targetReader('books')
export const eventsTarget = targetReader('events')
export const viewsTarget = targetReader('views')
export const statesTarget = targetReader('states')
export const ordersTarget = targetReader('l4')

/** The texts of a block for a body. Each matches the channel's schema. */
export function textsOf(body: Body, block: Partial<BlockEvents>, meta = false): string[] {
  const sent: string[] = []
  const fanout = new EventFanout(CHANNELS)
  fanout.add('body', eventsTarget(body), meta, { send: (text) => void sent.push(text) })
  fanout.deliver({ v: 1, t: 'events', height: 9, time: 90, fills: [], ledger: [], ...block })
  for (const text of sent) channelOf(body.type)!.frame.parse(JSON.parse(text))
  return sent
}

/** The same, parsed. */
export function framesOf(...one: Parameters<typeof textsOf>): Frame[] {
  return textsOf(...one).map((text) => JSON.parse(text))
}
