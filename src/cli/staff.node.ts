// `npm run admin -- staff …` and `audit`: who administers, and what was done.

import { type Command, Option } from '@commander-js/extra-typings'
import * as z from 'zod'
import { STAFF_ROLES } from '../accounts/staff.ts'
import { described } from '../core/command-line.node.ts'
import { ok } from '../core/result.ts'
import { type Act, shown } from './shell.node.ts'
import { details } from './table.node.ts'

const Made = z.looseObject({ token: z.string() })
const Audit = z.looseObject({ audit: z.array(z.looseObject({})), next: z.number().nullable() })

/** Adds the commands of `staff`, and `audit`, to the operator's program. */
export function staffCommands(admin: Command, act: Act): void {
  const group = described(admin.command('staff'), 'people with a token and a role of their own')
  described(group.command('add'), 'makes a token for somebody, printed alone', ['kim --role support'])
    .argument('<name>', 'who it is, as the audit says it')
    .addOption(
      new Option('--role <role>', 'support reads; billing sells, too; owner does all')
        .choices(STAFF_ROLES)
        .makeOptionMandatory(),
    )
    .action(
      act(async (gateway, name, { role }) => {
        const made = await gateway.ask('POST', '/admin/staff', Made, { name, role })
        if (!made.ok) return made
        const notes = [`the token of ${name} (${role}), shown this once`]
        return ok({ json: made.value, text: made.value.token, notes })
      }),
    )
  described(group.command('list'), 'who has, or had, a token', ['']).action(
    act((gateway) => shown(gateway, 'GET', '/admin/staff')),
  )
  described(group.command('revoke'), 'ends the token and the sessions of somebody at once', ['kim'])
    .argument('<name>', 'who it is')
    .action(act((gateway, name) => shown(gateway, 'DELETE', `/admin/staff/${encodeURIComponent(name)}`)))
  described(admin.command('audit'), 'what was done by operators, or tried, newest first', ['--account acme'])
    .option('--actor <name>', 'by this one')
    .option('--action <id>', 'of this operation, such as revokeKey')
    .option('--account <account>', 'on this account')
    .option('--from <day>', 'first UTC day')
    .option('--to <day>', 'last UTC day')
    .option('--before <number>', 'older than this line')
    .action(
      act(async (gateway, options) => {
        const answer = await gateway.ask('GET', `/admin/audit?${new URLSearchParams(options)}`, Audit)
        if (!answer.ok) return answer
        const { audit, next } = answer.value
        const notes = next === null ? [] : [`there are more: --before ${next}`]
        return ok({ json: answer.value, text: details({ audit }), notes })
      }),
    )
}
