// Faults on demand, for tests of whoever asks this server: `POST /misbehave` with
//   {"how": "hang", "types": ["meta"], "for_ms": 5000, "times": 3}
// makes POST /info misbehave for the named types (all, when left out), for a while, at most so many times.
// The newest fault that fits a query is the one that happens; {"how": "none"} ends all of them.

import type { ServerResponse } from 'node:http'
import * as z from 'zod'

const MAX_FAULTS = 16
const MAX_MS = 600_000

/** Body of `POST /misbehave`; unknown fields are refused, so that a slip is seen. */
export const MisbehaveRequest = z.strictObject({
  /**
   * refuse: the connection is reset · hang: no answer until the fault is over, then a reset · 429, 500: that status ·
   * cut: half of the body · garbage: 200 with what is no JSON · lag: `time` in the answer is late by `by_ms`.
   */
  how: z.enum(['refuse', 'hang', '429', '500', 'cut', 'garbage', 'lag', 'none']),
  types: z.array(z.string().max(64)).min(1).max(64).optional(),
  for_ms: z.int().min(1).max(MAX_MS).default(60_000),
  times: z.int().min(1).max(1_000_000).optional(),
  /** Of `lag`. */
  by_ms: z.int().min(1).max(86_400_000).default(60_000),
  /** Of `429`: sent as `Retry-After`, which the public server does not send. */
  retry_after_s: z.int().min(0).max(3_600).optional(),
})
export type MisbehaveRequest = z.infer<typeof MisbehaveRequest>

export interface Fault {
  readonly how: Exclude<MisbehaveRequest['how'], 'none'>
  readonly types: readonly string[] | null
  readonly endMs: number
  readonly byMs: number
  readonly retryAfterS: number | null
  /** How many more queries it happens to. */
  remaining: number
}

/** The faults of one server. Times are of any clock that never goes back. */
export class Faults {
  #faults: Fault[] = []

  /** Takes an order; false where there are too many faults already. */
  add(request: MisbehaveRequest, nowMs: number): boolean {
    this.#drop(nowMs)
    if (request.how === 'none') {
      this.#faults = []
      return true
    }
    if (this.#faults.length === MAX_FAULTS) return false
    this.#faults.push({
      how: request.how,
      types: request.types ?? null,
      endMs: nowMs + request.for_ms,
      byMs: request.by_ms,
      retryAfterS: request.retry_after_s ?? null,
      remaining: request.times ?? Number.POSITIVE_INFINITY,
    })
    return true
  }

  /** The fault that happens to a query of this type, counted as happened; null for none. */
  next(type: string, nowMs: number): Fault | null {
    this.#drop(nowMs)
    const fault = this.#faults.findLast(({ types }) => types === null || types.includes(type)) ?? null
    if (fault !== null) fault.remaining--
    return fault
  }

  /** What is still to happen, oldest first, as the answer of `POST /misbehave`. */
  active(nowMs: number) {
    this.#drop(nowMs)
    return this.#faults.map(({ how, types, endMs, remaining }) => ({
      how,
      types,
      left_ms: Math.ceil(endMs - nowMs),
      left_times: Number.isFinite(remaining) ? remaining : null,
    }))
  }

  #drop(nowMs: number): void {
    this.#faults = this.#faults.filter(({ endMs, remaining }) => endMs > nowMs && remaining > 0)
  }
}

/** An answer with a clock that is late: its top-level `time`, where it has one. */
export function withLag(body: unknown, byMs: number): unknown {
  const time = (body as { time?: unknown } | null)?.time
  return typeof time === 'number' ? { ...(body as object), time: time - byMs } : body
}

/** Connections that hang at one time; more than that are reset at once. */
const MAX_HANGING = 500
const GARBAGE = '<html>{"type": \u0000'
let hanging = 0

/** A late clock is a sound answer on the wire. */
export type OpenFault = Fault & { readonly how: Exclude<Fault['how'], 'lag'> }

/** Ends the response in place of a sound answer. `text`: the answer that there would have been. */
export function misbehave(response: ServerResponse, fault: OpenFault, text: string, nowMs: number): void {
  switch (fault.how) {
    case 'refuse':
      return reset(response)
    case 'hang':
      return hang(response, fault.endMs - nowMs)
    case '429': {
      if (fault.retryAfterS !== null) response.setHeader('retry-after', String(fault.retryAfterS))
      return void response.writeHead(429).end()
    }
    case '500':
      return void response.writeHead(500, { 'content-type': 'application/json' }).end('null')
    case 'cut':
      return cut(response, text)
    case 'garbage':
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(GARBAGE)
  }
}

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy()
}

function hang(response: ServerResponse, forMs: number): void {
  if (hanging >= MAX_HANGING) return reset(response)
  hanging++
  const timer = setTimeout(() => reset(response), forMs)
  response.once('close', () => {
    clearTimeout(timer)
    hanging--
  })
}

/** The length of the whole with half of it. */
function cut(response: ServerResponse, text: string): void {
  const whole = Buffer.from(text)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length })
  response.write(whole.subarray(0, Math.floor(whole.length / 2)), () => response.destroy())
}
