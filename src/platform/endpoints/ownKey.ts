// GET /platform/key/: what a key may know of itself. Numbers are the meter's own of this moment.

import * as z from 'zod'
import { limitsOf } from '../../credit/plans/plan.ts'
import { PRODUCTS, PRODUCTS_TEXT } from '../../key/identity.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { CreditsNumber, creditsNumber, enveloped, inEnvelope } from '../envelope.ts'
import { AccountId, UnixMs } from '../fields.ts'
import { Kind, Label } from '../key-shapes.ts'
import { LIMITS_EXAMPLE, PlanName, ShownLimits, shownLimits } from '../plan-shapes.ts'

const OwnKey = z
  .object({
    apikey: z.string().nullable().describe('The key’s first twelve characters'),
    label: Label,
    kind: Kind,
    products: z.array(z.enum(PRODUCTS)).describe(`What it is for. ${PRODUCTS_TEXT}`),
    created: UnixMs.nullable().describe('When it was made, Unix milliseconds'),
    expires: UnixMs.nullable().describe('When it ends, Unix milliseconds; null: never'),
    account: AccountId,
    plan: PlanName,
    credits_remaining: CreditsNumber.describe('The account’s balance: credits that it may still spend'),
    cap: CreditsNumber.nullable().describe(
      'Credits that the key, with those that it replaced, may spend in all its time; null: no cap. Its operator can raise it',
    ),
    cap_remaining: CreditsNumber.nullable().describe('What is left of the cap; null: no cap'),
    spent: CreditsNumber.describe('Credits that the account’s calls and minutes cost, since it was made'),
    period: z
      .object({
        since: UnixMs.describe('When it began, Unix milliseconds'),
        until: UnixMs.nullable().describe('When it ends, Unix milliseconds; null: it does not, or the trial is over'),
        credits: CreditsNumber.describe('What the plan gave for it'),
      })
      .nullable()
      .describe('The plan’s period that runs now'),
    limits: ShownLimits.describe('What the key and its account may do apart from credits'),
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
          cap: null,
          cap_remaining: null,
          spent: 3.13,
          period: { since: 1790000000000, until: 1792540800000, credits: 10000 },
          limits: LIMITS_EXAMPLE,
        }),
      },
    },
    refusals: [],
  },
  async ({ identity }, { keys, meterOf }) => {
    const meter = meterOf(identity.account)
    const [sums, state, key] = await Promise.all([
      meter.balance(identity.keyHash),
      meter.plan(),
      keys.hashed(identity.keyHash),
    ])
    const balance = sums.available + sums.held
    const report = {
      apikey: key?.prefix ?? null,
      label: key?.label ?? '',
      kind: identity.kind,
      products: identity.products,
      created: key?.created ?? null,
      expires: key?.expires ?? null,
      account: identity.account,
      plan: identity.plan,
      credits_remaining: creditsNumber(balance),
      cap: key?.cap == null ? null : creditsNumber(key.cap),
      // A meter of the version before does not tell.
      cap_remaining: key?.cap == null || sums.capLeft === undefined ? null : creditsNumber(sums.capLeft),
      spent: creditsNumber(sums.spent),
      period:
        state === null ? null : { since: state.sinceMs, until: state.untilMs, credits: creditsNumber(state.micro) },
      limits: shownLimits(limitsOf(identity)),
    }
    // Of a key with a cap the headers say what that leaves.
    return reply(200, inEnvelope(report), key?.cap == null ? { left: balance } : {})
  },
)
