// `npm run admin -- account …`, `plan …`, `usage` and `webhook …`: accounts, what they are given, what they used, and where
// their owners are told that credits run low. Invariant: a webhook's secret is printed once, alone.

import type { Command } from '@commander-js/extra-typings'
import type { Responses } from '../console/responses.ts'
import { describeCommand, valueParser } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import { visible } from '../core/visible.ts'
import { keyTable } from './account-keys.node.ts'
import { accountPath, type GatewayClient } from './gateway.node.ts'
import { type CommandAction, type CommandResult, showResponse, toResult } from './shell.node.ts'
import { details, headedTable, sideBySide } from './table.node.ts'
import { CreditsValue, DayValue, ListValue, PlanTermsValue, TERMS_HELP, TermsValue } from './values.ts'

const ID_HELP = 'its id: 1 to 64 letters, digits, "_" or "-"'

/** Adds the commands of `account` to the operator's program. */
export function accountCommands(admin: Command, act: CommandAction, now: () => number): void {
  const group = describeCommand(admin.command('account'), 'accounts, their plans and credits')
  describeCommand(group.command('create'), 'makes an account; one that is there is left as it is', [
    'acme --plan entry',
  ])
    .argument('<account>', ID_HELP)
    .option('--plan <name>', 'trial unless said')
    .option('--terms <terms>', 'what is agreed with it, where its plan allows that', valueParser(TermsValue))
    .option('--credits <n>', "in place of the first period's; they do not expire", valueParser(CreditsValue))
    .addHelpText('after', TERMS_HELP)
    .action(
      act(async (gateway, account, options) => {
        return toResult(await ensureAccount(gateway, account, options), (made) => {
          const { created, ...shown } = made
          const note = created ? createdText(made, options.plan) : `account ${account} was there: it is as it was`
          return { text: details(shown), notes: [note] }
        })
      }),
    )
  describeCommand(group.command('show'), 'an account with its plan, its sums and its keys', ['acme'])
    .argument('<account>', ID_HELP)
    .action(
      act(async (gateway, account) => {
        return toResult(await fetchAccount(gateway, account, ['balance', 'keys']), ({ keys, ...rest }) => {
          const held = keys.map((key) => ({ ...key, balance: rest.balance }))
          return `${details(rest)}\n\n${keyTable(held, now())}`
        })
      }),
    )
  describeCommand(group.command('plan'), 'puts an account on a plan, at once', [
    'acme enterprise --terms credits=5000000',
  ])
    .argument('<account>', ID_HELP)
    .argument('<plan>', 'name of the plan')
    .option('--terms <terms>', 'what is agreed with it, where the plan allows that', valueParser(TermsValue))
    .addHelpText('after', TERMS_HELP)
    .action(
      act((gateway, account, plan, options) =>
        showResponse(gateway, 'PUT', `${accountPath(account)}/plan`, { plan, ...options }),
      ),
    )
  describeCommand(group.command('grant'), 'adds credits that do not expire, once per --id', [
    'acme 500 --id invoice-4711',
  ])
    .argument('<account>', ID_HELP)
    .argument('<credits>', 'such as 500 or 0.25', valueParser(CreditsValue))
    .requiredOption('--id <text>', 'name of this grant: a retry under it adds nothing more')
    .action(
      act(async (gateway, account, credits, { id }) => {
        const order = { credits, idempotency_key: id }
        const note = `nothing was added: --id ${id} was granted before; another payment needs another --id`
        const granted = await gateway.request<Responses['grantCredits']>(
          'POST',
          `${accountPath(account)}/grants`,
          [],
          order,
        )
        return toResult(granted, (value) => ({ text: details(value), notes: value.repeated ? [note] : [] }))
      }),
    )
}

/** The account, with these of its fields. */
function fetchAccount(gateway: GatewayClient, account: string, needs: readonly (keyof Responses['showAccount'])[]) {
  return gateway.request<Responses['showAccount']>('GET', accountPath(account), needs)
}

/** Makes the account, or leaves it as it is. */
export function ensureAccount(gateway: GatewayClient, account: string, options: object) {
  const needs = ['account', 'created', 'balance'] as const
  return gateway.request<Responses['ensureAccount']>('PUT', accountPath(account), needs, options)
}

/** What is said of an account that was made. */
export function createdText({ account, balance }: Responses['ensureAccount'], plan = 'trial'): string {
  return `made account ${account} (plan ${plan}, ${balance} credits)`
}

