// `npm run admin -- …`: the operator's commands on the feed, on accounts and on keys.

import * as z from 'zod'
import { commandLine, refuseArgs } from '../core/command-line.node.ts'
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

async function main(): Promise<Result<string, string>> {
  const { values, words } = commandLine(OPTIONS, USAGE, 'words too')
  const target = adminTarget(values)
  const isFeed = words.join(' ') === 'feed reset' || words.join(' ') === 'feed status'
  const name = words[0] ?? ''
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name as keyof typeof COMMANDS] : undefined
  if (!isFeed && command === undefined) refuseArgs('', USAGE)
  if (!target.ok) return target
  const answer = isFeed ? await feed(target.value, words[1] === 'reset') : await command?.(target.value, words, values)
  return answer ?? refuseArgs('', USAGE)
}

async function feed(target: AdminTarget, isReset: boolean): Promise<Result<string, string>> {
  const answer = isReset
    ? await callAdmin(target, 'POST', '/admin/feed/reset', z.object({ reset: z.literal(true) }))
    : await callAdmin(target, 'GET', '/status', z.looseObject({ chain: z.string() }))
  if (!answer.ok) return answer
  const lines = isReset ? 'The log is empty; the next feeder begins a new one.' : JSON.stringify(answer.value, null, 2)
  return { ok: true, value: lines }
}

const outcome = await main()
if (outcome.ok) console.log(outcome.value)
else {
  console.error(outcome.error)
  process.exitCode = 1
}
