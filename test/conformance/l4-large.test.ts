// A book of orders as large as the exchange's largest, over real sockets of the built Workers: everybody who asks for it at
// once gets it, slow ones and those that prove nothing too, and it goes out one at a time.

import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { L4Order } from '../../src/order-books/l4/resting-orders.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'
import type { GatewayFrame } from '../../src/protocol/feed/protocol.ts'
import { Feeder } from '../kit/feeder.ts'
import { startWorld, type World } from '../kit/gateway.ts'

const ORDERS = 51_351
const PART = 1400
const USER = `0x${'a1'.repeat(20)}`
const BYTES_PER_SECOND = 12_000_000

const orderOf = (oid: number, side: 'B' | 'A'): L4Order => ({
  user: USER,
  coin: 'BTC',
  side,
  limitPx: side === 'B' ? `${80_000 - (oid % 9000)}.0` : `${81_000 + (oid % 9000)}.0`,
  sz: '0.18385',
  oid,
  timestamp: 1_778_002_736_649,
  triggerCondition: 'N/A',
  isTrigger: false,
  triggerPx: '0.0',
  isPositionTpsl: false,
  reduceOnly: false,
  orderType: 'Limit',
  tif: 'Alo',
  cloid: `0x${String(oid).padStart(32, '0')}`,
})
const BIDS = Array.from({ length: ORDERS }, (_, oid) => orderOf(412_036_000_000 + oid, 'B')).sort(
  (a, b) => Number(b.limitPx) - Number(a.limitPx),
)

let world: World
let feeder: Feeder
let height = 1000
let oid = 1
let blocks: ReturnType<typeof setInterval>
let isWanted = false

beforeAll(async () => {
  world = await startWorld({ vars: { RELAYS_PER_REGION: '1' } })
  feeder = await Feeder.connect(world.ws)
  const heard = feeder.socket.onFrame
  feeder.socket.onFrame = (frame) => {
    heard?.(frame)
    const said = frame as unknown as GatewayFrame
    if (said.type === 'want') isWanted ||= (said.l4?.add.length ?? 0) > 0
    if (said.type === 'l4Reseed') sendBook()
  }
  await feeder.hello()
  feeder.snapshot(height, height * 70, [{ coin: 'BTC', levels: [[{ px: '1', sz: '1', n: 1 }], []] as Levels }])
  await feeder.acked(height)
  blocks = setInterval(block, 70)
})
afterAll(async () => {
  clearInterval(blocks)
  await world?.stop()
})

function block(): void {
  height++
  const asks = Array.from({ length: 2 }, () => orderOf(oid++, 'A'))
  const statuses = asks.map(({ user, ...order }) => ({
    time: '2026-05-05T17:39:13.024084407',
    user,
    status: 'open',
    order,
  }))
  const diffs = asks.flatMap((one) => [
    { user: USER, oid: one.oid, coin: 'BTC', side: 'A', px: one.limitPx, raw_book_diff: { new: { sz: one.sz } } },
    { user: USER, oid: one.oid, coin: 'BTC', side: 'A', px: one.limitPx, raw_book_diff: 'remove' },
  ])
  feeder.block({ height, books: [], ...(isWanted && { l4: [{ coin: 'BTC', statuses, diffs }] }) })
}

function sendBook(): void {
  const parts = Math.ceil(ORDERS / PART)
  for (let part = 0; part < parts; part++)
    feeder.socket.send({
      type: 'l4',
      coin: 'BTC',
      height,
      time: height * 70,
      bids: BIDS.slice(part * PART, (part + 1) * PART),
      asks: [],
      part,
      parts,
    })
}

/** Reads no faster than it may, proves to read or not, and comes back where it is sent on. */
class Client {
  snapshot: { block_height: number; levels: unknown[][] } | null = null
  updates = 0
  readonly closes: number[] = []
  readonly #key: string
  readonly #isProving: boolean
  #socket!: WebSocket
  #isDone = false

  constructor(key: string, isProving: boolean) {
    this.#key = key
    this.#isProving = isProving
    this.#open()
  }

  #open(): void {
    const socket = new WebSocket(`${world.ws}/ws?key=${this.#key}`, { maxPayload: 1e9, perMessageDeflate: false })
    this.#socket = socket
    const ping = (nonce: string) => socket.send(JSON.stringify({ method: 'ping', nonce }))
    socket.on('open', () => {
      const tcp = (socket as unknown as { _socket: import('node:net').Socket })._socket
      tcp.on('data', (chunk: Buffer) => {
        tcp.pause()
        setTimeout(() => tcp.resume(), (1000 * chunk.length) / BYTES_PER_SECOND)
      })
      if (this.#isProving) ping('')
      socket.send(JSON.stringify({ method: 'subscribe', subscription: { type: 'l4Book', coin: 'BTC' } }))
    })
    socket.on('message', (data) => {
      const text = data.toString()
      if (text.startsWith('{"channel":"pong"') && this.#isProving) setTimeout(() => ping(JSON.parse(text).nonce), 50)
      if (!text.startsWith('{"channel":"l4Book"')) return
      const { Snapshot, Updates } = JSON.parse(text).data
      this.snapshot ??= Snapshot
      if (this.snapshot && Updates) this.updates++
    })
    socket.on('close', (code) => {
      if (!this.#isDone) this.closes.push(code)
      if (!this.#isDone) setTimeout(() => this.#open(), 500)
    })
    socket.on('error', () => undefined)
  }

  end(): void {
    this.#isDone = true
    this.#socket.close()
  }
}

// WS-154
it('reaches three slow ones who ask at once, with proofs and without', async () => {
  const keys = await Promise.all([true, true, false].map(() => world.newKey('1000')))
  const clients = keys.map((key, at) => new Client(key, at < 2))
  const haveAll = () => {
    for (const { snapshot, updates } of clients) {
      expect(snapshot?.block_height).toBeGreaterThan(1000)
      expect(snapshot?.levels.map((side) => side.length)).toEqual([ORDERS, expect.any(Number)])
      expect(updates).toBeGreaterThan(10)
    }
  }
  await vi.waitFor(haveAll, { timeout: 150_000, interval: 200 })
  // An ordinary relay cannot hold so much for one account.
  for (const { closes } of clients) expect(closes).toEqual([1013])
  for (const client of clients) client.end()
}, 160_000)
