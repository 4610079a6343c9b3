// `npm run admin -- account …`: accounts, their plans and grants, over the admin API.

import type { Command } from '@commander-js/extra-typings'
import * as z from 'zod'
import { described, reads } from '../core/command-line.node.ts'
import { ok } from '../core/result.ts'
import { Key, keyTable } from './account-keys.node.ts'
import { accountPath } from './account-path.ts'
import type { Gateway } from './gateway.node.ts'
import { type Act, shown } from './shell.node.ts'
import { details } from './table.node.ts'
import { TERMS_HELP, TermsValue } from './terms.ts'
import { CreditsValue } from './values.ts'

const Ensured = z.looseObject({ account: z.string(), created: z.boolean(), balance: z.string() })
const Granted = z.looseObject({ repeated: z.boolean().optional() })
const Shown = z.looseObject({ balance: z.string(), keys: z.array(Key) })

const ID = 'its id: 1 to 64 letters, digits, "_" or "-"'

/** Adds the commands of `account` to the operator's program. */
export function accountCommands(admin: Command, act: Act, now: () => number): void {
  const group = described(admin.command('account'), 'accounts, their plans and credits')
  described(group.command('create'), 'makes an account; one that is there is left as it is', ['acme --plan entry'])
    .argument('<account>', ID)
    .option('--plan <name>', 'trial unless said')
    .option('--terms <terms>', 'what is agreed with it, where its plan allows that', reads(TermsValue))
    .option('--credits <n>', "in place of the first period's; they do not expire", reads(CreditsValue))
    .addHelpText('after', TERMS_HELP)
    .action(
      act(async (gateway, account, options) => {
        const made = await ensureAccount(gateway, account, options)
        if (!made.ok) return made
        const { created, ...shown } = made.value
        const note = created ? madeText(made.value, options.plan) : `account ${account} was there: it is as it was`
        return ok({ json: made.value, text: details(shown), notes: [note] })
      }),
    )
  described(group.command('show'), 'an account with its plan, its sums and its keys', ['acme'])
    .argument('<account>', ID)
    .action(
      act(async (gateway, account) => {
        const answer = await gateway.ask('GET', accountPath(account), Shown)
        if (!answer.ok) return answer
        const { keys, ...rest } = answer.value
        const held = keys.map((key) => ({ ...key, balance: rest.balance }))
        return ok({ json: answer.value, text: `${details(rest)}\n\n${keyTable(held, now())}` })
      }),
    )
  described(group.command('plan'), 'puts an account on a plan, at once', ['acme enterprise --terms credits=5000000'])
    .argument('<account>', ID)
    .argument('<plan>', 'name of the plan')
    .option('--terms <terms>', 'what is agreed with it, where the plan allows that', reads(TermsValue))
    .addHelpText('after', TERMS_HELP)
    .action(
      act((gateway, account, plan, options) =>
        shown(gateway, 'PUT', `${accountPath(account)}/plan`, { plan, ...options }),
      ),
    )
  described(group.command('grant'), 'adds credits that do not expire, once per --id', ['acme 500 --id invoice-4711'])
    .argument('<account>', ID)
    .argument('<credits>', 'such as 500 or 0.25', reads(CreditsValue))
    .requiredOption('--id <text>', 'name of this grant: a retry under it adds nothing more')
    .action(
      act(async (gateway, account, credits, { id }) => {
        const order = { credits, idempotency_key: id }
        const granted = await gateway.ask('POST', `${accountPath(account)}/grants`, Granted, order)
        if (!granted.ok) return granted
        const note = `nothing was added: --id ${id} was granted before; another payment needs another --id`
        return ok({ json: granted.value, text: details(granted.value), notes: granted.value.repeated ? [note] : [] })
      }),
    )
}

/** Makes the account, or leaves it as it is. */
export function ensureAccount(gateway: Gateway, account: string, options: object) {
  return gateway.ask('PUT', accountPath(account), Ensured, options)
}

/** What is said of an account that was made. */
export function madeText({ account, balance }: z.infer<typeof Ensured>, plan = 'trial'): string {
  return `made account ${account} (plan ${plan}, ${balance} credits)`
}
