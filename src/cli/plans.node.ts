// `npm run admin -- plan …`: plans over the admin API.

import type { Command } from '@commander-js/extra-typings'
import * as z from 'zod'
import { described, reads } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { Gateway } from './gateway.node.ts'
import type { Act, Done } from './shell.node.ts'
import { details, sideBySide } from './table.node.ts'
import { PlanTermsValue, TERMS_HELP } from './terms.ts'

const Anything = z.looseObject({})
const Listed = z.looseObject({ plans: z.array(Anything) })
const Applied = z.object({ told: z.number(), next: z.string().nullable() })

/** Adds the commands of `plan` to the operator's program. */
export function planCommands(admin: Command, act: Act): void {
  const group = described(admin.command('plan'), 'plans: credits a period and limits')
  described(group.command('list'), 'all plans, a column each', ['']).action(
    act(async (gateway) => {
      const answer = await gateway.ask('GET', '/admin/plans', Listed)
      return answer.ok ? ok({ json: answer.value, text: sideBySide(answer.value.plans) }) : answer
    }),
  )
  described(
    group.command('set'),
    'a new plan, or what changes of one; accounts on it get new limits at once, new credits with their next period',
    [
      'entry --terms credits=12000,info_requests_per_second=20',
      'team --terms credits=50000,rest_requests_per_second=8',
    ],
  )
    .argument('<name>', 'name of the plan')
    .requiredOption('--terms <terms>', 'what the plan gives', reads(PlanTermsValue))
    .addHelpText(
      'after',
      `${TERMS_HELP}\n\nA new plan needs credits and rest_requests_per_second; its other limits are those of entry.`,
    )
    .action(act((gateway, name, { terms }) => set(gateway, name, terms)))
  described(group.command('remove'), 'removes a plan that no account is on', ['entry'])
    .argument('<name>', 'name of the plan')
    .action(
      act(async (gateway, name) => {
        const removed = await gateway.ask('DELETE', pathOf(name), Anything)
        return removed.ok ? ok({ json: removed.value, text: `removed ${name}` }) : removed
      }),
    )
}

/** The change, then page by page the accounts on the plan: a run that was cut short is completed by another. */
async function set(gateway: Gateway, name: string, terms: object): Promise<Result<Done, string>> {
  const plan = await gateway.ask('PUT', pathOf(name), Anything, terms)
  if (!plan.ok) return plan
  let told = 0
  for (let after: string | null = ''; after !== null; ) {
    const query: string = after === '' ? '' : `?after=${encodeURIComponent(after)}`
    const applied = await gateway.ask('POST', `${pathOf(name)}/apply${query}`, Applied)
    if (!applied.ok)
      return err(`${applied.error}\nThe plan is changed; accounts that know it: ${told}. Run this again.`)
    told += applied.value.told
    after = applied.value.next
  }
  return ok({ json: plan.value, text: details(plan.value), notes: [`accounts told: ${told}`] })
}

function pathOf(name: string): string {
  return `/admin/plans/${encodeURIComponent(name)}`
}
