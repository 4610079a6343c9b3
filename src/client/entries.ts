// The subscriptions of a connection.

import { resumes } from './channels.ts'
import { LIMITS } from './connection-options.ts'
import { type Want, wantOf } from './frame-bodies.ts'
import type { DataFrame } from './server-frame.ts'
import { bodyKey, embeddedBody, type SubscriptionBody } from './subscription.ts'

export interface Listener {
  /** Acknowledged on this socket. After `lost`, whatever was known before is not continuous with what follows. */
  live(): void
  /** `from`: the first block that may be missing, where that is known. */
  lost(reason: string, from?: number): void
  /** It is of this body, or of another of its channel that it does not tell apart (frame-bodies.ts). */
  frame(frame: DataFrame): void
  /** The gateway will not serve this body; it is not asked again. */
  refused(reason: string, code?: string): void
}

export interface Entry {
  readonly body: SubscriptionBody
  /** What the body asks for; null where this client does not know. */
  readonly want: Want | null
  readonly listener: Listener
  asked: boolean
  acked: boolean
  /** It was live on the socket before, and goes on where that ended. */
  resumes: boolean
  /** A pong told up to where it is seen, since it began or something of it was missed. */
  isKnown: boolean
  /** Where it begins, until it is acknowledged. */
  fromBlock: number | undefined
  stopAckTimer: () => void
}

export function newEntry(body: SubscriptionBody, listener: Listener, fromBlock?: number): Entry {
  const want = wantOf(body)
  const states = { asked: false, acked: false, resumes: false, isKnown: false }
  return { body, want, listener, fromBlock, ...states, stopAckTimer: () => {} }
}

/** Which to ask for, in their order, as far as more may wait. */
export function toAsk(entries: ReadonlyMap<string, Entry>): Entry[] {
  const found: Entry[] = []
  let waiting = 0
  for (const [key, entry] of entries) {
    if (entry.acked) continue
    waiting += key.length
    if (waiting > Math.max(LIMITS.waitingChars, key.length)) break
    if (!entry.asked) found.push(entry)
  }
  return found
}

/** True where it is not known of each up to where it is seen. */
export function isAnyUnknown(entries: Iterable<Entry>): boolean {
  return [...entries].some(({ acked, isKnown, body }) => acked && !isKnown && resumes(body.type))
}

/**
 * Their socket ended. Answers the types of bodies that begin anew on the next one: frames do not say which body they are
 * of, so all of a type go on behind what was seen, or none.
 */
export function left(entries: Iterable<Entry>, mayResume: boolean, reason: string, from?: number): Set<string> {
  const all = [...entries]
  const begins = ({ isKnown, body }: Entry) => !(mayResume && isKnown && resumes(body.type))
  const anew = new Set(all.filter(begins).map(({ body }) => body.type))
  for (const entry of all) {
    entry.stopAckTimer()
    const wasLive = entry.acked || entry.resumes
    const first = entry.isKnown ? from : undefined
    entry.asked = entry.acked = false
    entry.resumes = entry.isKnown = !anew.has(entry.body.type)
    if (wasLive && !entry.resumes) entry.listener.lost(reason, first)
  }
  return anew
}

/** The subscription that an error speaks of. A long body is not said back: then it is the only one that waits. */
export function refusedOf(
  entries: ReadonlyMap<string, Entry>,
  text: string,
): readonly [key: string, entry: Entry | undefined] {
  const body = embeddedBody(text)
  if (body) return [bodyKey(body), entries.get(bodyKey(body))]
  const waiting = [...entries].filter(([, entry]) => entry.asked && !entry.acked)
  const only = text.startsWith('Invalid subscription') && waiting.length === 1 ? waiting[0] : undefined
  return only ?? ['', undefined]
}

/** Events are missing: of the body that a text names, or of all where it names none. Answers the types, as `left` does. */
export function missed(entries: Iterable<Entry>, text: string): Set<string> {
  const named = embeddedBody(text)
  const all = [...entries].filter(
    ({ acked, body: { type } }) => acked && resumes(type) && type === (named?.type ?? type),
  )
  for (const entry of all) {
    entry.isKnown = false
    entry.listener.lost(text)
    entry.listener.live()
  }
  return new Set(all.map(({ body }) => body.type))
}
