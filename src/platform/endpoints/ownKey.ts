// GET /platform/key/: what a key may know of itself. Numbers are the meter's own of this moment.

import * as z from 'zod'
import { limitsOf } from '../../credit/plans/plan.ts'
import { PRODUCTS } from '../../key/identity.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { CreditsNumber, creditsNumber, enveloped, inEnvelope } from '../envelope.ts'
import { UnixMs } from '../fields.ts'
import { LIMITS_EXAMPLE, ShownLimits, shownLimits } from '../plan-shapes.ts'

const OwnKey = z
  .object({
    apikey: z.string().nullable(),
    label: z.string(),
    kind: z.enum(['api', 'service']),
    products: z.array(z.enum(PRODUCTS)),
    created: UnixMs.nullable(),
    expires: UnixMs.nullable(),
    account: z.string(),
    plan: z.string(),
    credits_remaining: CreditsNumber,
    credits_spent: CreditsNumber,
    period: z.object({ from: UnixMs, to: UnixMs.nullable(), credits: CreditsNumber }).nullable(),
    limits: ShownLimits,
  })
  .meta({ id: 'OwnKey' })

export const ownKey = defineEndpoint(
  {
    id: 'ownKey',
    method: 'get',
    path: '/platform/key/',
    summary: 'The key itself: its account’s balance, its plan and its limits',
    description: 'Free of charge, with an API or a service key, with or without the last slash.',
    door: 'key',
    answers: {
      200: {
        description: 'The key',
        schema: enveloped(OwnKey),
        example: inEnvelope({
          apikey: 'cqt_9fKxWq2T',
          label: 'bot',
          kind: 'api',
          products: ['info', 'stream', 'platform'],
          created: 1790000000000,
          expires: null,
          account: 'acme',
          plan: 'entry',
          credits_remaining: 9996.87,
          credits_spent: 3.13,
          period: { from: 1790000000000, to: 1792540800000, credits: 10000 },
          limits: LIMITS_EXAMPLE,
        }),
      },
    },
    refusals: [],
  },
  async ({ identity }, { keys, meterOf }) => {
    const meter = meterOf(identity.account)
    const [sums, state, key] = await Promise.all([meter.balance(), meter.plan(), keys.hashed(identity.keyHash)])
    const report = {
      apikey: key?.prefix ?? null,
      label: key?.label ?? '',
      kind: identity.kind,
      products: identity.products,
      created: key?.created ?? null,
      expires: key?.expires ?? null,
      account: identity.account,
      plan: identity.plan,
      credits_remaining: creditsNumber(sums.available + sums.held),
      credits_spent: creditsNumber(sums.spent),
      period: state === null ? null : { from: state.sinceMs, to: state.untilMs, credits: creditsNumber(state.micro) },
      limits: shownLimits(limitsOf(identity)),
    }
    return reply(200, inEnvelope(report))
  },
)
