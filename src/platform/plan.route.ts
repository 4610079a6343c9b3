// The operator's routes of plans.

import { ok } from '../core/result.ts'
import { APPLY_PLAN, LIST_PLANS, REMOVE_PLAN, SET_PLAN } from './plan-operations.ts'
import { shownPlan } from './plan-requests.ts'
import type { PlansDesk } from './plans-desk.client.ts'
import { type AdminApp, type AdminContext, serve } from './serve.route.ts'

/** Registers them. */
export function planRoutes(app: AdminApp, deskOf: (c: AdminContext) => PlansDesk): void {
  serve(app, LIST_PLANS, async (c) => ok({ body: { plans: (await deskOf(c).list()).map(shownPlan) } }))

  serve(app, SET_PLAN, async (c, { params: { name }, body }) => {
    const plan = await deskOf(c).set(name, body)
    return plan.ok ? ok({ body: shownPlan(plan.value) }) : plan
  })

  serve(app, REMOVE_PLAN, async (c, { params: { name } }) => {
    const removed = await deskOf(c).remove(name)
    return removed.ok ? ok({ body: { removed: name } }) : removed
  })

  serve(app, APPLY_PLAN, async (c, { params: { name }, query: { after = '' } }) => {
    const applied = await deskOf(c).apply(name, after)
    return applied.ok ? ok({ body: { ...applied.value } }) : applied
  })
}
