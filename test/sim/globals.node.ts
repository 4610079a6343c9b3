// Replaces Node's globals for the whole process: virtual time, seeded randomness and the platform's own names.

import { createHash } from 'node:crypto'
import { LOST, type Platform } from './objects.node.ts'
import { type End, Wire } from './wire.ts'

interface ReplyInit {
  readonly status?: number
  readonly webSocket?: End | null
}

/** The answer takes them away. */
export function install(platform: Platform): () => void {
  const { schedule, current, chances } = platform
  const names = ['Date', 'setTimeout', 'clearTimeout', 'crypto', 'WebSocketPair', 'Response', 'scheduler'] as const
  const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const)
  const { random } = Math
  const { error } = console
  const later = (run: () => void, ms = 0) => {
    const owner = current.getStore()
    return schedule.after(ms, () => {
      if (!owner) run()
      else if (owner.isAlive) owner.enter(run)
    })
  }
  class VirtualDate extends Date {
    constructor(...args: unknown[]) {
      super(...((args.length === 0 ? [VirtualDate.now()] : args) as [number]))
    }
    static override now(): number {
      return Math.floor(schedule.nowMs) + (current.getStore()?.host.skewMs ?? 0)
    }
  }
  const hex = (digits: number) => Array.from({ length: digits }, () => schedule.below(16).toString(16)).join('')
  const put = (name: string, value: unknown) =>
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  Math.random = schedule.random
  console.error = (...said: unknown[]) => {
    const text = said.map((one) => (one as Error)?.stack ?? String(one)).join(' ')
    // That a call was lost may be said.
    if (current.getStore()?.isAlive && !text.includes(LOST)) platform.wrong(text)
  }
  put('Date', VirtualDate)
  put('setTimeout', later)
  put('clearTimeout', (cancel?: () => void) => cancel?.())
  put('scheduler', { wait: (ms: number) => new Promise<void>((resolve) => later(resolve, ms)) })
  put('crypto', {
    randomUUID: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
    getRandomValues: (bytes: Uint8Array) => bytes.map(() => schedule.below(256)),
    subtle: {
      // The real one answers from another thread, when it likes.
      digest: async (_: string, bytes: Uint8Array) =>
        new Uint8Array(createHash('sha256').update(bytes).digest()).buffer,
    },
  })
  put('WebSocketPair', function pair() {
    const { ends } = new Wire(schedule, () => chances.latencyMs())
    return { 0: ends[0], 1: ends[1] }
  })
  // Node's own knows no 101.
  put(
    'Response',
    class {
      constructor(body: unknown, { status = 200, webSocket = null }: ReplyInit = {}) {
        Object.assign(this, { status, body, webSocket })
      }
      static json(body: unknown, { status = 200 }: ReplyInit = {}) {
        return { status, body, webSocket: null }
      }
    },
  )
  return () => {
    Math.random = random
    console.error = error
    for (const [name, own] of before)
      if (own) Object.defineProperty(globalThis, name, own)
      else Reflect.deleteProperty(globalThis, name)
  }
}
