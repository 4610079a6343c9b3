// What one machine carries under `weir serve`, at the exchange's size: clients of single coins that receive each change, and
// cached calls beside them. Devnet, feeder and the clients run on the same machine, so a server without them carries more.

import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { childOf, lastingPort, run, scratch } from '../kit/program.ts'
import { admin, secretsOf, startFeeder, startServe, statusOf } from '../kit/served.ts'
import { percentile } from '../kit/statistics.ts'
import { until } from '../kit/until.ts'
import { readProcess } from '../soak/machine.node.ts'
import type { OnText } from './frames.ts'
import { httpLoad } from './http-load.node.ts'
import { RawSocket } from './raw-socket.node.ts'
import { type Line, ms, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const CLIENTS = [250, 500, 1_000, 2_000, 4_000] as const
const CALLERS = 32
const READY_MS = 300_000
const OPENING_AT_ONCE = 25
/** If half of the changes are older than at the feeder by more than this, the machine is full. */
const FULL_MS = 1_000
const VARIABLES = { RELAYS_PER_REGION: '8', RELAY_SOCKETS: '500' }
/** A frame names its block's time before its changes. */
const HEAD_BYTES = 100
const BLOCK_TIME = /"time":(\d{13})/

export async function machineLines({ quick, say }: Pick<Bench, 'quick' | 'say'>): Promise<Line[]> {
  const folder = scratch()
  const data = join(folder.path, 'node')
  const devnet = run('devnet', ['--data', data, '--port', '0', '--scale', 'mainnet', '--json'])
  const { url: node } = JSON.parse(await devnet.line((line) => line.startsWith('{'), READY_MS)) as { url: string }
  const state = join(folder.path, 'state')
  const served = await startServe(state, lastingPort(), { node, env: VARIABLES })
  const secrets = secretsOf(state)
  const feeder = startFeeder(folder.path, { url: node, data, process: devnet }, served.url, secrets.FEED_TOKEN)
  try {
    await until(async () => (await statusOf(served.url)).state === 'live', 'the feed is not live', {
      withinMs: READY_MS,
    })
    const order = { plan: 'enterprise', credits: '100000000' }
    const { key } = await admin<{ key: string }>(served.url, secrets, '/keys', order)
    const workerd = childOf(served.process.process.pid, 'workerd serve') ?? 0
    const machine = { url: served.url, key, workerd, seconds: quick ? 5 : 20, say }
    return [...(await clientLines(machine, await coinsOf(node))), await callLine(machine)]
  } finally {
    await Promise.all([feeder.end(), served.process.end(), devnet.end()])
    folder.remove()
  }
}

interface Served {
  readonly url: string
  readonly key: string
  readonly workerd: number
  readonly seconds: number
  readonly say: (text: string) => void
}

async function coinsOf(node: string): Promise<string[]> {
  const body = JSON.stringify({ type: 'meta' })
  const response = await fetch(`${node}/info`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  return ((await response.json()) as { universe: { name: string }[] }).universe.map(({ name }) => name)
}

/** Age of a change at the clients, by the block's time, for more and more of them. */
async function clientLines({ url, key, workerd, seconds, say }: Served, coins: readonly string[]): Promise<Line[]> {
  const sockets: RawSocket[] = []
  const ages: number[] = []
  const lines: Line[] = []
  const onText: OnText = (chunk, from, to) => {
    const time = BLOCK_TIME.exec(chunk.toString('latin1', from, Math.min(to, from + HEAD_BYTES)))?.[1]
    if (time !== undefined) ages.push(Date.now() - Number(time))
  }
  const port = Number(new URL(url).port)
  const address = { port, path: '/ws', headers: `Authorization: Bearer ${key}\r\n` }
  for (const count of CLIENTS) {
    while (sockets.length < count)
      sockets.push(
        ...(await Promise.all(
          Array.from({ length: OPENING_AT_ONCE }, async (_, at) => {
            const socket = await RawSocket.open(address, onText)
            const coin = coins[(sockets.length + at) % coins.length]
            socket.send(JSON.stringify({ method: 'subscribe', subscription: { type: 'l2BookDiff2', coin } }))
            return socket
          }),
        )),
      )
    await sleep(3_000)
    ages.length = 0
    const before = readProcess(workerd)?.cpuMs ?? 0
    const lag = await medianLag(url, seconds)
    const share = ((readProcess(workerd)?.cpuMs ?? 0) - before) / (seconds * 1_000)
    const sorted = ages.toSorted((a, b) => a - b)
    const p50 = percentile(sorted, 0.5) ?? Number.NaN
    const p99 = percentile(sorted, 0.99) ?? Number.NaN
    const rate = sorted.length / seconds
    lines.push({
      what: `${whole(count)} clients of ${coins.length} coins on ${cpus().length} cores: age of a change, p50 · p99`,
      bare: `${ms(lag)} at the feeder`,
      weir: `${ms(p50)} · ${ms(p99)}`,
      ratio: `${whole(rate)} frames a second, ${share.toFixed(2)} cores and ${whole(readProcess(workerd)?.rssMb ?? Number.NaN)} MB of workerd`,
    })
    say(`${count} clients: ${ms(p50)} · ${ms(p99)}, at the feeder ${ms(lag)}`)
    if (!(p50 - lag < FULL_MS)) break
  }
  for (const socket of sockets) socket.close()
  return lines
}

/** Lag of the feeder behind the clock, read once a second for these seconds. */
async function medianLag(url: string, seconds: number): Promise<number> {
  const lags: number[] = []
  for (let second = 0; second < seconds; second++) {
    await sleep(1_000)
    const { feeders } = await statusOf(url)
    lags.push(...feeders.map(({ lagMs }) => lagMs ?? Number.NaN))
  }
  return (
    percentile(
      lags.toSorted((a, b) => a - b),
      0.5,
    ) ?? Number.NaN
  )
}

/** Calls as fast as they are answered, beside the feed. */
async function callLine({ url, key, seconds }: Served): Promise<Line> {
  const { answers, failures, latency } = await httpLoad({
    port: Number(new URL(url).port),
    path: '/info',
    headers: `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`,
    body: JSON.stringify({ type: 'l2Book', coin: 'BTC' }),
    concurrency: CALLERS,
    ms: seconds * 1_000,
  })
  return {
    what: `${CALLERS} connections that call l2Book beside the feed: time of a call, p50 · p99`,
    bare: '–',
    weir: `${ms(latency.p50)} · ${ms(latency.p99)}`,
    ratio: `${whole(answers / seconds)} calls a second, ${failures} failed`,
  }
}
