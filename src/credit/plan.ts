// The plans as data. Renewal by calendar is a rule of its own; here stands only what each plan gives.

import { MICRO_PER_CREDIT } from './amount.ts'
import type { MicroCredits } from './meter-api.ts'

export interface Plan {
  readonly name: string
  /** REST data API and JSON-RPC, per key and address. Null: agreed per account. */
  readonly requestsPerSecond: number | null
  /** The specification has no limit for info; a generous bound against accidents. */
  readonly infoRequestsPerSecond: number
  readonly streamSubscriptions: number
  readonly credits: { readonly micro: MicroCredits; readonly every: 'once' | 'month' }
  /** Null: does not end. */
  readonly days: number | null
}

const credits = (count: number, every: 'once' | 'month') => ({ micro: count * MICRO_PER_CREDIT, every })

export const PLANS = {
  trial: {
    name: 'trial',
    requestsPerSecond: 4,
    infoRequestsPerSecond: 1_000,
    streamSubscriptions: 1_000,
    credits: credits(25_000, 'once'),
    days: 14,
  },
  entry: {
    name: 'entry',
    requestsPerSecond: 4,
    infoRequestsPerSecond: 1_000,
    streamSubscriptions: 1_000,
    credits: credits(10_000, 'month'),
    days: null,
  },
  professional: {
    name: 'professional',
    requestsPerSecond: 50,
    infoRequestsPerSecond: 5_000,
    streamSubscriptions: 10_000,
    credits: credits(300_000, 'month'),
    days: null,
  },
  enterprise: {
    name: 'enterprise',
    requestsPerSecond: null,
    infoRequestsPerSecond: 50_000,
    streamSubscriptions: 100_000,
    credits: credits(0, 'month'),
    days: null,
  },
} as const satisfies Record<string, Plan>

export type PlanName = keyof typeof PLANS

/** The plan of this name; of a name that no longer exists the trial's terms, the narrowest. */
export function planNamed(name: string): Plan {
  return Object.hasOwn(PLANS, name) ? PLANS[name as PlanName] : PLANS.trial
}

export const PLAN_NAMES = Object.keys(PLANS) as PlanName[]
