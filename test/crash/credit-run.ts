// Runs metered calls while workerd, or the gateway's whole process group, is killed at random points. Then compares the
// ledger with the calls served. Throws if an invariant is violated.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type GatewayProcess, startGateway } from '../kit/gateway.ts'
import { startServer } from '../kit/http-server.ts'
import { ledgerViolation } from '../kit/ledger-invariant.ts'
import { lastingPort, scratch } from '../kit/program.ts'
import { seededRandom } from '../kit/random.ts'
import { until } from '../kit/until.ts'

export interface CrashOrder {
  readonly calls: number
  readonly kills: number
  /** Every n-th kill ends the gateway's whole process group, the others only workerd. */
  readonly groupEvery: number
  readonly seed: number
  /** Waits more than a minute, until dead leases are reclaimed. */
  readonly awaitReturn: boolean
  readonly say: (line: string) => void
}

/** Amounts are micro-credits. */
export interface CrashReport {
  readonly calls: number
  readonly served: number
  /** Calls whose response was lost with the process: charged or not. */
  readonly unanswered: number
  /** Responses with a status other than 200, which are free. */
  readonly refused: number
  readonly charged: number
  readonly granted: number
  readonly groupKills: number
  /** Served but never charged, per kill: spending not yet reported. */
  readonly lost: readonly number[]
  /** Held by leases right after the last kill; 0 after they end, if that was awaited. */
  readonly heldAtEnd: number
}

const IN_FLIGHT = 16
const CREDIT = 1_000_000
const RETURNED_WITHIN_MS = 120_000
/** Every ten minutes, up to two minutes late. */
const USAGE_COPIED_WITHIN_MS = 750_000

interface LeaseRow {
  readonly id: string
  readonly rest: number
}

export async function crashRun(order: CrashOrder): Promise<CrashReport> {
  const random = seededRandom(order.seed)
  const folder = scratch()
  const state = folder.path
  const upstream = await startServer((_, response) => {
    response.setHeader('content-type', 'application/json').end('{"time":1,"specialStatuses":null}')
  })
  const start = () => startGateway(state, lastingPort(), upstream.url)
  const check = (holds: boolean, words: string) => {
    if (!holds) throw new Error(`seed ${order.seed}: ${words}`)
  }
  let gateway = await start()
  try {
    const { key, account } = await gateway.issue(String(2 * order.calls), { plan: 'enterprise' })
    let calls = 0
    let served = 0
    let unanswered = 0
    let refused = 0
    let at = 0
    let isDown = false

    const callUntil = async (stop: () => boolean) => {
      while (!stop()) {
        calls++
        try {
          const answer = await gateway.info(key, '{"type":"exchangeStatus"}')
          // Counted only once complete: a truncated response gives the caller nothing.
          await answer.arrayBuffer()
          if (answer.status === 200) served++
          else refused++
        } catch {
          unanswered++
          await sleep(5)
        }
      }
    }
    const runTo = (count: number) => {
      at = count
      return Array.from({ length: IN_FLIGHT }, () => callUntil(() => isDown || calls >= at))
    }

    const lost: number[] = []
    const known = new Set<string>()
    let groupKills = 0
    for (let number = 0; number < order.kills; number++) {
      // One kill in each slice of the run, at a random call.
      const point = Math.floor((order.calls * (number + random())) / order.kills)
      const before = { served, unanswered, charged: (await sums(gateway, account)).charged }
      isDown = false
      const callers = runTo(Number.POSITIVE_INFINITY)
      while (calls < point) await sleep(1)
      const workerd = gateway.workerd()
      const isGroup = number % order.groupEvery === order.groupEvery - 1
      if (isGroup) await gateway.stop('SIGKILL')
      else if (workerd !== undefined) process.kill(workerd, 'SIGKILL')
      check(isGroup || workerd !== undefined, `kill ${number}: no workerd to kill`)
      isDown = true
      await Promise.all(callers)
      if (isGroup) {
        groupKills++
        gateway = await start()
      }
      const after = await sums(gateway, account)
      const dead = openLeases(state).filter(({ id }) => !known.has(id))
      for (const { id } of dead) known.add(id)
      const missing = (served - before.served) * CREDIT - (after.charged - before.charged)
      const rest = dead.reduce((sum, lease) => sum + lease.rest, 0)
      lost.push(Math.max(0, missing))
      check(dead.length <= gateway.isolates, `kill ${number} left ${dead.length} leases`)
      check(missing <= rest, `kill ${number}: ${missing} served and not charged, its lease had ${rest}`)
      check(-missing <= (unanswered - before.unanswered) * CREDIT, `kill ${number}: ${-missing} charged and not served`)
      check(after.charged <= after.granted, `kill ${number}: charged ${after.charged} of ${after.granted}`)
      if ((number + 1) % 10 === 0) order.say(`${number + 1} kills, ${calls} calls, ${served} served`)
    }
    isDown = false
    await Promise.all(runTo(order.calls))

    const heldAfterKills = (await sums(gateway, account)).held
    if (order.awaitReturn) {
      order.say(`waiting for ${heldAfterKills / CREDIT} credits of dead leases`)
      const isReturned = async () => (await sums(gateway, account)).held === 0
      await until(isReturned, 'leases still hold credits', { withinMs: RETURNED_WITHIN_MS })
      const isCopied = () => sumOfUsage(usageFile(state), 'micro') === ledgerOf(state).charged
      await until(isCopied, 'usage is not copied to D1', { withinMs: USAGE_COPIED_WITHIN_MS })
    }
    const lostInAll = lost.reduce((sum, each) => sum + each, 0)
    // The surviving isolate reports within eleven seconds.
    const missing = async () => served * CREDIT - (await sums(gateway, account)).charged
    await until(async () => (await missing()) <= lostInAll, 'spending was served but neither charged nor lost', {
      withinMs: 60_000,
    })
    await gateway.stop('SIGKILL')
    // Nothing changes from here on; spending before the end may have been reported since.
    const end = ledgerOf(state)
    const fault = ledgerViolation({ ...end, spent: end.charged, used: usedOf(state) })
    check(fault === null, String(fault))
    check(end.charged <= (served + unanswered) * CREDIT, `charged ${end.charged}, served ${served}, lost ${unanswered}`)
    if (order.awaitReturn) {
      const copied = sumOfUsage(usageFile(state), 'micro')
      check(copied === end.charged, `usage rows in D1 say ${copied}, the ledger ${end.charged}`)
    }
    return {
      calls,
      served,
      unanswered,
      refused,
      charged: end.charged,
      granted: end.granted,
      groupKills,
      lost,
      heldAtEnd: end.held,
    }
  } finally {
    await gateway.stop('SIGKILL')
    upstream.close()
    folder.remove()
  }
}

