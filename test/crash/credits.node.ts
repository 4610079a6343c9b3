// `node test/crash/credits.node.ts [--kills 50] [--seed N]`: kills workerd (every fifth time the whole gateway) in the
// middle of metered calls, again and again, and then holds the ledger against what callers were served. Not part of
// `npm test`: each kill takes seconds, and leases that died are waited for a minute. Needs `npm run build`.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type GatewayChild, startGatewayChild } from '../conformance/gateway-child.ts'

const { values } = parseArgs({ options: { kills: { type: 'string' }, seed: { type: 'string' } } })
const kills = Number(values.kills ?? 50)
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const IN_FLIGHT = 16
const GRANTED = 1_000_000
const RETURNED_AFTER_MS = 65_000

/** Mulberry32: a run can be repeated by its seed. */
let word = seed
function random(): number {
  word = (word + 0x6d2b79f5) | 0
  let t = Math.imul(word ^ (word >>> 15), 1 | word)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const state = mkdtempSync(join(tmpdir(), 'weir-crash-'))
const upstream = createServer((_, response) => {
  response.setHeader('content-type', 'application/json')
  response.end('{"time":1,"specialStatuses":null}')
})
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
const node = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
const port = 21_000 + (process.pid % 9_000)

let gateway: GatewayChild = await startGatewayChild(state, port, node)
const issued = await gateway.admin('POST', '/keys', { credits: GRANTED, plan: 'enterprise' })
const [key, account] = [String(issued.key), String(issued.account)]
let served = 0
let lost = 0

/** Calls until told to stop. A call without an answer may have been charged or not. */
async function callUntil(stop: () => boolean): Promise<void> {
  while (!stop()) {
    try {
      const answer = await fetch(`${gateway.url}/info`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"type":"exchangeStatus"}',
      })
      if (answer.status === 200) served++
      await answer.text()
    } catch {
      lost++
      await sleep(5)
    }
  }
}

async function sums(): Promise<{ spent: number; held: number; granted: number; written_off: number; balance: number }> {
  for (let tries = 0; ; tries++) {
    try {
      const shown = await gateway.admin('GET', `/accounts/${account}`)
      const number = (name: string) => Number(shown[name])
      return {
        spent: number('spent'),
        held: number('held'),
        granted: number('granted'),
        written_off: number('written_off'),
        balance: number('balance'),
      }
    } catch (error) {
      if (tries > 100) throw error
      await sleep(100)
    }
  }
}

/** One round of calls that ends with a kill; answers what leases held when all was over. */
async function round(number: number): Promise<void> {
  let killed = false
  const callers = Array.from({ length: IN_FLIGHT }, () => callUntil(() => killed))
  await sleep(200 + random() * 2_500)
  const workerd = gateway.workerd()
  if (number % 5 === 4) await gateway.end('SIGKILL')
  else if (workerd !== undefined) process.kill(workerd, 'SIGKILL')
  killed = true
  await Promise.all(callers)
  if (number % 5 === 4) gateway = await startGatewayChild(state, port, node)
}

let unaccounted = 0
let worst = 0
try {
  for (let number = 0; number < kills; number++) {
    const before = { served, ...(await sums()) }
    await round(number)
    const after = await sums()
    const missing = served - before.served - (after.spent - before.spent)
    unaccounted += Math.max(0, missing)
    const lease = after.held - before.held
    worst = Math.max(worst, missing)
    check(missing <= Math.max(0, lease), `kill ${number}: ${missing} served and not charged, its lease held ${lease}`)
    check(after.spent <= after.granted, `kill ${number}: spent ${after.spent} of ${after.granted}`)
  }
  await sleep(RETURNED_AFTER_MS)
  const end = await sums()
  const usage = (await (
    await fetch(`${gateway.url}/platform/usage/`, { headers: { authorization: `Bearer ${key}` } })
  ).json()) as { data: { aggregate: { credits_consumed: number } } }
  check(end.held === 0, `leases still hold ${end.held}`)
  check(end.balance === end.granted - end.spent, `balance ${end.balance} of ${end.granted}, spent ${end.spent}`)
  check(end.spent <= served + lost, `charged ${end.spent}, served ${served}, without an answer ${lost}`)
  check(served - end.spent <= unaccounted, `served ${served}, charged ${end.spent}, lost with leases ${unaccounted}`)
  const { credits_consumed: used } = usage.data.aggregate
  check(used === end.spent, `usage rows say ${used}, the ledger ${end.spent}`)
  console.log(
    `seed ${seed}: ${kills} kills, ${served} calls served, ${end.spent} charged, ${lost} without an answer; ` +
      `at most ${worst} a kill served and not charged; written off ${end.written_off}; usage rows equal the ledger`,
  )
} finally {
  await gateway.end('SIGKILL')
  upstream.close()
  rmSync(state, { recursive: true, force: true })
}

function check(holds: boolean, words: string): void {
  if (!holds) throw new Error(`seed ${seed}: ${words}`)
}
