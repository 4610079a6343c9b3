// The specification's plans, which seed the plans table (schemas/d1/accounts). Afterwards the table is authoritative;
// these values apply only to callers whose record has no limits.

import type { Identity } from '../../accounts/identity.ts'
import type { Limits } from '../../accounts/limits.ts'
import { type Credits, MICRO_PER_CREDIT, type MicroCredits } from '../../core/amount.ts'

/** Credits of a plan and their period. */
export interface PlanTerms {
  readonly micro: MicroCredits
  readonly period: 'once' | 'month'
  /** A `once` plan expires after this many days; null: never. */
  readonly days: number | null
}

export interface Plan {
  readonly name: string
  readonly terms: PlanTerms
  readonly limits: Limits
  readonly custom: boolean
}

/** A plan with its number of accounts. */
export interface ListedPlan extends Plan {
  readonly accounts: number
}

const credits = (count: Credits): MicroCredits => count * MICRO_PER_CREDIT

/** Limits of the small plans. They are generous; heavier users need a larger plan. */
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

/**
 * Limits of a caller. If its record has no limits, the plan's initial limits apply. If the plan is unknown too, the
 * trial's limits apply.
 */
export function limitsOf({ limits, plan }: Pick<Identity, 'limits' | 'plan'>): Limits {
  if (limits !== undefined) return limits
  return Object.hasOwn(PLANS, plan) ? PLANS[plan as keyof typeof PLANS].limits : PLANS.trial.limits
}

/** Terms of one account that override its plan: credits per period, and limits. */
export type AccountTerms = { readonly [name in keyof Limits]?: Limits[name] | undefined } & {
  readonly micro?: MicroCredits | undefined
}

/** Terms of an account on this plan. */
export function effectiveTerms({ terms }: Pick<Plan, 'terms'>, { micro }: AccountTerms): PlanTerms {
  return { ...terms, micro: micro ?? terms.micro }
}
