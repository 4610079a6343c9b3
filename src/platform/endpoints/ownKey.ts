// GET /platform/key/: what a key may know of itself. Numbers are the meter's own of this moment.

import * as z from 'zod'
import { leftOf } from '../../credit/account-state.ts'
import { formatCredits } from '../../credit/amount.ts'
import { limitsOf } from '../../credit/plans/plan.ts'
import { PRODUCTS, PRODUCTS_TEXT } from '../../key/identity.ts'
import { PERIOD_EXAMPLE, Period, SUMS, shownPeriod, shownSums } from '../account-shapes.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { AccountId, CreditsText, UnixMs } from '../fields.ts'
import { Kind, Label } from '../key-shapes.ts'
import { LIMITS_EXAMPLE, PlanName, ShownLimits, shownLimits } from '../plan-shapes.ts'

const OwnKey = z
  .object({
    prefix: z.string().nullable().describe('The key’s first twelve characters'),
    label: Label,
    kind: Kind,
    products: z.array(z.enum(PRODUCTS)).describe(`What it is for. ${PRODUCTS_TEXT}`),
    created: UnixMs.nullable().describe('When it was made, Unix milliseconds'),
    expires: UnixMs.nullable().describe('When it ends, Unix milliseconds; null: never'),
    account: AccountId,
    plan: PlanName,
    balance: SUMS.balance,
    cap: CreditsText.nullable().describe(
      'Credits that the key, with those that it replaced, may spend in all its time; null: no cap. Its operator can raise it',
    ),
    cap_remaining: CreditsText.nullable().describe('What is left of the cap; null: no cap'),
    spent: SUMS.spent,
    period: Period.nullable().describe('Null: the account was made before plans had periods'),
    limits: ShownLimits.describe('What the key and its account may do apart from credits'),
  })
  .meta({ id: 'OwnKey' })

export const ownKey = defineEndpoint(
  {
    id: 'ownKey',
    method: 'get',
    path: '/platform/key/',
    summary: 'The key itself: its account’s balance, its plan and its limits',
    description: 'Free of charge, with or without the last slash.',
    door: 'key',
    everyKey: true,
    answers: {
      200: {
        description: 'The key',
        schema: enveloped(OwnKey),
        example: inEnvelope({
          prefix: 'cqt_9fKxWq2T',
          label: 'bot',
          kind: 'api',
          products: ['info', 'stream', 'platform'],
          created: 1790000000000,
          expires: null,
          account: 'acme',
          plan: 'entry',
          balance: '9996.87',
          cap: null,
          cap_remaining: null,
          spent: '3.13',
          period: PERIOD_EXAMPLE,
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
    const { balance, spent } = shownSums(sums)
    const report = {
      prefix: key?.prefix ?? null,
      label: key?.label ?? '',
      kind: identity.kind,
      products: identity.products,
      created: key?.created ?? null,
      expires: key?.expires ?? null,
      account: identity.account,
      plan: identity.plan,
      balance,
      cap: key?.cap == null ? null : formatCredits(key.cap),
      // A meter of the version before does not tell.
      cap_remaining: key?.cap == null || sums.capLeft === undefined ? null : formatCredits(sums.capLeft),
      spent,
      period: state === null ? null : shownPeriod(state),
      limits: shownLimits(limitsOf(identity)),
    }
    // Of a key with a cap the headers say what that leaves.
    return reply(200, inEnvelope(report), key?.cap == null ? { left: leftOf(sums) } : {})
  },
)
