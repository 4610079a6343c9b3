// What all isolates of a rehearsal share, in Node: where objects are, which keys of KV were just written, and which
// limits were exceeded.

import { text } from 'node:stream/consumers'
import { type Request, Response } from 'miniflare'
import { type Place, placeOf } from './places.ts'
import type { PlaceRequest } from './settings.ts'

/** KV accepts one write of a key in this time. */
const KV_WRITE_MS = 1_000

export class Collector {
  readonly violations: string[] = []
  /** Writes that KV refused. */
  kvRefusals = 0
  readonly #places = new Map<string, Place>()
  readonly #writtenMs = new Map<string, number>()

  readonly fetch = async (request: Request): Promise<Response> => {
    const body: unknown = request.body === null ? null : JSON.parse(await text(request.body))
    switch (new URL(request.url).pathname) {
      case '/place':
        return new Response(this.#place(body as PlaceRequest))
      case '/kv-write':
        return new Response(this.#write(body as string) ? 'ok' : 'too often')
      default:
        this.violations.push(body as string)
        process.stderr.write(`rehearsal: ${body}\n`)
        return new Response('')
    }
  }

  /** An object stays where it was created: at its hint, or else near its first caller. */
  #place({ object, hint, from }: PlaceRequest): Place {
    const place = this.#places.get(object) ?? placeOf(hint) ?? from
    this.#places.set(object, place)
    return place
  }

  #write(key: string): boolean {
    const nowMs = performance.now()
    const isAllowed = nowMs >= (this.#writtenMs.get(key) ?? Number.NEGATIVE_INFINITY) + KV_WRITE_MS
    if (isAllowed) this.#writtenMs.set(key, nowMs)
    else this.kvRefusals++
    return isAllowed
  }
}
