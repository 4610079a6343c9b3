// Measures how heavy SQL of some accounts affects another account. Ten attackers test pipelines with transforms as
// fast as they are allowed, and each also runs such a pipeline. All use one gateway at the exchange's block rate.
// The baseline is the same account on the same gateway in the same run, before the attack.

import { setTimeout as sleep } from 'node:timers/promises'
import { RunningFeeder } from '../kit/feeder.ts'
import { Gateway } from '../kit/gateway.ts'
import { startServer } from '../kit/http-server.ts'
import { Socket } from '../kit/socket.ts'
import { type Spread, spreadOf } from '../kit/statistics.ts'
import { buildPlant, Plant } from '../pipelines/plant/plant.node.ts'
import { EXCHANGE_BLOCKS_PER_SECOND } from './blocks.ts'
import { blockOf, FIRST } from './pipelines.node.ts'
import { type Line, ms, times, whole } from './table.ts'
import type { Bench } from './targets.node.ts'

const ATTACKERS = 10
/** Tests that each has under way at once. */
const AT_ONCE = 3
const CALLS_A_SECOND = 20
const CREATE_TRIES = 100
const GOAL = 2
const BLOCK_MS = 1000 / EXCHANGE_BLOCKS_PER_SECOND
const SECRET = `whsec_${btoa('0123456789abcdef0123456789abcdef')}`
const COUNT = 'WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT 3000000)'
const HEAVY = [
  `${COUNT} SELECT count(*) AS n FROM t`,
  'SELECT count(*) AS n FROM fills a, fills b, fills c, fills d',
  `${COUNT} SELECT length(json_group_array(x)) AS n FROM (SELECT x FROM t LIMIT 9000), fills`,
  'SELECT a.coin, sum(length(b.hash)) OVER (ORDER BY a.px ROWS UNBOUNDED PRECEDING) AS n FROM fills a, fills b, fills c ORDER BY n LIMIT 9',
]

export async function neighborLines({ quick, say }: Pick<Bench, 'quick' | 'say'>): Promise<Line[]> {
  await buildPlant()
  const plant = new Plant()
  const hook = await startServer((request, response) => request.resume().on('end', () => response.end('ok')))
  const url = `${hook.url}/`
  const ends: (() => void)[] = []
  try {
    await plant.start()
    ends.push(keepFeeding(plant.ws))
    const key = async (more: object) => (await plant.owner('50', more)).key
    const attackers = await Promise.all(Array.from({ length: ATTACKERS }, () => plant.owner('50')))
    const neighbor = { service: await key({ plan: 'enterprise' }), api: await key({ kind: 'api', plan: 'enterprise' }) }
    const seconds = quick ? 8 : 30
    await measured(plant.url, neighbor, 3)
    const quiet = await measured(plant.url, neighbor, seconds)
    const attackKeys = attackers.map((attacker) => attacker.key)
    const attack = await startAttack(plant.url, attackKeys, url)
    const attacked = await measured(plant.url, neighbor, seconds)
    const { answers, spent } = await attack.end()
    say(`${whole(answers)} tests were asked for, ${JSON.stringify(spent)} by status`)
    const sums = await Promise.all(
      attackers.map(({ account }) => plant.ask<{ spent: string }>('GET', `/accounts/${account}`)),
    )
    say(`the attackers spent ${sums.reduce((sum, one) => sum + Number(one.spent), 0).toFixed(4)} credits`)
    const ratio = attacked.rest.p99 / quiet.rest.p99
    return [
      {
        what: `REST calls of a neighbor beside ${ATTACKERS} accounts with heavy SQL, p50 · p99`,
        bare: `${ms(quiet.rest.p50)} · ${ms(quiet.rest.p99)} (no attack)`,
        weir: `${ms(attacked.rest.p50)} · ${ms(attacked.rest.p99)}`,
        ratio: times(ratio),
        goal: `≤ ${GOAL}×`,
        met: ratio <= GOAL,
      },
      {
        what: 'the longest pause of its stream',
        bare: `${ms(quiet.pauseMs)} (no attack)`,
        weir: ms(attacked.pauseMs),
        ratio: times(attacked.pauseMs / quiet.pauseMs),
        goal: '≤ 1 s',
        met: attacked.pauseMs <= 1_000,
      },
    ]
  } finally {
    for (const end of ends) end()
    await plant.end()
    hook.close()
    plant.remove()
  }
}

