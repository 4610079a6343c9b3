// What a node replied, as texts around the place of the id: everything else goes to the caller byte for byte. Law: a reply
// that is no JSON-RPC reply to its call is none.

import { parseJson } from '../core/json.ts'
import { elementsOf, membersOf, type Span } from './json-spans.ts'

/** What a caller gets. */
export interface RpcAnswer {
  /** Before and behind the id. */
  readonly head: string
  readonly tail: string
  /** Whether it costs: a result, or what came of a call that was run and reverted. Other errors cost nothing. */
  readonly isCharged: boolean
}

export interface RpcReply extends RpcAnswer {
  /** Undefined of an error. */
  readonly result: unknown
}

const MEMBERS = ['id']
/** What contracts come to that revert. */
const REVERTED = 3

export function textOf({ head, tail }: RpcAnswer, id: string): string {
  return `${head}${id}${tail}`
}

/**
 * Replies by the numbers of their calls, 1 to `count`, of which some may be missing; null where the node gave nothing of
 * the kind, or two for one call, of which neither can be believed. `mayBeUnnamed`: an error whose id is null is of the
 * one call that there was.
 */
export function readReplies(text: string, count: number, mayBeUnnamed: boolean): ReadonlyMap<number, RpcReply> | null {
  const value = parseJson(text)
  if (value === undefined) return null
  if (count === 1 && !Array.isArray(value)) {
    const reply = readReply(text, { start: 0, end: text.length }, value, count, mayBeUnnamed)
    return reply === null ? null : new Map([[1, reply]])
  }
  if (!Array.isArray(value) || value.length > count) return null
  const replies = new Map<number, RpcReply>()
  for (const [at, span] of elementsOf(text).entries()) {
    const reply = readReply(text, span, value[at], count, false)
    if (reply === null) continue
    if (replies.has(reply.number)) return null
    replies.set(reply.number, reply)
  }
  return replies.size === 0 ? null : replies
}

function readReply(text: string, span: Span, value: unknown, count: number, mayBeUnnamed: boolean) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { id, error, result } = value as { id?: unknown; error?: unknown; result?: unknown }
  const code = (error as { code?: unknown } | null | undefined)?.code
  const isError = error !== undefined && error !== null
  if (isError ? typeof code !== 'number' : !Object.hasOwn(value, 'result')) return null
  const number = mayBeUnnamed && isError && id === null ? 1 : id
  const [place] = membersOf(text, span.start, MEMBERS)
  if (typeof number !== 'number' || place === undefined) return null
  if (!Number.isInteger(number) || number < 1 || number > count) return null
  return {
    number,
    head: text.slice(span.start, place.start),
    tail: text.slice(place.end, span.end),
    isCharged: !isError || code === REVERTED,
    result: isError ? undefined : result,
  }
}
