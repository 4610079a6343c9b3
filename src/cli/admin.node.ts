// `npm run admin -- …`: the operator's commands on the feed, on accounts and on keys.

import { parseArgs } from 'node:util'
import * as z from 'zod'
import type { Result } from '../core/result.ts'
import { ACCOUNT_USAGE, accountCommand } from './accounts.node.ts'
import { type AdminTarget, adminTarget, callAdmin } from './admin-api.node.ts'
import { DEFAULT_STATE } from './dev-file.node.ts'
import { PLAN_USAGE, planCommand } from './plans.node.ts'
import { WEBHOOK_USAGE, webhookCommand } from './webhooks.node.ts'

const USAGE = `npm run admin -- feed status   where the log stands, and its feeders and gaps
npm run admin -- feed reset    begin a new log: for a node that started over. Books and heights begin anew,
                               clients bootstrap again; accounts and keys stay.
${PLAN_USAGE}
${ACCOUNT_USAGE}
${WEBHOOK_USAGE}
Everywhere: --url URL --token ADMIN_TOKEN, or --state DIR of a running "npm start" (default ${DEFAULT_STATE})`

const text = { type: 'string' } as const
const OPTIONS = {
  ...{ url: text, token: text, state: text, plan: text, credits: text, id: text, kind: text },
  ...{ label: text, products: text, expires: text, grace: text, cap: text, terms: text, ranges: text },
  ...{ thresholds: text, 'new-secret': { type: 'boolean' } as const },
}

/** Who answers, by the first word. */
const COMMANDS = {
  account: accountCommand,
  key: accountCommand,
  plan: planCommand,
  webhook: webhookCommand,
}

async function main(): Promise<string> {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true })
  const target = adminTarget(values)
  const isFeed = positionals.join(' ') === 'feed reset' || positionals.join(' ') === 'feed status'
  const name = positionals[0] ?? ''
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name as keyof typeof COMMANDS] : undefined
  if (!isFeed && command === undefined) throw new Error(USAGE)
  if (!target.ok) throw new Error(target.error)
  const answer = isFeed
    ? await feed(target.value, positionals[1] === 'reset')
    : await command?.(target.value, positionals, values)
  if (answer == null) throw new Error(USAGE)
  if (!answer.ok) throw new Error(answer.error)
  return answer.value
}

async function feed(target: AdminTarget, isReset: boolean): Promise<Result<string, string>> {
  const answer = isReset
    ? await callAdmin(target, 'POST', '/admin/feed/reset', z.object({ reset: z.literal(true) }))
    : await callAdmin(target, 'GET', '/status', z.looseObject({ chain: z.string() }))
  if (!answer.ok) return answer
  const lines = isReset ? 'The log is empty; the next feeder begins a new one.' : JSON.stringify(answer.value, null, 2)
  return { ok: true, value: lines }
}

await main().then(
  (lines) => console.log(lines),
  (error: Error) => {
    console.error(error.message)
    process.exitCode = 1
  },
)
