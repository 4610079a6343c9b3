// `npx weir admin account …`, `plan …`, `usage` and `webhook …`. Invariant: the secret of a webhook is printed once, alone on
// standard output.

import type { Command } from '@commander-js/extra-typings'
import type { Responses } from '../console/responses.ts'
import { describeCommand, valueParser } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import { visible } from '../core/visible.ts'
import { keyTable } from './account-keys.node.ts'
import { accountPath, type GatewayClient } from './gateway.node.ts'
import { type CommandAction, type CommandResult, showResponse, toResult } from './shell.node.ts'
import { details, headedTable, sideBySide } from './table.node.ts'
import { CreditsValue, DayValue, ListValue, PlanTermsValue, REGION_HELP, TERMS_HELP, TermsValue } from './values.ts'

const ID_HELP = 'account id: 1 to 64 letters, digits, "_" or "-"'

/** Adds the commands of `account` to the operator's program. */
export function accountCommands(admin: Command, act: CommandAction, now: () => number): void {
  const group = describeCommand(admin.command('account'), 'manage accounts, their plans and credits')
  describeCommand(group.command('create'), 'create an account; an existing account stays unchanged', [
    'acme --plan entry',
  ])
    .argument('<account>', ID_HELP)
    .option('--plan <name>', 'plan (default: trial)')
    .option('--terms <terms>', 'terms for this account, if its plan allows them', valueParser(TermsValue))
    .option('--credits <n>', 'credits that do not expire, instead of those of its plan', valueParser(CreditsValue))
    .option('--region <region>', REGION_HELP)
    .addHelpText('after', TERMS_HELP)
    .action(
      act(async (gateway, account, options) => {
        return toResult(await ensureAccount(gateway, account, options), (made) => {
          const { created, ...shown } = made
          const note = created
            ? createdText(made, options.plan)
            : `account ${account} already exists and stays unchanged`
          return { text: details(shown), notes: [note] }
        })
      }),
    )
  describeCommand(group.command('show'), 'show an account with its plan, balance and keys', ['acme'])
    .argument('<account>', ID_HELP)
    .action(
      act(async (gateway, account) => {
        return toResult(await fetchAccount(gateway, account, ['balance', 'keys']), ({ keys, ...rest }) => {
          const rows = keys.map((key) => ({ ...key, balance: rest.balance }))
          return `${details(rest)}\n\n${keyTable(rows, now())}`
        })
      }),
    )
  describeCommand(group.command('plan'), 'move an account to a plan, effective immediately', [
    'acme enterprise --terms credits=5000000',
  ])
    .argument('<account>', ID_HELP)
    .argument('<plan>', 'plan name')
    .option('--terms <terms>', 'terms for this account, if the plan allows them', valueParser(TermsValue))
    .addHelpText('after', TERMS_HELP)
    .action(
      act((gateway, account, plan, options) =>
        showResponse(gateway, 'PUT', `${accountPath(account)}/plan`, { plan, ...options }),
      ),
    )
  describeCommand(group.command('grant'), 'add credits that do not expire, once per --id', [
    'acme 500 --id invoice-4711',
  ])
    .argument('<account>', ID_HELP)
    .argument('<credits>', 'such as 500 or 0.25', valueParser(CreditsValue))
    .requiredOption('--id <text>', 'idempotency key: a retry with the same id adds nothing more')
    .action(
      act(async (gateway, account, credits, { id }) => {
        const body = { credits, idempotency_key: id }
        const note = `nothing was added, because --id ${id} has already been used; use a new --id for each payment`
        const granted = await gateway.request<Responses['grantCredits']>(
          'POST',
          `${accountPath(account)}/grants`,
          [],
          body,
        )
        return toResult(granted, (value) => ({ text: details(value), notes: value.repeated ? [note] : [] }))
      }),
    )
}

function fetchAccount(gateway: GatewayClient, account: string, needs: readonly (keyof Responses['showAccount'])[]) {
  return gateway.request<Responses['showAccount']>('GET', accountPath(account), needs)
}

/** Creates the account; an existing account stays unchanged. */
export function ensureAccount(gateway: GatewayClient, account: string, options: object) {
  const needs = ['account', 'created', 'balance'] as const
  return gateway.request<Responses['ensureAccount']>('PUT', accountPath(account), needs, options)
}

export function createdText({ account, balance }: Responses['ensureAccount'], plan = 'trial'): string {
  return `created account ${account} (plan ${plan}, ${balance} credits)`
}

/** Adds the commands of `plan` to the operator's program. */
export function planCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('plan'), 'manage plans: credits per period and limits')
  describeCommand(group.command('list'), 'list all plans, one per column', ['']).action(
    act(async (gateway) => {
      return toResult(await gateway.request<Responses['listPlans']>('GET', '/admin/plans', ['plans']), ({ plans }) =>
        sideBySide(plans),
      )
    }),
  )
  describeCommand(
    group.command('set'),
    'create or edit a plan; its accounts get new limits immediately, and new credits with their next period',
    [
      'entry --terms credits=12000,info_requests_per_second=20',
      'team --terms credits=50000,rest_requests_per_second=8',
    ],
  )
    .argument('<name>', 'plan name')
    .requiredOption('--terms <terms>', 'terms of the plan', valueParser(PlanTermsValue))
    .addHelpText(
      'after',
      `${TERMS_HELP}\n\nA new plan needs credits and rest_requests_per_second; its other limits default to those of entry.`,
    )
    .action(act((gateway, name, { terms }) => setPlan(gateway, name, terms)))
  describeCommand(group.command('remove'), 'remove a plan that no account uses', ['entry'])
    .argument('<name>', 'plan name')
    .action(
      act(async (gateway, name) => {
        return toResult(await gateway.request('DELETE', planPath(name)), () => `removed ${name}`)
      }),
    )
}

