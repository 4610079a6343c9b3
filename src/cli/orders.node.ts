// `npm run admin -- order …`: orders of credits, over the admin API.

import type { Command } from '@commander-js/extra-typings'
import * as z from 'zod'
import { described, reads } from '../core/command-line.node.ts'
import { ok } from '../core/result.ts'
import { type Act, shown } from './shell.node.ts'
import { details } from './table.node.ts'

const Orders = z.looseObject({ orders: z.array(z.looseObject({})), next: z.string().nullable() })
const STATES = ['open', 'paid', 'failed', 'void'] as const
const State = z.enum(STATES, `must be ${STATES.join(', ')}`)

/** Adds the commands of `order` to the operator's program. */
export function orderCommands(admin: Command, act: Act): void {
  const group = described(admin.command('order'), 'orders of credits')
  described(group.command('list'), 'orders, newest first, a hundred at a time', ['--only open', '--account acme'])
    .option('--account <account>', 'of this account alone')
    .option('--only <state>', STATES.join(', '), reads(State))
    .option('--before <cursor>', 'goes on after the page that said so')
    .action(
      act(async (gateway, options) => {
        const { only, ...others } = options
        const query = new URLSearchParams(Object.entries({ ...others, ...(only && { state: only }) })).toString()
        const answer = await gateway.ask('GET', `/admin/orders${query && `?${query}`}`, Orders)
        if (!answer.ok) return answer
        const { orders, next } = answer.value
        const notes = next === null ? [] : [`there are more: --before ${next}`]
        return ok({ json: answer.value, text: orders.length === 0 ? 'no orders' : details({ orders }), notes })
      }),
    )
  for (const [name, does] of [
    ['paid', 'the money is there: grants its credits, once'],
    ['void', 'is not to be paid any more'],
  ] as const)
    described(group.command(name), does, ['W-17-k3Fz'])
      .argument('<number>', 'number of the order')
      .action(act((gateway, number) => shown(gateway, 'POST', `/admin/orders/${encodeURIComponent(number)}/${name}`)))
}