/** Adds the commands of `plan` to the operator's program. */
export function planCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('plan'), 'plans: credits a period and limits')
  describeCommand(group.command('list'), 'all plans, a column each', ['']).action(
    act(async (gateway) => {
      return toResult(await gateway.request<Responses['listPlans']>('GET', '/admin/plans', ['plans']), ({ plans }) =>
        sideBySide(plans),
      )
    }),
  )
  describeCommand(
    group.command('set'),
    'a new plan, or what changes of one; accounts on it get new limits at once, new credits with their next period',
    [
      'entry --terms credits=12000,info_requests_per_second=20',
      'team --terms credits=50000,rest_requests_per_second=8',
    ],
  )
    .argument('<name>', 'name of the plan')
    .requiredOption('--terms <terms>', 'what the plan gives', valueParser(PlanTermsValue))
    .addHelpText(
      'after',
      `${TERMS_HELP}\n\nA new plan needs credits and rest_requests_per_second; its other limits are those of entry.`,
    )
    .action(act((gateway, name, { terms }) => setPlan(gateway, name, terms)))
  describeCommand(group.command('remove'), 'removes a plan that no account is on', ['entry'])
    .argument('<name>', 'name of the plan')
    .action(
      act(async (gateway, name) => {
        return toResult(await gateway.request('DELETE', planPath(name)), () => `removed ${name}`)
      }),
    )
}

/** The change, then page by page the accounts on the plan: a run that was cut short is completed by another. */
async function setPlan(gateway: GatewayClient, name: string, terms: object): Promise<Result<CommandResult, string>> {
  const plan = await gateway.request<Responses['setPlan']>('PUT', planPath(name), [], terms)
  if (!plan.ok) return plan
  let told = 0
  for (let after: string | null = ''; after !== null; ) {
    const query: string = after === '' ? '' : `?after=${encodeURIComponent(after)}`
    const path = `${planPath(name)}/apply${query}`
    const applied = await gateway.request<Responses['applyPlan']>('POST', path, ['told', 'next'])
    if (!applied.ok)
      return err(`${applied.error}\nThe plan is changed; accounts that know it: ${told}. Run this again.`)
    told += applied.value.told
    after = applied.value.next
  }
  return ok({ json: plan.value, text: details(plan.value), notes: [`accounts told: ${told}`] })
}

function planPath(name: string): string {
  return `/admin/plans/${encodeURIComponent(name)}`
}

type Page = Responses['accountUsage']

const HEADER = ['day', 'key', 'label', 'product', 'type', 'calls', 'stream minutes', 'rows', 'credits']

/** Adds `usage` to the operator's program. */
export function usageCommand(admin: Command, act: CommandAction): void {
  describeCommand(admin.command('usage'), 'what an account used, by UTC day, key and type, and in all', [
    'acme',
    'acme --from 2026-11-01 --to 2026-11-30',
  ])
    .argument('<account>', 'id of the account')
    .option('--from <day>', 'first day; without it the last month', valueParser(DayValue))
    .option('--to <day>', 'last day, included; today unless said', valueParser(DayValue))
    .option('--duration <months>', '1, 3, 6 or 12 months up to today, in place of days')
    .action(
      act(async (gateway, account, window) => {
        const rows: Page['rows'] = []
        for (let after: string | null | undefined; ; ) {
          const said = Object.entries({ ...window, after }).filter((pair): pair is [string, string] => pair[1] != null)
          const query = new URLSearchParams(said)
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
  return headedTable([HEADER, ...lines, [`${from} to ${to}`, 'in all', '', '', '', ...usageCells(totals)]])
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
  ['show', 'the webhook and what became of its events', 'GET'],
  ['clear', 'tells nobody any more', 'DELETE'],
] as const

/** Adds the commands of `webhook` to the operator's program. */
export function webhookCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('webhook'), 'where an account is told that its credits run low')
  describeCommand(
    group.command('set'),
    'sets where; a secret that was drawn stands alone on standard output where npm is silent (npm run -s)',
    ['acme https://example.com/hooks/weir --thresholds 20%,5%,0'],
  )
    .argument('<account>', 'id of the account')
    .argument('<url>', 'where to POST events')
    .option('--thresholds <a,b>', "credits, or percent of the period's", valueParser(ListValue))
    .option('--new-secret', 'draw a new secret')
    .action(
      act(async (gateway, account, url, { thresholds, newSecret }) => {
        const body = { url, thresholds, new_secret: newSecret }
        const set = await gateway.request<Responses['setWebhook']>('PUT', webhookPath(account), ['secret'], body)
        return toResult(set, ({ secret, ...webhook }) => {
          const about = secret === null ? 'the secret is as it was' : 'the secret is not shown again'
          return { text: secret ?? '', notes: [details(webhook), about] }
        })
      }),
    )
  for (const [name, does, method] of SIMPLE_COMMANDS)
    describeCommand(group.command(name), does, ['acme'])
      .argument('<account>', 'id of the account')
      .action(act((gateway, account) => showResponse(gateway, method, webhookPath(account))))
  describeCommand(group.command('test'), 'sends a test event now, once; fails where it is not delivered', ['acme'])
    .argument('<account>', 'id of the account')
    .action(
      act(async (gateway, account) => {
        const path = `${webhookPath(account)}/test`
        const answer = await gateway.request<Responses['testWebhook']>('POST', path, ['delivered', 'answer'])
        return toResult(answer, (tested) => {
          const missed = visible(`The test event was not delivered (${tested.answer}): look at the receiver.`)
          const isFailure = !tested.delivered
          return { text: details(tested), notes: isFailure ? [missed] : [], isFailure }
        })
      }),
    )
}

function webhookPath(account: string): string {
  return `${accountPath(account)}/webhook`
}
