// The operator's routes of accounts.

import { ok } from '../core/result.ts'
import type { AccountState } from '../credit/account-state.ts'
import { formatCredits } from '../credit/amount.ts'
import type { PlanState } from '../credit/plans/plan-period.ts'
import { termsFrom } from '../credit/plans/plan-table.store.ts'
import { CHANGE_PLAN, ENSURE_ACCOUNT, GRANT_CREDITS, SHOW_ACCOUNT } from './account-operations.ts'
import type { AccountsDesk } from './accounts-desk.client.ts'
import { shownKey } from './key-shapes.ts'
import { shownTerms } from './plan-requests.ts'
import { type AdminApp, type AdminContext, serve } from './serve.route.ts'

/** Registers them. */
export function accountRoutes(app: AdminApp, deskOf: (c: AdminContext) => AccountsDesk): void {
  serve(app, ENSURE_ACCOUNT, async (c, { params: { id }, body }) => {
    const { credits, ...choice } = body
    const ensured = await deskOf(c).ensure(id, choice, credits)
    if (!ensured.ok) return ensured
    const { created, account } = ensured.value
    return ok({ status: created ? 201 : 200, body: { account: id, created, ...sums(account) } })
  })

  serve(app, SHOW_ACCOUNT, async (c, { params: { id } }) => {
    const shown = await deskOf(c).account(id)
    if (!shown.ok) return shown
    const { row, sums: account, period: now, keys } = shown.value
    return ok({
      body: {
        account: row.id,
        plan: row.plan,
        terms: shownTerms(termsFrom(row.terms)),
        created: row.created,
        ...sums(account),
        held: formatCredits(account.held),
        written_off: formatCredits(account.writtenOff),
        period: now === null ? null : period(now),
        keys: keys.map(shownKey),
      },
    })
  })

  serve(app, CHANGE_PLAN, async (c, { params: { id }, body }) => {
    const changed = await deskOf(c).changePlan(id, body)
    if (!changed.ok) return changed
    const { plan, terms } = body
    return ok({ body: { account: id, plan, terms: shownTerms(terms), period: period(changed.value) } })
  })

  serve(app, GRANT_CREDITS, async (c, { params: { id }, body }) => {
    const granted = await deskOf(c).grant(id, body.idempotency_key, body.credits)
    return granted.ok ? ok({ body: { account: id, ...sums(granted.value) } }) : granted
  })
}

function period({ sinceMs, untilMs, micro, everyMicro }: PlanState) {
  return { since: sinceMs, until: untilMs, credits: formatCredits(micro), renews_with: formatCredits(everyMicro) }
}

function sums(account: AccountState) {
  return {
    balance: formatCredits(account.available + account.held),
    spent: formatCredits(account.spent),
    granted: formatCredits(account.granted),
  }
}
