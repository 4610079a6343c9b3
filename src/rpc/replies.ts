// Splits a node's reply around its id, so everything else reaches the caller byte for byte. Invariant: if a node
// returns anything but a JSON-RPC reply to the call, it counts as no reply.

import { parseJson } from '../core/json.ts'
import { elementsOf, membersOf, type Span } from './json-spans.ts'

/** Reply for a caller. */
export interface RpcAnswer {
  /** The parts before and after the id. */
  readonly head: string
  readonly tail: string
  /** True for a result and for a reverted call. Other errors are free. */
  readonly isCharged: boolean
}

export interface RpcReply extends RpcAnswer {
  /** The result; undefined for an error. */
  readonly result: unknown
}

const MEMBERS = ['id']
/** Error code of reverted contract calls. */
const REVERTED = 3

export function textOf({ head, tail }: RpcAnswer, id: string): string {
  return `${head}${id}${tail}`
}

/**
 * Returns the replies by call number, from 1 to `count`. Some may be missing. Returns null if there are no replies, or
 * if a call has two replies, because then neither can be trusted. `mayBeUnnamed`: if there is only one call, an error
 * with a null id is its reply.
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
  const [idSpan] = membersOf(text, span.start, MEMBERS)
  if (typeof number !== 'number' || idSpan === undefined) return null
  if (!Number.isInteger(number) || number < 1 || number > count) return null
  return {
    number,
    head: text.slice(span.start, idSpan.start),
    tail: text.slice(idSpan.end, span.end),
    isCharged: !isError || code === REVERTED,
    result: isError ? undefined : result,
  }
}
