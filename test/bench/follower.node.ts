// Who follows every order of COIN with our client.

import { Connection } from '../../src/client/connection.ts'
import { nodeRuntime } from '../../src/client/node-runtime.node.ts'
import { COIN } from './blocks.ts'
import type { Address } from './raw-socket.node.ts'

class Follower {
  readonly #connection: Connection
  /** Has a Snapshot. */
  isReady = false
  /** Blocks with rows that it was told of. */
  blocks = 0
  lost: string | null = null

  constructor({ port, path }: Address) {
    const url = new URL(path, `http://127.0.0.1:${port}`)
    const endpoint = { url: url.origin, key: url.searchParams.get('key')! }
    this.#connection = new Connection(nodeRuntime(), { endpoint: () => endpoint })
    this.#connection.subscribe(
      { type: 'l4Book', coin: COIN },
      {
        live: () => undefined,
        lost: (reason) => {
          this.lost = reason
        },
        refused: (reason) => {
          this.lost = reason
        },
        frame: (frame) => {
          if (frame.channel !== 'l4Book') return
          if ('Snapshot' in frame.data) this.isReady = true
          else this.blocks++
        },
      },
    )
    this.#connection.start()
  }

  close(): void {
    this.#connection.close()
  }
}

/** Several of them. */
export class Followers {
  #all: readonly Follower[] = []

  /** Anew where there are not as many. Answers the blocks that all of them were told of, null while one has no orders. */
  resize(count: number, addresses: readonly Address[]): number | null {
    if (count !== this.#all.length) {
      for (const one of this.#all) one.close()
      this.#all = Array.from({ length: count }, (_, i) => new Follower(addresses[i % addresses.length]!))
    }
    if (!this.#all.every(({ isReady }) => isReady)) return null
    return Math.min(...this.#all.map(({ blocks }) => blocks), Number.MAX_SAFE_INTEGER)
  }

  get lost(): string | null {
    return this.#all.find((one) => one.lost)?.lost ?? null
  }
}
