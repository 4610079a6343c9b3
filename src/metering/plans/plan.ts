// The plans of the specification, with which the table of plans begins (schemas/d1/accounts). From then on the table is
// the truth: accounts take their terms from there, and what is here answers for callers whose record carries none.

import type { Identity } from '../../accounts/identity.ts'
import type { Limits } from '../../accounts/limits.ts'
import { type Credits, MICRO_PER_CREDIT, type MicroCredits } from '../../core/amount.ts'

/** What a meter must know of a plan: how much it gives, and when again. */
export interface PlanTerms {
  readonly micro: MicroCredits
  readonly period: 'once' | 'month'
  /** After so many days a plan of the period `once` ends with what it has left; null: never. */
  readonly days: number | null
}

export interface Plan {
  readonly name: string
  readonly terms: PlanTerms
  readonly limits: Limits
  readonly custom: boolean
}

/** A plan of the table with the number of accounts on it. */
export interface ListedPlan extends Plan {
  readonly accounts: number
}

const credits = (count: Credits): MicroCredits => count * MICRO_PER_CREDIT

/** One of small plans and generous: who needs more is on a larger one. */
const SMALL = {
  requestsPerSecond: 4,
  infoRequestsPerSecond: 1_000,
  streamConnections: 100,
  streamSubscriptions: 1_000,
  streamMessagesPerMinute: 2_000,
}

export const PLANS = {
  trial: {
    name: 'trial',
    terms: { micro: credits(25_000), period: 'once', days: 14 },
    limits: SMALL,
    custom: false,
  },
  entry: {
    name: 'entry',
    terms: { micro: credits(10_000), period: 'month', days: null },
    limits: SMALL,
    custom: false,
  },
  professional: {
    name: 'professional',
    terms: { micro: credits(300_000), period: 'month', days: null },
    limits: {
      requestsPerSecond: 50,
      infoRequestsPerSecond: 5_000,
      streamConnections: 1_000,
      streamSubscriptions: 10_000,
      streamMessagesPerMinute: 2_000,
    },
    custom: false,
  },
  enterprise: {
    name: 'enterprise',
    terms: { micro: 0, period: 'month', days: null },
    limits: {
      requestsPerSecond: null,
      infoRequestsPerSecond: 50_000,
      streamConnections: 10_000,
      streamSubscriptions: 100_000,
      streamMessagesPerMinute: 10_000,
    },
    custom: true,
  },
} as const satisfies Record<string, Plan>

/** What a caller may do. One whose record carries no limits has those that its plan began with, or the narrowest. */
export function limitsOf({ limits, plan }: Pick<Identity, 'limits' | 'plan'>): Limits {
  if (limits !== undefined) return limits
  return Object.hasOwn(PLANS, plan) ? PLANS[plan as keyof typeof PLANS].limits : PLANS.trial.limits
}

/** What was agreed with one account in place of its plan's own: credits a period, and limits. */
export type AccountTerms = { readonly [name in keyof Limits]?: Limits[name] | undefined } & {
  readonly micro?: MicroCredits | undefined
}

/** What an account on this plan is given. */
export function effectiveTerms({ terms }: Pick<Plan, 'terms'>, { micro }: AccountTerms): PlanTerms {
  return { ...terms, micro: micro ?? terms.micro }
}
