// `weir admin`: commands of the operator for the feed, archive, plans, accounts, keys, orders, webhooks,
// incidents and staff.

import { type Command, Option } from '@commander-js/extra-typings'
import * as z from 'zod'
import { STAFF_ROLES } from '../accounts/staff.ts'
import type { Responses } from '../console/responses.ts'
import { describeCommand, valueParser } from '../core/command-line.node.ts'
import { keyCommands } from './account-keys.node.ts'
import { accountCommands, planCommands, usageCommand, webhookCommands } from './accounts.node.ts'
import { feedCommands, historyCommands } from './feed.node.ts'
import { incidentCommands } from './incidents.node.ts'
import { recoveryCommands } from './recovery.node.ts'
import { type CommandAction, commandRunner, gatewayProgram, type Shell, showResponse, toResult } from './shell.node.ts'
import { details } from './table.node.ts'

export function adminProgram(shell: Shell): Command {
  const admin = gatewayProgram('admin')
  const act = commandRunner(shell)
  feedCommands(admin, act)
  historyCommands(admin, act)
  planCommands(admin, act)
  accountCommands(admin, act, shell.now)
  keyCommands(admin, act, shell.now)
  orderCommands(admin, act)
  webhookCommands(admin, act)
  usageCommand(admin, act)
  incidentCommands(admin, act)
  staffCommands(admin, act)
  recoveryCommands(admin, act, shell.print)
  return admin
}

const STATES = ['open', 'paid', 'failed', 'void'] as const
const State = z.enum(STATES, `must be ${STATES.join(', ')}`)
const PROVIDERS = ['manual', 'stripe', 'x402'] as const
const Provider = z.enum(PROVIDERS, `must be ${PROVIDERS.join(', ')}`)

const nextPageNotes = (next: string | number | null) => (next === null ? [] : [`more results: --before ${next}`])

/** Adds the commands of `order` to the operator's program. */
function orderCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('order'), 'manage credit orders')
  describeCommand(group.command('list'), 'list orders, newest first, 100 per page', ['--only open', '--account acme'])
    .option('--account <account>', 'only this account')
    .option('--only <state>', STATES.join(', '), valueParser(State))
    .option('--provider <provider>', PROVIDERS.join(', '), valueParser(Provider))
    .option('--before <cursor>', 'cursor from the previous page')
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
    ['paid', 'mark an order as paid and grant its credits, once'],
    ['void', 'void an order that will not be paid'],
  ] as const)
    describeCommand(group.command(name), does, ['W-17-k3Fz'])
      .argument('<number>', 'order number')
      .action(
        act((gateway, number) => showResponse(gateway, 'POST', `/admin/orders/${encodeURIComponent(number)}/${name}`)),
      )
}

/** Adds the commands of `staff`, and `audit`, to the operator's program. */
function staffCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('staff'), 'manage staff with personal tokens and roles')
  describeCommand(group.command('add'), 'create a token; only the token is printed to standard output', [
    'kim --role support',
  ])
    .argument('<name>', 'name in the audit log')
    .addOption(
      new Option(
        '--role <role>',
        'support: read; billing: also orders, grants and plans of accounts; owner: everything',
      )
        .choices(STAFF_ROLES)
        .makeOptionMandatory(),
    )
    .action(
      act(async (gateway, name, { role }) => {
        const notes = [`token of ${name} (${role}); save it now, it is not shown again`]
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
  describeCommand(group.command('list'), 'list current and revoked tokens', ['']).action(
    act((gateway) => showResponse(gateway, 'GET', '/admin/staff')),
  )
  describeCommand(group.command('revoke'), 'revoke a token and its sessions immediately', ['kim'])
    .argument('<name>', 'name of the token holder')
    .action(act((gateway, name) => showResponse(gateway, 'DELETE', `/admin/staff/${encodeURIComponent(name)}`)))
  describeCommand(admin.command('audit'), 'list actions of operators and staff, including failed ones, newest first', [
    '--account acme',
  ])
    .option('--actor <name>', 'only by this person')
    .option('--action <id>', 'only this action, such as revokeKey')
    .option('--account <account>', 'only on this account')
    .option('--from <day>', 'first UTC day')
    .option('--to <day>', 'last UTC day')
    .option('--before <number>', 'only entries before this number')
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