/** Blocks at the exchange's rate; the answer ends it. */
function keepFeeding(ws: string): () => void {
  const begunMs = Date.now()
  const feeder = new RunningFeeder(ws, FIRST, (height) => blockOf(height, begunMs + (height - FIRST) * BLOCK_MS))
  const timer = setInterval(() => feeder.advance(FIRST + Math.floor((Date.now() - begunMs) / BLOCK_MS)), 10)
  return () => {
    clearInterval(timer)
    feeder.end()
  }
}

interface Felt {
  readonly rest: Spread
  /** Between two frames of its stream, or at its end. */
  readonly pauseMs: number
}

/** What a neighbor feels for some seconds: paced calls, which do not wait for each other, and a stream. */
async function measured(
  url: string,
  { service, api }: { service: string; api: string },
  seconds: number,
): Promise<Felt> {
  const socket = await Socket.open(`${url.replace('http', 'ws')}/ws?key=${api}`)
  let lastMs = Number.NaN
  let pauseMs = 0
  const beat = () => {
    const nowMs = performance.now()
    if (nowMs - lastMs > pauseMs) pauseMs = nowMs - lastMs
    lastMs = nowMs
  }
  socket.onFrame = ({ channel }) => channel === 'allFills' && beat()
  await socket.subscribe({ type: 'allFills' })
  const took = new Float64Array(seconds * CALLS_A_SECOND)
  const calls: Promise<void>[] = []
  const startMs = performance.now()
  for (let at = 0; at < took.length; at++) {
    await sleep(Math.max(0, startMs + (at * 1000) / CALLS_A_SECOND - performance.now()))
    const call = async () => {
      took[at] = await timed(url, service)
    }
    calls.push(call())
  }
  await Promise.all(calls)
  beat()
  socket.close()
  if (Number.isNaN(lastMs)) throw new Error('the stream of the neighbor brought nothing')
  return { rest: spreadOf(took, took.length), pauseMs }
}

async function timed(url: string, key: string): Promise<number> {
  const startMs = performance.now()
  const answer = await new Gateway(url).call('GET', '/platform/pipeline-api/', key)
  await answer.text()
  if (!answer.ok) throw new Error(`the neighbor was answered ${answer.status}`)
  return performance.now() - startMs
}

/** Each attacker tests without rest, and has a pipeline that gives up no batch of such transforms. Begun once all have both. */
async function startAttack(url: string, keys: readonly string[], hook: string) {
  const spent: Record<string, number> = {}
  let isOver = false
  const config = { type: 'webhook', url: hook, secret: SECRET }
  const attacker = async (key: string) => {
    const call = async (path: string, body: object) => {
      const answer = await new Gateway(url).call('POST', `/platform/pipeline-api/${path}`, key, body)
      return { status: answer.status, json: (await answer.json()) as { data?: { id: string } } }
    }
    const own = { name: 'a', topic: 'fills', destination_config: config, on_failure: 'dead_letter' }
    const running = { ...own, execution_start_from: 'earliest', transforms: { out: HEAVY[1]! } }
    const ids: string[] = []
    for (const body of [{ ...own, status: 'paused' }, running]) ids.push(await made(() => call('', body)))
    return { call, ids }
  }
  const attack = async ({ call, ids }: Awaited<ReturnType<typeof attacker>>) => {
    for (let at = 0; !isOver; at++) {
      const { status } = await call(`${ids[at % ids.length]}/test/`, { transforms: { out: HEAVY[at % HEAVY.length]! } })
      spent[status] = (spent[status] ?? 0) + 1
      if (status !== 200) await sleep(200)
    }
  }
  const attackers = await Promise.all(keys.map(attacker))
  const all = attackers.flatMap((one) => Array.from({ length: AT_ONCE }, () => attack(one).catch(() => undefined)))
  return {
    end: async () => {
      isOver = true
      await Promise.all(all)
      return { answers: Object.values(spent).reduce((sum, count) => sum + count, 0), spent }
    },
  }
}

/** The id of a pipeline whose transforms wait for their turn to be checked. */
async function made(create: () => Promise<{ status: number; json: { data?: { id: string } } }>): Promise<string> {
  for (let left = CREATE_TRIES; ; left--) {
    const { status, json } = await create()
    if (json.data) return json.data.id
    if (left === 0) throw new Error(`an attacker cannot make its pipeline: ${status}`)
    await sleep(500)
  }
}
