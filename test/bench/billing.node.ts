// Measures what a thousand sockets cost at the platform's list prices, with as many relays as are deployed. It
// counts the operations of objects, and the time in which objects do not sleep, at the exchange's block rate.

import { EXCHANGE_BLOCKS_PER_SECOND } from './blocks.ts'
import { dollarsOfObjects, type Streamed } from './cost.ts'
import type { TakenCounts } from './counted/counts.ts'
import { type Line, whole } from './table.ts'
import { type Bench, bundleCounted, feedWeir, startLoad, usingWeir, type Weir } from './targets.node.ts'

const SOCKETS = 1_000
/** Two started minutes of each subscription. */
const ROUNDS = 4
const ROUND_BLOCKS = 290
/** A meter has no socket and no timer: it sleeps while nobody asks. */
const AWAKE = ['BlockLog', 'BookHub', 'Relay'] as const

/** Of their coming, and of their frames. */
export async function billingLines({ quick }: Pick<Bench, 'quick'>): Promise<Line[]> {
  const bundles = await bundleCounted()
  const load = startLoad()
  const lines = async (target: Weir['target']) => {
    await feedWeir(load, target)
    const take = async () => (await (await fetch(`http://127.0.0.1:${target.port}/counts`)).json()) as TakenCounts
    await take()
    const beganMs = performance.now()
    await load.call('resize', 'weir', SOCKETS, 'one coin')
    const came = streamed(await take(), performance.now() - beganMs)
    const startMs = performance.now()
    let frames = 0
    await load.call('ping', 'weir')
    for (let round = 0; round < (quick ? 1 : ROUNDS); round++)
      frames += (await load.call('pace', 'weir', 'market', ROUND_BLOCKS, 1000 / EXCHANGE_BLOCKS_PER_SECOND)).frames
    const sent = streamed(await take(), performance.now() - startMs)
    return [
      line(`${whole(SOCKETS)} clients come and subscribe to a coin`, came, SOCKETS, 'clients'),
      line(`${whole(SOCKETS)} clients of a coin at ${EXCHANGE_BLOCKS_PER_SECOND} blocks/s`, sent, frames, 'frames'),
    ]
  }
  return usingWeir(
    () => {},
    () => ({ bundles }),
    lines,
  ).finally(() => load.stop())
}

function streamed({ objects }: TakenCounts, ms: number): Streamed {
  const all = Object.values(objects)
  const sum = (of: 'requests' | 'messages' | 'rowsWritten') => all.reduce((total, each) => total + each[of], 0)
  const awake = AWAKE.reduce((total, name) => total + (objects[name]?.names.length ?? 0), 0)
  return {
    requests: sum('requests'),
    messages: sum('messages'),
    rowsWritten: sum('rowsWritten'),
    objectSeconds: (awake * ms) / 1000,
  }
}

function line(what: string, did: Streamed, count: number, of: string): Line {
  const perThousand = (value: number) => ((1000 * value) / count).toFixed(2)
  const { requests, messages, rowsWritten, objectSeconds } = did
  return {
    what: `${what}: for 1 000 ${of} requests of objects, frames to them, rows written, seconds of objects awake`,
    weir: [requests, messages, rowsWritten, objectSeconds].map(perThousand).join(' · '),
    ratio: `$${((dollarsOfObjects(did) * 1e6) / count).toFixed(4)} per million ${of}`,
  }
}
