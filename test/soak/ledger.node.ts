// The credits of a soak: creates accounts and keys through the admin API, and finally compares each key's charges with
// what its client was served.

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseCredits } from '../../src/core/amount.ts'
import { ledgerViolation } from '../kit/ledger-invariant.ts'
import type { Tally } from './clients.node.ts'
import { type ClientPlan, creditsOf } from './mix.ts'
import type { Plant } from './plant.node.ts'

const AT_ONCE = 8
/** Leases that died are reclaimed, and all that is owed is reported, within so long. */
const SETTLED_WITHIN_MS = 180_000

export type Keyed = ClientPlan & { readonly key: string }

interface UsageRow {
  readonly hash: string
  readonly type: string
  readonly credits: string
}

interface Shown {
  readonly granted: string
  readonly balance: string
  readonly spent: string
  readonly held: string
  readonly written_off: string
}

/** Sums in micro-credits. */
export interface Audit {
  readonly accounts: number
  readonly compared: number
  readonly charged: number
  readonly least: number
  readonly most: number
  readonly writtenOff: number
  readonly faults: readonly string[]
}

const micro = (text: string): number => {
  const amount = parseCredits(text)
  if (!amount.ok) throw new Error(`${text}: ${amount.error}`)
  return amount.value
}

/** A key for each client, of the account of its plan. */
export async function issueKeys(plant: Plant, plans: readonly ClientPlan[]): Promise<Keyed[]> {
  for (const account of new Set(plans.map((plan) => plan.account))) {
    await plant.operate('PUT', `/accounts/${account}`, { plan: 'enterprise', credits: String(creditsOf(account)) })
  }
  const keyed: Keyed[] = []
  for (let from = 0; from < plans.length; from += AT_ONCE) {
    const some = plans.slice(from, from + AT_ONCE).map(async (plan) => {
      const order = { account: plan.account, label: `${plan.kind} ${plan.number}` }
      return { ...plan, key: (await plant.operate<{ key: string }>('POST', '/keys', order)).key }
    })
    keyed.push(...(await Promise.all(some)))
  }
  return keyed
}

/** Waits until nothing is lent any more, then compares. */
export async function audit(plant: Plant, clients: readonly Keyed[], tallies: readonly Tally[]): Promise<Audit> {
  const accounts = [...new Set(clients.map(({ account }) => account))]
  const deadline = Date.now() + SETTLED_WITHIN_MS
  const faults: string[] = []
  const sums = { charged: 0, least: 0, most: 0, writtenOff: 0 }
  const charges = new Map<string, number>()
  for (const account of accounts) {
    const { shown, rows } = await settled(plant, account, deadline)
    sums.writtenOff += micro(shown.written_off)
    if (micro(shown.held) !== 0) faults.push(`${account}: ${shown.held} credits are still held`)
    const used = rows.reduce((sum, row) => sum + micro(row.credits), 0)
    // What is lent is in the balance.
    const amounts = {
      granted: micro(shown.granted),
      available: micro(shown.balance),
      held: 0,
      spent: micro(shown.spent),
    }
    const fault = ledgerViolation({ ...amounts, used })
    if (fault !== null) faults.push(`${account}: ${fault}`)
    for (const { hash, type, credits } of rows) {
      const name = `${hash} ${type}`
      charges.set(name, (charges.get(name) ?? 0) + micro(credits))
    }
  }
  let compared = 0
  for (const { number, bounds, ends } of tallies) {
    const { key, kind, account } = clients.find((client) => client.number === number)!
    const hash = createHash('sha256').update(key).digest('hex')
    for (const { type, least, most } of bounds) {
      const charged = charges.get(`${hash} ${type}`) ?? 0
      charges.delete(`${hash} ${type}`)
      compared++
      sums.charged += charged
      sums.least += least
      sums.most += most
      const said = `client ${number} (${kind}, ${account}, ${JSON.stringify(ends)}), ${type}: charged ${charged / 1e6}`
      if (charged > most) faults.push(`${said}, served for at most ${most / 1e6}`)
      if (charged < least && !kind.startsWith('poor')) faults.push(`${said}, served for at least ${least / 1e6}`)
    }
  }
  for (const [name, charged] of charges) if (charged > 0) faults.push(`${name}: charged ${charged / 1e6} for nothing`)
  return { accounts: accounts.length, compared, ...sums, faults }
}

/** An account and its usage of one moment, in which nothing is held: minutes of streams are reported late. */
async function settled(plant: Plant, account: string, deadline: number): Promise<{ shown: Shown; rows: UsageRow[] }> {
  const look = () => plant.operate<Shown>('GET', `/accounts/${account}`)
  for (;;) {
    const shown = await look()
    const rows = await usageOf(plant, account)
    const isStill = micro(shown.held) === 0 && (await look()).spent === shown.spent
    if (isStill || Date.now() > deadline) return { shown, rows }
    await sleep(1_000)
  }
}

async function usageOf(plant: Plant, account: string): Promise<UsageRow[]> {
  const rows: UsageRow[] = []
  for (let next: string | null = ''; next !== null; ) {
    const more = next === '' ? '' : `?after=${next}`
    const page: { rows: UsageRow[]; next: string | null } = await plant.operate(
      'GET',
      `/accounts/${account}/usage${more}`,
    )
    rows.push(...page.rows)
    next = page.next
  }
  return rows
}
