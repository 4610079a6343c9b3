// Operator endpoints for accounts: create, show, change plan and grant credits.

import * as z from 'zod'
import { isWalletAccount } from '../../../billing/x402/booking.ts'
import { formatCredits } from '../../../core/amount.ts'
import { AccountId } from '../../../core/ids.ts'
import type { AccountState } from '../../../metering/account-state.ts'
import { remainingOf } from '../../../metering/account-state.ts'
import type { PlanState } from '../../../metering/plans/plan-period.ts'
import { ACCOUNT_PARAMS } from '../account-resource.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import {
  Before,
  Credits,
  CreditsText,
  IdempotencyKey,
  Limit,
  MeterRegion,
  MicroText,
  Next,
  nextCursor,
  pageOf,
  SearchText,
  UnixMs,
  withoutNumber,
} from '../fields.ts'
import { KeyViewWithCap, keyViewWithCap } from '../key-shapes.ts'
import { AgreedTerms, PlanName, TermsView, termsView } from '../plan-shapes.ts'
import { BillingDetailsView } from './billing.ts'

/** Credit sums of an account, described once. */
export const SUMS = {
  balance: CreditsText.describe('Credit balance of the account'),
  spent: CreditsText.describe('Total credits used by calls, stream minutes and pipeline rows'),
  granted: CreditsText.describe('Total credits from plans and grants, minus expired ones; equals balance plus spent'),
}
export const Period = z
  .object({
    since: UnixMs.describe('Start, Unix milliseconds'),
    until: UnixMs.nullable().describe('End, Unix milliseconds; null: the period has no end, or the trial is over'),
    credits: CreditsText.describe('Credits granted for this period'),
    renews_with: CreditsText.describe('Credits granted for each later period'),
  })
  .meta({ id: 'Period', description: 'Current period of the plan' })
/** Response view of the credit sums. */
export function sumsView(account: AccountState) {
  return {
    balance: formatCredits(account.available + account.held),
    spent: formatCredits(account.spent),
    granted: formatCredits(account.granted),
  }
}

/** Response view of a plan period. */
export function periodView({ sinceMs, untilMs, micro, everyMicro }: PlanState): z.infer<typeof Period> {
  return { since: sinceMs, until: untilMs, credits: formatCredits(micro), renews_with: formatCredits(everyMicro) }
}

const ListedAccount = z
  .object({
    account: AccountId,
    plan: PlanName,
    created: UnixMs.describe('Creation time, Unix milliseconds'),
    keys: z.int().describe('Number of active keys'),
    last_used: UnixMs.nullable().describe(
      'Start of the last hour with charged usage; null: never, or meter unavailable',
    ),
    balance: CreditsText.nullable().describe('Credit balance; null: meter unavailable'),
  })
  .meta({ id: 'ListedAccount' })

const listAccounts = defineEndpoint({
  id: 'listAccounts',
  route: 'GET /admin/accounts',
  summary: 'List accounts, with their plan and balance',
  description: 'If `next` is not null, request the next page with `after` = `next`.',
  query: z.strictObject({
    search: SearchText.optional().describe('Part of the name, case-insensitive'),
    plan: PlanName.optional().describe('Only accounts on this plan'),
    after: AccountId.optional().describe('Value of `next` from the previous page'),
    limit: Limit,
  }),
  responses: okResponse(
    'A page of accounts',
    z.object({
      accounts: z.array(ListedAccount).describe('Accounts by name'),
      next: AccountId.nullable().describe('Cursor for the next page; null: last page'),
    }),
    { accounts: [{ keys: 2 }] },
  ),
  handle: async ({ query: { search, plan, after = '', limit } }, { rows, meterOf, now }) => {
    const select = `SELECT id AS account, plan, created,
      (SELECT count(*) FROM keys WHERE account = a.id AND revoked IS NULL AND (expires IS NULL OR expires > ?1)) AS keys
      FROM accounts a WHERE id > ?2 AND (?3 IS NULL OR instr(lower(id), lower(?3)) > 0) AND (?4 IS NULL OR plan = ?4)
      ORDER BY id LIMIT ?5`
    const found = await rows(
      ListedAccount.omit({ balance: true, last_used: true }),
      select,
      now(),
      after,
      search,
      plan,
      limit + 1,
    )
    const page = found.slice(0, limit)
    const sums = await Promise.allSettled(page.map(({ account }) => meterOf(account).balance()))
    const accounts = page.map((row, i) => {
      const sum = sums[i]
      if (sum?.status !== 'fulfilled') return { ...row, last_used: null, balance: null }
      return { ...row, last_used: sum.value.lastUsedMs, balance: formatCredits(remainingOf(sum.value)) }
    })
    return reply(200, { accounts, next: nextCursor(found, limit, ({ account }) => account) })
  },
})

