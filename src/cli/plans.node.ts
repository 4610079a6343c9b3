// `npm run admin -- plan …`: plans over the admin API.

import * as z from 'zod'
import { err, ok, type Result } from '../core/result.ts'
import { type AdminTarget, callAdmin } from './admin-api.node.ts'
import { parseTerms, TERMS_USAGE } from './terms.node.ts'

/** The commands, for the usage text. */
export const PLAN_USAGE = `npm run admin -- plan list
npm run admin -- plan set NAME --terms TERMS        a new plan, or what changes of one; accounts on it get the new
                               credits with their next period, the new limits at once
npm run admin -- plan remove NAME                   one that no account is on
${TERMS_USAGE}`

const Anything = z.looseObject({})
const Listed = z.object({ plans: z.array(z.looseObject({ name: z.string() })) })
const Applied = z.object({ told: z.number(), next: z.string().nullable() })

/** Runs one command line; null where it is none of these. */
export async function planCommand(
  target: AdminTarget,
  words: readonly string[],
  { terms }: { readonly terms?: string | undefined },
): Promise<Result<string, string> | null> {
  const [, command, name, more] = words
  if (command === 'list' && name === undefined) return list(target)
  if (name === undefined || more !== undefined) return null
  if (command === 'set') return terms === undefined ? err('--terms: is required') : set(target, name, terms)
  if (command !== 'remove') return null
  const removed = await callAdmin(target, 'DELETE', pathOf(name), Anything)
  return removed.ok ? ok(`removed ${name}`) : removed
}

async function list(target: AdminTarget): Promise<Result<string, string>> {
  const answer = await callAdmin(target, 'GET', '/admin/plans', Listed)
  return answer.ok ? ok(answer.value.plans.map((plan) => JSON.stringify(plan)).join('\n')) : answer
}

/** The change, then page by page the accounts on the plan: a run that was cut short is completed by another. */
async function set(target: AdminTarget, name: string, text: string): Promise<Result<string, string>> {
  const terms = parseTerms(text)
  if (!terms.ok) return terms
  const plan = await callAdmin(target, 'PUT', pathOf(name), Anything, terms.value)
  if (!plan.ok) return plan
  let told = 0
  for (let after: string | null = ''; after !== null; ) {
    const query: string = after === '' ? '' : `?after=${encodeURIComponent(after)}`
    const applied = await callAdmin(target, 'POST', `${pathOf(name)}/apply${query}`, Applied)
    if (!applied.ok) return err(`${applied.error}\nThe plan is changed; ${told} accounts know it. Run this again.`)
    told += applied.value.told
    after = applied.value.next
  }
  return ok(`${JSON.stringify(plan.value)}\n${told} accounts told`)
}

function pathOf(name: string): string {
  return `/admin/plans/${encodeURIComponent(name)}`
}