/** The account as shown by its meter, in micro-credits; retried while the gateway restarts. */
async function sums(gateway: GatewayProcess, account: string) {
  for (let tries = 0; ; tries++) {
    try {
      const { body: shown } = await gateway.admin('GET', `/accounts/${account}`)
      // All prices of a run are whole credits, so these texts are integers.
      const micro = (name: string) => Number(shown[name]) * CREDIT
      const answer = {
        charged: micro('spent'),
        held: micro('held'),
        granted: micro('granted'),
        balance: micro('balance'),
      }
      if (Object.values(answer).every(Number.isSafeInteger)) return answer
    } catch (error) {
      if (tries > 300) throw error
    }
    await sleep(100)
  }
}

/** Storage of the run's only meter. */
function meterFile(state: string): string {
  const [file, ...more] = globSync(join(state, 'v3/**/*CreditMeter*/**/*.sqlite')).filter((path) =>
    hasTable(path, 'leases'),
  )
  if (file === undefined || more.length > 0) throw new Error(`${more.length + 1} files of meters below ${state}`)
  return file
}

function usageFile(state: string): string {
  const file = globSync(join(state, 'v3/d1/**/*.sqlite')).find((path) => hasTable(path, 'usage_days'))
  if (file === undefined) throw new Error(`no D1 file below ${state}`)
  return file
}

function hasTable(file: string, name: string): boolean {
  return query<object>(file, `SELECT 1 FROM sqlite_master WHERE name = '${name}'`).length > 0
}

function ledgerOf(state: string) {
  type Ledger = Record<'available' | 'held' | 'charged' | 'granted', number>
  return query<Ledger>(meterFile(state), 'SELECT available, held, spent AS charged, granted FROM account')[0]!
}

function openLeases(state: string): LeaseRow[] {
  return query(meterFile(state), 'SELECT id, granted - settled AS rest FROM leases WHERE open = 1')
}

/** Usage of the run's only account, that of this hour included. */
function usedOf(state: string): number {
  const select = `SELECT coalesce(sum(value ->> 'amount'), 0) AS sum FROM account, json_each(account.usage)`
  return sumOfUsage(meterFile(state), 'amount') + query<{ sum: number }>(meterFile(state), select)[0]!.sum
}

function sumOfUsage(file: string, column: string): number {
  return query<{ sum: number }>(file, `SELECT coalesce(sum(${column}), 0) AS sum FROM usage`)[0]!.sum
}

/** Read beside workerd, which uses a write-ahead log: readers see complete transactions. */
function query<Row>(file: string, sql: string): Row[] {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  try {
    return database.prepare(sql).all() as Row[]
  } finally {
    database.close()
  }
}
