// `npm run admin -- webhook …`: where an account's owner is told that credits run low, over the admin API. Law: a secret
// is printed once, alone.

import type { Command } from '@commander-js/extra-typings'
import * as z from 'zod'
import { described, reads } from '../core/command-line.node.ts'
import { ok } from '../core/result.ts'
import { visible } from '../core/visible.ts'
import { accountPath } from './account-path.ts'
import { type Act, shown } from './shell.node.ts'
import { details } from './table.node.ts'
import { ListValue } from './values.ts'

const WithSecret = z.looseObject({ secret: z.string().nullable() })

const Tested = z.looseObject({ delivered: z.boolean(), answer: z.string() })

const CALLS = [
  ['show', 'the webhook and what became of its events', 'GET'],
  ['clear', 'tells nobody any more', 'DELETE'],
] as const

/** Adds the commands of `webhook` to the operator's program. */
export function webhookCommands(admin: Command, act: Act): void {
  const group = described(admin.command('webhook'), 'where an account is told that its credits run low')
  described(
    group.command('set'),
    'sets where; a secret that was drawn stands alone on standard output where npm is silent (npm run -s)',
    ['acme https://example.com/hooks/weir --thresholds 20%,5%,0'],
  )
    .argument('<account>', 'id of the account')
    .argument('<url>', 'where to POST events')
    .option('--thresholds <a,b>', "credits, or percent of the period's", reads(ListValue))
    .option('--new-secret', 'draw a new secret')
    .action(
      act(async (gateway, account, url, { thresholds, newSecret }) => {
        const body = { url, thresholds, new_secret: newSecret }
        const answer = await gateway.ask('PUT', place(account), WithSecret, body)
        if (!answer.ok) return answer
        const { secret, ...webhook } = answer.value
        const about = secret === null ? 'the secret is as it was' : 'the secret is not shown again'
        return ok({ json: answer.value, text: secret ?? '', notes: [details(webhook), about] })
      }),
    )
  for (const [name, does, method] of CALLS)
    described(group.command(name), does, ['acme'])
      .argument('<account>', 'id of the account')
      .action(act((gateway, account) => shown(gateway, method, place(account))))
  described(group.command('test'), 'sends a test event now, once; fails where it is not delivered', ['acme'])
    .argument('<account>', 'id of the account')
    .action(
      act(async (gateway, account) => {
        const answer = await gateway.ask('POST', `${place(account)}/test`, Tested)
        if (!answer.ok) return answer
        const { delivered, answer: why } = answer.value
        const notes = delivered ? [] : [visible(`The test event was not delivered (${why}): look at the receiver.`)]
        return ok({ json: answer.value, text: details(answer.value), notes, isFailure: !delivered })
      }),
    )
}

function place(account: string): string {
  return `${accountPath(account)}/webhook`
}
