// Accounts, as their operator makes, shows and tops them up.

import * as z from 'zod'
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

/** The words of an account's credits, each for one sum; `held` and `written_off` stand with them in `showAccount`. */
export const SUMS = {
  balance: CreditsText.describe('Credits that the account may still spend'),
  spent: CreditsText.describe('Credits that the account’s calls, minutes and rows cost, since it was made'),
  granted: CreditsText.describe(
    'Credits given by plans and grants since it was made, without what expired: balance and spent',
  ),
}
export const Period = z
  .object({
    since: UnixMs.describe('When it began, Unix milliseconds'),
    until: UnixMs.nullable().describe('When it ends, Unix milliseconds; null: it does not, or the trial is over'),
    credits: CreditsText.describe('What the plan gave for it'),
    renews_with: CreditsText.describe('What the plan gives for each later one'),
  })
  .meta({ id: 'Period', description: 'The plan’s period that runs now' })
/** The sums of an account as answers show them. */
export function sumsView(account: AccountState) {
  return {
    balance: formatCredits(account.available + account.held),
    spent: formatCredits(account.spent),
    granted: formatCredits(account.granted),
  }
}

/** The period of an account's plan as answers show it. */
export function periodView({ sinceMs, untilMs, micro, everyMicro }: PlanState): z.infer<typeof Period> {
  return { since: sinceMs, until: untilMs, credits: formatCredits(micro), renews_with: formatCredits(everyMicro) }
}

const ListedAccount = z
  .object({
    account: AccountId,
    plan: PlanName,
    created: UnixMs.describe('When it was made, Unix milliseconds'),
    keys: z.int().describe('Keys of it that work'),
    last_used: UnixMs.nullable().describe(
      'Start of the last hour in which one was charged, as far as copied; null: never',
    ),
    balance: CreditsText.nullable().describe('What it may still spend; null: its meter did not answer'),
  })
  .meta({ id: 'ListedAccount' })

const listAccounts = defineEndpoint({
  id: 'listAccounts',
  route: 'GET /admin/accounts',
  summary: 'Accounts by name, with their plan and balance',
  description: 'Where `next` is not null there are more: ask again with `after` = `next`.',
  query: z.strictObject({
    search: SearchText.optional().describe('Part of the name, in any case'),
    plan: PlanName.optional().describe('On this plan alone'),
    after: AccountId.optional().describe('`next` of the page before'),
    limit: Limit,
  }),
  responses: okResponse(
    'A page of accounts',
    z.object({
      accounts: z.array(ListedAccount).describe('By name'),
      next: AccountId.nullable().describe('Where the next page begins; null: this is the last one'),
    }),
    { accounts: [{ keys: 2 }] },
  ),
  handle: async ({ query: { search, plan, after = '', limit } }, { rows, meterOf, now }) => {
    const select = `SELECT id AS account, plan, created,
      (SELECT count(*) FROM keys WHERE account = a.id AND revoked IS NULL AND (expires IS NULL OR expires > ?1)) AS keys,
      (SELECT max((SELECT max(hour) FROM usage WHERE key_hash = k.hash)) FROM keys k WHERE account = a.id) AS last_used
      FROM accounts a WHERE id > ?2 AND (?3 IS NULL OR instr(lower(id), lower(?3)) > 0) AND (?4 IS NULL OR plan = ?4)
      ORDER BY id LIMIT ?5`
    const found = await rows(ListedAccount.omit({ balance: true }), select, now(), after, search, plan, limit + 1)
    const page = found.slice(0, limit)
    const sums = await Promise.allSettled(page.map(({ account }) => meterOf(account).balance()))
    const accounts = page.map((row, i) => {
      const answer = sums[i]
      return { ...row, balance: answer?.status === 'fulfilled' ? formatCredits(remainingOf(answer.value)) : null }
    })
    return reply(200, { accounts, next: nextCursor(found, limit, ({ account }) => account) })
  },
})

const EnsureResult = z.object({
  account: AccountId,
  created: z.boolean().describe('False: it was there already'),
  ...SUMS,
})

const ensureAccount = defineEndpoint({
  id: 'ensureAccount',
  route: 'PUT /admin/accounts/{id}',
  summary: 'Create an account; one that is there is left as it is',
  description:
    '`credits` take the place of the first period’s and do not expire. `terms` need a plan that allows them.',
  params: ACCOUNT_PARAMS,
  body: {
    schema: z.strictObject({
      plan: PlanName.default('trial'),
      terms: AgreedTerms.prefault({}),
      credits: Credits.optional().describe('In place of what the plan gives first; they do not expire'),
    }),
    optional: true,
    example: { plan: 'enterprise', terms: { credits: 5000000 } },
  },
  responses: {
    ...okResponse('Was there already, and is unchanged', EnsureResult, { created: false }),
    ...createdResponse('Created', EnsureResult, { created: true }),
  },
  handle: async ({ params: { id }, body: { credits, ...choice } }, { accounts }) => {
    const ensured = await accounts.ensure(id, choice, credits)
    if (!ensured.ok) return ensured
    const { created, account } = ensured.value
    return reply(created ? 201 : 200, { account: id, created, ...sumsView(account) })
  },
})

