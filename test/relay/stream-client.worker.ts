// A client socket at a relay without the gateway, and its meter.

import { env } from 'cloudflare:workers'
import { expect, vi } from 'vitest'
import { IDENTITY_HEADER, type Identity } from '../../src/accounts/identity.ts'
import { keyHashOf } from '../../src/core/ids.ts'
import type { MeterApi } from '../../src/metering/meter-api.ts'

// biome-ignore lint/suspicious/noExplicitAny: frames of a test are looked into freely.
export type Frame = any

/** Requests admission of an account's socket. */
export function knock(relay: string, account: string, more: Partial<Identity> = {}): Promise<Response> {
  const identity: Identity = {
    v: 1,
    account,
    keyHash: keyHashOf(`key of ${account}`),
    kind: 'api',
    plan: 'entry',
    products: ['stream'],
    ...more,
  }
  const headers = { upgrade: 'websocket', [IDENTITY_HEADER]: JSON.stringify(identity) }
  return env.RELAY.getByName(relay).fetch('http://relay/ws', { headers })
}

/** A client socket with its frames in order. */
/** Frames arrive within milliseconds, or seconds on a busy machine. */
const WAIT_MS = 10_000

export class Client {
  readonly frames: Frame[] = []
  closed: { code: number; reason: string } | null = null
  readonly #socket: WebSocket

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      this.frames.push(JSON.parse(data as string))
    })
    socket.addEventListener('close', ({ code, reason }) => {
      this.closed = { code, reason }
    })
    socket.accept()
  }

  static async connect(relay: string, account: string, more: Partial<Identity> = {}): Promise<Client> {
    const answer = await knock(relay, account, more)
    expect(answer.status).toBe(101)
    return new Client(answer.webSocket!)
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  sendBytes(bytes: Uint8Array): void {
    this.#socket.send(bytes)
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  /** Removes and returns the first matching frame. */
  next(passes: (frame: Frame) => boolean): Promise<Frame> {
    return vi.waitFor(
      () => {
        const index = this.frames.findIndex(passes)
        if (index < 0) throw new Error(`not among ${JSON.stringify(this.frames).slice(0, 2000)}`)
        return this.frames.splice(index, 1)[0]
      },
      { timeout: WAIT_MS, interval: 10 },
    )
  }

  async subscribe(subscription: object, more: object = {}): Promise<void> {
    this.send({ method: 'subscribe', subscription, ...more })
    expect(await this.next((f) => f.channel === 'subscriptionResponse' || f.channel === 'error')).toEqual({
      channel: 'subscriptionResponse',
      data: { method: 'subscribe', subscription },
    })
  }

  refused(): Promise<Frame> {
    return this.next(({ channel }) => channel === 'error')
  }

  closing(): Promise<{ code: number; reason: string }> {
    return vi.waitFor(
      () => {
        if (!this.closed) throw new Error('still open')
        return this.closed
      },
      { timeout: WAIT_MS, interval: 10 },
    )
  }
}

export const meter = (account: string) => env.CREDIT_METER.getByName(account) as unknown as MeterApi