const EnsureResult = z.object({
  account: AccountId,
  created: z.boolean().describe('Whether this call created the account'),
  ...SUMS,
})

const NewAccountId = AccountId.refine(
  (id) => !isWalletAccount(id),
  'must not start with "x402-". Only a payment by x402 creates the account of a wallet',
).describe('Account name')

const ensureAccount = defineEndpoint({
  id: 'ensureAccount',
  route: 'PUT /admin/accounts/{id}',
  summary: 'Create an account; an existing account stays unchanged',
  description:
    '`credits` replaces the credits of the first period; they do not expire. `terms` is accepted only with a custom plan.',
  params: { id: NewAccountId },
  body: {
    schema: z.strictObject({
      plan: PlanName.default('trial'),
      terms: AgreedTerms.prefault({}),
      credits: Credits.optional().describe('Initial credits instead of the plan’s; they do not expire'),
      region: MeterRegion,
    }),
    optional: true,
    example: { plan: 'enterprise', terms: { credits: 5000000 } },
  },
  responses: {
    ...okResponse('The account already existed and is unchanged', EnsureResult, { created: false }),
    ...createdResponse('Created', EnsureResult, { created: true }),
  },
  handle: async ({ params: { id }, body: { credits, region, ...choice } }, { accounts }) => {
    const ensured = await accounts.ensure(id, choice, { credits, region })
    if (!ensured.ok) return ensured
    const { created, account } = ensured.value
    return reply(created ? 201 : 200, { account: id, created, ...sumsView(account) })
  },
})

const KEYS_SHOWN = 1_000

const showAccount = defineEndpoint({
  id: 'showAccount',
  route: 'GET /admin/accounts/{id}',
  summary: 'Show an account, with its plan, credits and keys',
  params: ACCOUNT_PARAMS,
  responses: okResponse(
    'The account',
    z.object({
      account: AccountId,
      plan: PlanName,
      terms: TermsView.nullable().describe('Account-specific terms; null: those of the plan'),
      created: UnixMs.describe('Creation time, Unix milliseconds'),
      ...SUMS,
      held: CreditsText.describe('Part of the balance that is leased to serving isolates and not yet settled'),
      written_off: CreditsText.describe(
        'Credits for usage that was reported after the balance ran out; never charged and not part of `spent`',
      ),
      period: Period.nullable().describe('Current period; null: the account predates plan periods'),
      billing: BillingDetailsView.nullable().describe('Billing details; null: none'),
      keys: z.array(KeyViewWithCap).describe('Keys, newest first, at most 1,000'),
    }),
    { period: { credits: '10000' }, billing: null },
  ),
  handle: async ({ params: { id } }, { accounts, billing, keys }) => {
    const shown = await accounts.account(id)
    if (!shown.ok) return shown
    const { plan, terms, created, sums, period } = shown.value
    const [listed, [lastChange]] = await Promise.all([keys.list(id, KEYS_SHOWN), billing.changes(id, 1)])
    return reply(200, {
      account: id,
      plan,
      terms: termsView(terms),
      created,
      ...sumsView(sums),
      held: formatCredits(sums.held),
      written_off: formatCredits(sums.writtenOff),
      period: period === null ? null : periodView(period),
      billing: lastChange?.details ?? null,
      keys: listed.map(keyViewWithCap),
    })
  },
})