/** Changes the plan, then applies it page by page to its accounts. A rerun completes an interrupted run. */
async function setPlan(gateway: GatewayClient, name: string, terms: object): Promise<Result<CommandResult, string>> {
  const plan = await gateway.request<Responses['setPlan']>('PUT', planPath(name), [], terms)
  if (!plan.ok) return plan
  let count = 0
  for (let after: string | null = ''; after !== null; ) {
    const query: string = after === '' ? '' : `?after=${encodeURIComponent(after)}`
    const path = `${planPath(name)}/apply${query}`
    const applied = await gateway.request<Responses['applyPlan']>('POST', path, ['told', 'next'])
    if (!applied.ok)
      return err(
        `${applied.error}\nThe plan was changed and applied to ${count} accounts. Run this command again for the rest.`,
      )
    count += applied.value.told
    after = applied.value.next
  }
  return ok({ json: plan.value, text: details(plan.value), notes: [`applied to ${count} accounts`] })
}

function planPath(name: string): string {
  return `/admin/plans/${encodeURIComponent(name)}`
}

type Page = Responses['accountUsage']

const HEADER = ['day', 'key', 'label', 'product', 'type', 'calls', 'stream minutes', 'rows', 'credits']

/** Adds `usage` to the operator's program. */
export function usageCommand(admin: Command, act: CommandAction): void {
  describeCommand(admin.command('usage'), 'show usage of an account by UTC day, key and endpoint', [
    'acme',
    'acme --from 2026-11-01 --to 2026-11-30',
  ])
    .argument('<account>', 'id of the account')
    .option('--from <day>', 'first UTC day (default: one month ago)', valueParser(DayValue))
    .option('--to <day>', 'last UTC day, inclusive (default: today)', valueParser(DayValue))
    .option('--duration <months>', '1, 3, 6 or 12 months until today, instead of --from and --to')
    .action(
      act(async (gateway, account, window) => {
        const rows: Page['rows'] = []
        for (let after: string | null | undefined; ; ) {
          const params = Object.entries({ ...window, after }).filter(
            (pair): pair is [string, string] => pair[1] != null,
          )
          const query = new URLSearchParams(params)
          const path = `${accountPath(account)}/usage?${query}`
          const page = await gateway.request<Page>('GET', path, ['from', 'to', 'totals', 'rows', 'next'])
          if (!page.ok) return window.to === undefined ? err(page.error.replace(/(?<=of) --to/, ' today (UTC)')) : page
          rows.push(...page.value.rows)
          after = page.value.next
          if (after === null) return ok({ json: { ...page.value, rows }, text: usageTable({ ...page.value, rows }) })
        }
      }),
    )
}

function usageTable({ rows, totals, from, to }: Page): string {
  const lines = rows.map((row) => {
    const { date, hash, prefix, label, product, type } = row
    return [date, prefix ?? hash.slice(0, 12), label ?? '', product, type, ...usageCells(row)]
  })
  return headedTable([HEADER, ...lines, [`${from} to ${to}`, 'total', '', '', '', ...usageCells(totals)]])
}

function usageCells({
  calls,
  stream_minutes: minutes,
  pipeline_rows: rows,
  credits,
}: Page['totals']): (string | number)[] {
  return [calls, minutes, rows, credits]
}

const SIMPLE_COMMANDS = [
  ['show', 'show the webhook and its events', 'GET'],
  ['clear', 'remove the webhook', 'DELETE'],
] as const

/** Adds the commands of `webhook` to the operator's program. */
export function webhookCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('webhook'), 'manage the low-balance webhook of an account')
  describeCommand(group.command('set'), 'set the webhook; only a new secret is printed to standard output', [
    'acme https://example.com/hooks/weir --thresholds 20%,5%,0',
  ])
    .argument('<account>', 'id of the account')
    .argument('<url>', 'URL that receives POST requests')
    .option(
      '--thresholds <a,b>',
      'credits, or percentages of the largest balance in the period',
      valueParser(ListValue),
    )
    .option('--new-secret', 'generate a new secret')
    .action(
      act(async (gateway, account, url, { thresholds, newSecret }) => {
        const body = { url, thresholds, new_secret: newSecret }
        const set = await gateway.request<Responses['setWebhook']>('PUT', webhookPath(account), ['secret'], body)
        return toResult(set, ({ secret, ...webhook }) => {
          const note = secret === null ? 'the secret stays unchanged' : 'save the secret now, it is not shown again'
          return { text: secret ?? '', notes: [details(webhook), note] }
        })
      }),
    )
  for (const [name, does, method] of SIMPLE_COMMANDS)
    describeCommand(group.command(name), does, ['acme'])
      .argument('<account>', 'id of the account')
      .action(act((gateway, account) => showResponse(gateway, method, webhookPath(account))))
  describeCommand(group.command('test'), 'send one test event now; fails if it is not delivered', ['acme'])
    .argument('<account>', 'id of the account')
    .action(
      act(async (gateway, account) => {
        const path = `${webhookPath(account)}/test`
        const answer = await gateway.request<Responses['testWebhook']>('POST', path, ['delivered', 'answer'])
        return toResult(answer, (tested) => {
          const failure = visible(`The test event was not delivered (${tested.answer}). Check the receiver.`)
          const isFailure = !tested.delivered
          return { text: details(tested), notes: isFailure ? [failure] : [], isFailure }
        })
      }),
    )
}

function webhookPath(account: string): string {
  return `${accountPath(account)}/webhook`
}
