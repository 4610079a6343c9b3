// Clients that never read, or slowly read the largest order book, and unusual close frames: raw sockets against a whole
// gateway.

import { connect, type Socket as TcpSocket } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { L4Order } from '../../src/order-books/l4/resting-orders.ts'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'
import type { GatewayFrame } from '../../src/protocol/feed/protocol.ts'
import { LIGHT } from '../../src/relay/sockets/unread.ts'
import { clientFrame } from '../bench/frames.ts'
import { Feeder } from '../kit/feeder.ts'
import { startWorld, type World } from '../kit/gateway.ts'
import { Socket } from '../kit/socket.ts'

const WAIT = { timeout: 60_000, interval: 100 }
const LEVELS: Level[] = Array.from({ length: 2000 }, (_, i) => ({ px: `${1000 + i}`, sz: '123.456', n: 3 }))

let world: World
let feeder: Feeder
let height = 1000
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
  feeder.snapshot(height, height * 70, [{ coin: 'BTC', levels: [[], LEVELS] as Levels }])
  await feeder.acked(height)
})
afterAll(() => world.stop())

/** An upgraded connection that reads nothing until told. */
function open(key: string): Promise<TcpSocket> {
  const { port } = new URL(world.url)
  const socket = connect(Number(port), '127.0.0.1')
  const { promise, resolve, reject } = Promise.withResolvers<TcpSocket>()
  socket.on('error', reject)
  const head = ['Host: weir', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  socket.write(`GET /ws?key=${key} HTTP/1.1\r\n${head.join('\r\n')}\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\n\r\n`)
  socket.once('data', (answer) => {
    socket.pause()
    const status = Number(answer.toString().slice(9, 12))
    if (status === 101) resolve(socket)
    else reject(new Error(`${status} ${answer}`))
  })
  return promise
}

const closeFrame = (code: number) => clientFrame(Buffer.from([code >> 8, code & 255]), 8)
const text = (value: unknown) => clientFrame(JSON.stringify(value))

// WS-45
it.each<[number, number]>([
  [1000, 1000],
  [3000, 3000],
  ...[0, 1, 999, 1004, 1015, 5000, 65_535].map((code): [number, number] => [code, 1002]),
])('a close with %i gets %i and ends the connection', async (code, answer) => {
  const socket = await open(await world.newKey('10'))
  const ended = new Promise((resolve) => socket.on('close', resolve))
  let got = Buffer.alloc(0)
  socket.on('data', (data: Buffer) => {
    got = Buffer.concat([got, data])
  })
  socket.write(closeFrame(code))
  socket.resume()
  await vi.waitFor(() => expect(got.length).toBeGreaterThanOrEqual(4), WAIT)
  expect([got[0], got.readUInt16BE(2)]).toEqual([0x88, answer])
  socket.end()
  await ended
})

// WS-12, WS-62
it('a client that pings but never reads is disconnected and counted, without effect on others', async () => {
  const key = await world.newKey('1000')
  const neighbour = await Socket.open(`${world.ws}/ws?key=${await world.newKey('1000')}`)
  await neighbour.subscribe({ type: 'l2BookDiff2', coin: 'BTC' })
  const hostile = await Promise.all(Array.from({ length: 4 }, () => open(key)))
  for (const socket of hostile) {
    socket.on('error', () => undefined)
    socket.write(text({ method: 'subscribe', subscription: { type: 'l2BookDiff2', coin: 'BTC' } }))
  }
  const change = () => {
    for (const socket of hostile) socket.write(text({ method: 'ping' }))
    feeder.block({ height: ++height, books: [{ coin: 'BTC', levels: [[], LEVELS.map((l) => ({ ...l, n: height }))] }] })
    return neighbour.channel('l2BookDiff2', 60_000)
  }
  const bytes = JSON.stringify(await change()).length
  for (let sent = bytes; sent < (2 * LIGHT.bytes) / hostile.length; sent += bytes) await change()

  // One that reads at last finds why, behind what was sent before.
  let rest = Buffer.alloc(0)
  hostile[0]!.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data]).subarray(-2000)
  })
  hostile[0]!.resume()
  await vi.waitFor(() => expect(rest.toString('latin1')).toContain('too_slow'), WAIT)
  // Its account goes on at the relays for heavy ones, its neighbour where it was.
  const again = await Socket.open(`${world.ws}/ws?key=${key}`)
  again.send({ method: 'ping', nonce: '' })
  expect(await again.channel('pong')).toMatchObject({ nonce: expect.any(String) })
  await change()
  expect(neighbour.closed).toBeNull()
  for (const socket of hostile) socket.destroy()
  again.close()
  neighbour.close()
})

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
let oid = 1

/** A block with rows of orders that come and go, once somebody wants them. */
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
it('reaches three slow clients, with and without read receipts', async () => {
  const blocks = setInterval(block, 70)
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
  clearInterval(blocks)
}, 160_000)
