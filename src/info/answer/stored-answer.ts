// An answer as it lies in a store that others can reach: a head of JSON, a line break, the body's own bytes. What is read
// back is trusted no further than it proves itself: of this request, whole, JSON, and not from the future.

import * as z from 'zod'
import type { CachedAnswer } from './answer-cache.ts'

const VERSION = 1
/** Clocks of the machines that share a store differ by less. */
const CLOCK_SKEW_MS = 5_000

const Head = z.object({
  v: z.literal(VERSION),
  /** Canonical request, because stores are addressed by its hash. */
  key: z.string(),
  at: z.int().min(0),
  length: z.int().min(0),
  height: z.int().min(0).optional(),
  lagMs: z.int().min(0).optional(),
})

/** The text to store. */
export function encodeStored(key: string, { body, at, height, lagMs }: CachedAnswer): string {
  const head: z.infer<typeof Head> = { v: VERSION, key, at, length: body.length, height, lagMs }
  return `${JSON.stringify(head)}\n${body}`
}

/** The answer to this request in a stored text, null where it is anything else. */
export function decodeStored(key: string, text: string, now: number): CachedAnswer | null {
  const end = text.indexOf('\n')
  if (end < 0) return null
  const head = Head.safeParse(parsed(text.slice(0, end)))
  if (!head.success || head.data.key !== key || head.data.at > now + CLOCK_SKEW_MS) return null
  const { length, height, lagMs } = head.data
  const body = text.slice(end + 1)
  if (body.length !== length || parsed(body) === undefined) return null
  const known = { ...(height === undefined ? {} : { height }), ...(lagMs === undefined ? {} : { lagMs }) }
  return { body, at: Math.min(head.data.at, now), ...known }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
