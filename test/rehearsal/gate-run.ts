// Measures how long frames take from the feeder to a client with and without the output gate of the platform. Both
// gateways get the same blocks by turns, so that the load of the machine is the same for both.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Fill, UserFill } from '../../src/protocol/feed/block.ts'
import { RunningFeeder } from '../kit/feeder.ts'
import { fillWith } from '../kit/fills.ts'
import { startWorld } from '../kit/gateway.ts'
import { Socket } from '../kit/socket.ts'
import { type Spread, spreadOf } from '../kit/statistics.ts'
import { until } from '../kit/until.ts'
import { Rehearsal } from './topology.ts'

const CLIENTS = 10
const FIRST = 1_000
const USER = `0x${'a'.repeat(40)}`
const BLOCK_EVERY_MS = 100

const blockOf = (height: number) => ({
  type: 'block' as const,
  height,
  time: height * 70,
  books: [],
  fills: [[USER, fillWith({ tid: height, time: height * 70 })] as [string, Fill]],
  ledger: [],
  funding: [],
})

async function startSide(hasOutputGate: boolean, scale: number) {
  const world = await startWorld({ rehearsal: new Rehearsal({ scale, gateways: 2, hasOutputGate }) })
  const key = await world.newKey('100000', { plan: 'enterprise' })
  const feeder = new RunningFeeder(world.ws, FIRST, blockOf)
  const open = () => Socket.open(`${world.ws}/ws?key=${key}`)
  const sockets = await Promise.all(Array.from({ length: CLIENTS }, open))
  const sentMs = new Map<number, number>()
  const latencies: number[] = []
  for (const socket of sockets) {
    await socket.subscribe({ type: 'allFills' })
    socket.onFrame = (frame) => {
      if (frame.channel !== 'allFills') return
      const nowMs = performance.now()
      for (const [, { tid }] of frame.fills as UserFill[]) latencies.push(nowMs - (sentMs.get(tid) ?? nowMs))
    }
  }
  return {
    latencies,
    /** Its subscriptions are the confirmed writes of the relay. */
    busy: await open(),
    send: (height: number) => {
      sentMs.set(height, performance.now())
      feeder.advance(height)
    },
    stop: async () => {
      feeder.end()
      for (const socket of sockets) socket.close()
      await world.stop()
    },
  }
}

interface GateReport {
  readonly withGate: Spread
  readonly withoutGate: Spread
  readonly frames: number
}

export async function gateRun({ blocks, scale }: { blocks: number; scale: number }): Promise<GateReport> {
  const sides = await Promise.all([startSide(true, scale), startSide(false, scale)])
  try {
    for (let at = 1; at <= blocks; at++) {
      for (const { send, busy } of sides) {
        if (at % 5 === 0) busy.send({ method: 'subscribe', subscription: { type: 'bbo', coin: `C${at}` } })
        if (at % 5 === 2) {
          const user = `0x${at.toString(16).padStart(40, '0')}`
          busy.send({ method: 'subscribe', subscription: { type: 'userFills', user } })
        }
        send(FIRST + at)
        await sleep(BLOCK_EVERY_MS / 2)
      }
    }
    const all = CLIENTS * blocks
    await until(() => sides.every(({ latencies }) => latencies.length >= all), 'frames are missing', {
      withinMs: 60_000,
    })
    const [withGate, withoutGate] = sides.map(({ latencies }) =>
      spreadOf(Float64Array.from(latencies), latencies.length),
    )
    return { withGate: withGate!, withoutGate: withoutGate!, frames: all }
  } finally {
    await Promise.all(sides.map(({ stop }) => stop()))
  }
}
