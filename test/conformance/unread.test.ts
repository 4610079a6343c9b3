// Clients that never read, and closes that no library sends: raw sockets against a whole gateway.

import { connect, type Socket as TcpSocket } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Level, Levels } from '../../src/protocol/feed/block.ts'
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
beforeAll(async () => {
  world = await startWorld({ vars: { RELAYS_PER_REGION: '1' } })
  feeder = await Feeder.connect(world.ws)
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
])('a close with %i is answered with %i, and the connection ended', async (code, answer) => {
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
it('a client that pings and never reads is cut off and counted; others of its relay feel nothing', async () => {
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
