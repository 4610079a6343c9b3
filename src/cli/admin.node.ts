// `npm run admin -- …`: the operator's commands on the feed, the archive, on plans, accounts, keys, orders and webhooks.

import { type Command, Option } from '@commander-js/extra-typings'
import * as z from 'zod'
import { STAFF_ROLES } from '../accounts/staff.ts'
import type { Responses } from '../console/responses.ts'
import { describeCommand, runProgram, valueParser } from '../core/command-line.node.ts'
import { keyCommands } from './account-keys.node.ts'
import { accountCommands, planCommands, usageCommand, webhookCommands } from './accounts.node.ts'
import { feedCommands, historyCommands } from './feed.node.ts'
import {
  type CommandAction,
  commandRunner,
  gatewayProgram,
  processShell,
  type Shell,
  showResponse,
  toResult,
} from './shell.node.ts'
import { details } from './table.node.ts'

/** The program, on a shell. */
export function adminProgram(shell: Shell): Command {
  const admin = gatewayProgram('npm run admin --', "the operator's commands on a gateway")
  const act = commandRunner(shell)
  feedCommands(admin, act)
  historyCommands(admin, act)
  planCommands(admin, act)
  accountCommands(admin, act, shell.now)
  keyCommands(admin, act, shell.now)
  orderCommands(admin, act)
  webhookCommands(admin, act)
  usageCommand(admin, act)
  staffCommands(admin, act)
  return admin
}

const STATES = ['open', 'paid', 'failed', 'void'] as const
const State = z.enum(STATES, `must be ${STATES.join(', ')}`)

const nextPageNotes = (next: string | number | null) => (next === null ? [] : [`there are more: --before ${next}`])

/** Adds the commands of `order` to the operator's program. */
function orderCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('order'), 'orders of credits')
  describeCommand(group.command('list'), 'orders, newest first, a hundred at a time', ['--only open', '--account acme'])
    .option('--account <account>', 'of this account alone')
    .option('--only <state>', STATES.join(', '), valueParser(State))
    .option('--before <cursor>', 'goes on after the page that said so')
    .action(
      act(async (gateway, options) => {
        const { only, ...others } = options
        const query = new URLSearchParams(Object.entries({ ...others, ...(only && { state: only }) })).toString()
        const path = `/admin/orders${query && `?${query}`}` as const
        const answer = await gateway.request<Responses['listOrders']>('GET', path, ['orders', 'next'])
        return toResult(answer, ({ orders, next }) => {
          return { text: orders.length === 0 ? 'no orders' : details({ orders }), notes: nextPageNotes(next) }
        })
      }),
    )
  for (const [name, does] of [
    ['paid', 'the money is there: grants its credits, once'],
    ['void', 'is not to be paid any more'],
  ] as const)
    describeCommand(group.command(name), does, ['W-17-k3Fz'])
      .argument('<number>', 'number of the order')
      .action(
        act((gateway, number) => showResponse(gateway, 'POST', `/admin/orders/${encodeURIComponent(number)}/${name}`)),
      )
}

/** Adds the commands of `staff`, and `audit`, to the operator's program. */
function staffCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('staff'), 'people with a token and a role of their own')
  describeCommand(group.command('add'), 'makes a token for somebody, printed alone', ['kim --role support'])
    .argument('<name>', 'who it is, as the audit says it')
    .addOption(
      new Option('--role <role>', 'support reads; billing sells, too; owner does all')
        .choices(STAFF_ROLES)
        .makeOptionMandatory(),
    )
    .action(
      act(async (gateway, name, { role }) => {
        const notes = [`the token of ${name} (${role}), shown this once`]
        const answer = await gateway.request<Responses['createStaff']>('POST', '/admin/staff', ['token'], {
          name,
          role,
        })
        return toResult(answer, ({ token: text }) => ({
          text,
          notes,
        }))
      }),
    )
  describeCommand(group.command('list'), 'who has, or had, a token', ['']).action(
    act((gateway) => showResponse(gateway, 'GET', '/admin/staff')),
  )
  describeCommand(group.command('revoke'), 'ends the token and the sessions of somebody at once', ['kim'])
    .argument('<name>', 'who it is')
    .action(act((gateway, name) => showResponse(gateway, 'DELETE', `/admin/staff/${encodeURIComponent(name)}`)))
  describeCommand(admin.command('audit'), 'what was done by operators, or tried, newest first', ['--account acme'])
    .option('--actor <name>', 'by this one')
    .option('--action <id>', 'of this operation, such as revokeKey')
    .option('--account <account>', 'on this account')
    .option('--from <day>', 'first UTC day')
    .option('--to <day>', 'last UTC day')
    .option('--before <number>', 'older than this line')
    .action(
      act(async (gateway, options) => {
        const answer = await gateway.request<Responses['listAudit']>(
          'GET',
          `/admin/audit?${new URLSearchParams(options)}`,
          ['audit', 'next'],
        )
        return toResult(answer, ({ audit, next }) => ({ text: details({ audit }), notes: nextPageNotes(next) }))
      }),
    )
}

if (import.meta.main) await runProgram(adminProgram(processShell()), process.argv.slice(2))