const KEYS_SHOWN = 1_000

const showAccount = defineEndpoint({
  id: 'showAccount',
  route: 'GET /admin/accounts/{id}',
  summary: 'An account with its plan, its sums and its keys',
  params: ACCOUNT_PARAMS,
  responses: okResponse(
    'The account',
    z.object({
      account: AccountId,
      plan: PlanName,
      terms: TermsView.nullable().describe('Null: those of its plan'),
      created: UnixMs.describe('When it was made, Unix milliseconds'),
      ...SUMS,
      held: CreditsText.describe('What of the balance is lent to isolates that serve calls, and not yet settled'),
      written_off: CreditsText.describe(
        'Served, and reported only when the balance was gone: never charged, and no part of `spent`',
      ),
      period: Period.nullable().describe('Null: it was made before plans had periods'),
      keys: z.array(KeyViewWithCap).describe('Its keys, newest first, at most 1,000'),
    }),
    { period: { credits: '10000' } },
  ),
  handle: async ({ params: { id } }, { accounts, keys }) => {
    const shown = await accounts.account(id)
    if (!shown.ok) return shown
    const { plan, terms, created, sums, period } = shown.value
    const listed = await keys.list(id, KEYS_SHOWN)
    return reply(200, {
      account: id,
      plan,
      terms: termsView(terms),
      created,
      ...sumsView(sums),
      held: formatCredits(sums.held),
      written_off: formatCredits(sums.writtenOff),
      period: period === null ? null : periodView(period),
      keys: listed.map(keyViewWithCap),
    })
  },
})

const changePlan = defineEndpoint({
  id: 'changePlan',
  route: 'PUT /admin/accounts/{id}/plan',
  summary: 'Put an account on a plan now',
  description:
    'What the old plan has left expires, the new one’s credits are there in full; the same plan with the same terms ' +
    'changes nothing. Limits follow within a minute.',
  role: 'billing',
  params: ACCOUNT_PARAMS,
  body: {
    schema: z.strictObject({ plan: PlanName, terms: AgreedTerms.prefault({}) }),
    optional: false,
    example: { plan: 'enterprise', terms: { credits: 5000000, rest_requests_per_second: 200 } },
  },
  responses: okResponse(
    'The period that runs now',
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
    'The account remembers its idempotency keys for ever: the next payment needs another one. `repeated` says that ' +
    'nothing was added; the same key with another amount is refused with 409.',
  role: 'billing',
  params: ACCOUNT_PARAMS,
  body: {
    schema: z.strictObject({
      credits: Credits.describe('Added to the balance; they do not expire'),
      idempotency_key: IdempotencyKey,
    }),
    optional: false,
    example: { credits: '500.25', idempotency_key: 'invoice-4711' },
  },
  responses: okResponse(
    'The sums after it',
    z.object({
      account: AccountId,
      repeated: z
        .boolean()
        .describe('True: granted by an earlier call with this idempotency key; nothing was added now'),
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
    id: z.string().describe('`grant:` and the idempotency key; `first`: given when the account was made'),
    credits: CreditsText.describe('What was given'),
    created: UnixMs.describe('When, Unix milliseconds'),
  })
  .meta({ id: 'Grant' })

const listGrants = defineEndpoint({
  id: 'listGrants',
  route: 'GET /admin/grants',
  summary: 'Credits that were granted beside those of plans, newest first',
  query: z.strictObject({
    account: AccountId.optional().describe('To this account alone'),
    before: Before,
    limit: Limit,
  }),
  responses: okResponse('A page of grants', z.object({ grants: z.array(Grant).describe('Newest first'), next: Next }), {
    grants: [{ id: 'grant:invoice-4711', credits: '500' }],
  }),
  handle: async ({ query: { account, before, limit } }, platform) => {
    const select = `SELECT rowid AS number, account, id, micro AS credits, created FROM grants
      WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR rowid < ?2) ORDER BY rowid DESC LIMIT ?3`
    const Row = Grant.extend({ number: z.int(), credits: MicroText })
    const { rows, next } = pageOf(await platform.rows(Row, select, account, before, limit + 1), limit)
    return reply(200, { grants: rows.map(withoutNumber), next })
  },
})

export const ACCOUNTS = [listAccounts, ensureAccount, showAccount, changePlan, grantCredits, listGrants]
