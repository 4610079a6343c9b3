// Faults on demand, for tests of this server's clients: `POST /misbehave` with
//   {"how": "hang", "types": ["meta"], "for_ms": 5000, "times": 3}
// makes POST /info fail for the named types (default: all), for a limited time and number of queries. The newest fault
// that matches a query applies. {"how": "none"} ends all faults. The types "x402:verify" and "x402:settle" are the calls of
// the facilitator: a fault that spoils the answer does so after the settlement.

import type { ServerResponse } from 'node:http'
import * as z from 'zod'

const MAX_FAULTS = 16
const MAX_MS = 600_000

const FACILITATOR_CALL = /^x402:(?:verify|settle)$/
/** Faults of the facilitator only. */
const PAYMENT_FAULTS = ['unavailable', 'skip', 'deny', 'twice'] as const
type PaymentFault = (typeof PAYMENT_FAULTS)[number]
const isPaymentFault = (how: string): how is PaymentFault => PAYMENT_FAULTS.some((fault) => fault === how)

/** Body of `POST /misbehave`. Unknown fields are rejected, so that a typo is noticed. */
export const MisbehaveRequest = z
  .strictObject({
    /**
     * refuse: resets the connection · hang: sends no response until the fault ends, then resets · 429, 500: returns this
     * status · cut: sends half of the body · garbage: returns 200 with a body that is not JSON · lag: returns a `time`
     * that is `by_ms` too early; the facilitator answers `by_ms` late.
     * Facilitator only: unavailable: 503 and nothing else · skip: reports a settlement that it did not make · deny: settles
     * and reports a failure · twice: settles twice and reports the second outcome.
     */
    how: z.enum(['refuse', 'hang', '429', '500', 'cut', 'garbage', 'lag', ...PAYMENT_FAULTS, 'none']),
    types: z.array(z.string().max(64)).min(1).max(64).optional(),
    for_ms: z.int().min(1).max(MAX_MS).default(60_000),
    times: z.int().min(1).max(1_000_000).optional(),
    /** For `lag`. */
    by_ms: z.int().min(1).max(86_400_000).default(60_000),
    /** For `429`: sent as `Retry-After`, which the public server does not send. */
    retry_after_s: z.int().min(0).max(3_600).optional(),
  })
  .refine(({ how, types = [''] }) => !isPaymentFault(how) || types.every((type) => FACILITATOR_CALL.test(type)), {
    path: ['types'],
    error: 'must be x402:verify or x402:settle for this fault',
  })
export type MisbehaveRequest = z.infer<typeof MisbehaveRequest>

export interface Fault {
  readonly how: Exclude<MisbehaveRequest['how'], 'none'>
  readonly types: readonly string[] | null
  readonly endMs: number
  readonly byMs: number
  readonly retryAfterS: number | null
  /** Number of queries to which it still applies. */
  remaining: number
}

/** The faults of one server. Times are from a monotonic clock. */
export class Faults {
  #faults: Fault[] = []

  /** Adds a fault. Returns false if there are too many. */
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

  /** The fault for a query of this type; null if there is none. Counts the query. */
  next(type: string, nowMs: number): Fault | null {
    this.#drop(nowMs)
    const isInfo = !FACILITATOR_CALL.test(type)
    const fault = this.#faults.findLast(({ types }) => types?.includes(type) ?? isInfo) ?? null
    if (fault !== null) fault.remaining--
    return fault
  }

  /** The active faults, oldest first: the response of `POST /misbehave`. */
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

/** Returns the body with an earlier top-level `time`, if it has one. */
export function withLag(body: unknown, byMs: number): unknown {
  const time = (body as { time?: unknown } | null)?.time
  return typeof time === 'number' ? { ...(body as object), time: time - byMs } : body
}

/** Maximum number of hanging connections. Further connections are reset immediately. */
const MAX_HANGING = 500
const GARBAGE = '<html>{"type": \u0000'
let hanging = 0

/** Faults that misbehave() handles: all that spoil the answer alone. */
export type OpenFault = Fault & { readonly how: Exclude<Fault['how'], 'lag' | PaymentFault> }

export const isOpen = (fault: Fault): fault is OpenFault => fault.how !== 'lag' && !isPaymentFault(fault.how)

/** Ends the response with a fault. `text`: the body that would normally be sent. */
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

/** Announces the full length and sends half of the body. */
function cut(response: ServerResponse, text: string): void {
  const whole = Buffer.from(text)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length })
  response.write(whole.subarray(0, Math.floor(whole.length / 2)), () => response.destroy())
}