const changePlan = defineEndpoint({
  id: 'changePlan',
  route: 'PUT /admin/accounts/{id}/plan',
  summary: 'Move an account to a plan immediately',
  description:
    'Remaining credits of the old plan expire; those of the new plan are granted in full. If the account already has this plan and these terms, nothing changes. New limits apply within a minute.',
  role: 'billing',
  params: ACCOUNT_PARAMS,
  body: {
    schema: z.strictObject({ plan: PlanName, terms: AgreedTerms.prefault({}) }),
    optional: false,
    example: { plan: 'enterprise', terms: { credits: 5000000, rest_requests_per_second: 200 } },
  },
  responses: okResponse(
    'The current period',
    z.object({
      account: AccountId,
      plan: PlanName,
      terms: TermsView.nullable(),
      period: Period,
    }),
    { period: { credits: '10000' } },
  ),
  handle: async ({ params: { id }, body }, { accounts }) => {
    const { plan, terms } = body
    const changed = await accounts.changePlan(id, body)
    if (!changed.ok) return changed
    return reply(200, { account: id, plan, terms: termsView(terms), period: periodView(changed.value) })
  },
})

const grantCredits = defineEndpoint({
  id: 'grantCredits',
  route: 'POST /admin/accounts/{id}/grants',
  summary: 'Add credits that do not expire, once per idempotency key',
  description:
    'Idempotency keys never expire, so use a new key for each payment. `repeated` is true if an earlier call made the same grant. The same key with a different amount is rejected with 409.',
  role: 'billing',
  params: ACCOUNT_PARAMS,
  body: {
    schema: z.strictObject({
      credits: Credits.describe('Credits to add; they do not expire'),
      idempotency_key: IdempotencyKey,
    }),
    optional: false,
    example: { credits: '500.25', idempotency_key: 'invoice-4711' },
  },
  responses: okResponse(
    'The credit sums after the grant',
    z.object({
      account: AccountId,
      repeated: z.boolean().describe('Whether an earlier call with this idempotency key made the grant'),
      ...SUMS,
    }),
  ),
  refusals: [409],
  handle: async ({ params: { id }, body }, { accounts }) => {
    const granted = await accounts.grant(id, body.idempotency_key, body.credits)
    if (!granted.ok) return granted
    const { repeated, account } = granted.value
    return reply(200, { account: id, repeated, ...sumsView(account) })
  },
})

const Grant = z
  .object({
    account: AccountId,
    id: z.string().describe('`grant:` and the idempotency key, or `first` for the initial grant'),
    credits: CreditsText.describe('Granted credits'),
    created: UnixMs.describe('Time of the grant, Unix milliseconds'),
  })
  .meta({ id: 'Grant' })

const listGrants = defineEndpoint({
  id: 'listGrants',
  route: 'GET /admin/grants',
  summary: 'List grants, newest first, without the credits granted by plans',
  query: z.strictObject({
    account: AccountId.optional().describe('Only grants to this account'),
    before: Before,
    limit: Limit,
  }),
  responses: okResponse(
    'A page of grants',
    z.object({ grants: z.array(Grant).describe('Grants, newest first'), next: Next }),
    {
      grants: [{ id: 'grant:invoice-4711', credits: '500' }],
    },
  ),
  handle: async ({ query: { account, before, limit } }, platform) => {
    const select = `SELECT rowid AS number, account, id, micro AS credits, created FROM grants
      WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR rowid < ?2) ORDER BY rowid DESC LIMIT ?3`
    const Row = Grant.extend({ number: z.int(), credits: MicroText })
    const { rows, next } = pageOf(await platform.rows(Row, select, account, before, limit + 1), limit)
    return reply(200, { grants: rows.map(withoutNumber), next })
  },
})

export const ACCOUNTS = [listAccounts, ensureAccount, showAccount, changePlan, grantCredits, listGrants]
