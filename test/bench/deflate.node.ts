// What clients that offer `permessage-deflate`, as browsers do, save on the wire, and what this costs the relay.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import { COINS, COINS_PER_BLOCK, EXCHANGE_BLOCKS_PER_SECOND } from './blocks.ts'
import { compared, inTurn, spent } from './rounds.node.ts'
import { type Line, pairLine, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const CLIENTS = 20
/** As the client package does. */
const PROVE_BYTES = 32 * 1024
const SUBSCRIBE = JSON.stringify({
  method: 'subscribe',
  subscription: { type: 'l2BookDiff2', coin: COINS.slice(0, COINS_PER_BLOCK) },
})

/** Bytes of a frame on the wire, and CPU per frame, with and without compression. */
export async function deflateLine(bench: Bench): Promise<Line> {
  const { load, quick, weir } = bench
  await load.call('resize', 'weir', 1, 'one coin')
  const outcomes = await inTurn(bench, { bare: weir, weir }, quick ? 1 : 4, async (_, way) => {
    const readers = await Promise.all(Array.from({ length: CLIENTS }, () => Reader.open(bench, way === 'weir')))
    await load.call('ping', 'weir')
    for (const reader of readers) reader.reset()
    await load.call('pace', 'weir', 'market', quick ? 30 : 145, 1000 / EXCHANGE_BLOCKS_PER_SECOND)
    const sum = (of: (reader: Reader) => number) => readers.reduce((total, reader) => total + of(reader), 0)
    const outcome = { frames: sum((reader) => reader.frames), wireBytes: sum((reader) => reader.wireBytes) }
    for (const reader of readers) reader.close()
    return outcome
  })
  const what = `bytes on the wire of a frame of ${COINS_PER_BLOCK} changed coins, with \`permessage-deflate\` (${CLIENTS} clients)`
  const figures = compared(outcomes, 'bare', ({ frames, wireBytes }) => wireBytes / frames)
  return {
    ...pairLine(what, figures, (bytes) => `${whole(bytes)} bytes`, { base: 'without' }),
    ...spent(outcomes, 'bare', ({ frames }) => frames),
  }
}

/** A subscribed client that counts what arrives, and confirms it. */
class Reader {
  frames = 0
  readonly #socket: WebSocket
  readonly #wire: Socket
  #fromBytes = 0
  #unprovedBytes = 0
  #nonce = ''

  private constructor(socket: WebSocket, wire: Socket) {
    this.#socket = socket
    this.#wire = wire
    socket.on('message', (data) => this.#take(String(data)))
  }

  static async open({ weir, authorization }: Bench, perMessageDeflate: boolean): Promise<Reader> {
    const socket = new WebSocket(`ws://127.0.0.1:${weir.port}/ws`, {
      perMessageDeflate,
      headers: { authorization: authorization.trim().replace('Authorization: ', '') },
    })
    const upgraded = once(socket, 'upgrade')
    await once(socket, 'open')
    const [{ socket: wire }] = await upgraded
    if (socket.extensions.includes('permessage-deflate') !== perMessageDeflate)
      throw new Error(`the relay negotiated "${socket.extensions}"`)
    const reader = new Reader(socket, wire)
    socket.send(SUBSCRIBE)
    await once(socket, 'message')
    return reader
  }

  get wireBytes(): number {
    return this.#wire.bytesRead - this.#fromBytes
  }

  reset(): void {
    this.frames = 0
    this.#fromBytes = this.#wire.bytesRead
  }

  close(): void {
    this.#socket.terminate()
  }

  #take(text: string): void {
    if (text.startsWith('{"channel":"pong"')) {
      this.#nonce = JSON.parse(text).nonce
      return
    }
    this.frames++
    this.#unprovedBytes += text.length
    if (this.#unprovedBytes < PROVE_BYTES) return
    this.#unprovedBytes = 0
    this.#socket.send(JSON.stringify({ method: 'ping', nonce: this.#nonce }))
  }
}
