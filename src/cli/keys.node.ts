// `weir keys create | list | revoke | env`: API keys through the admin API. Invariants: a new key is alone on standard
// output; an account is created only if the rest of the request is valid.

import type { Command } from '@commander-js/extra-typings'
import { describeCommand, valueParser, withHint } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import { issueKey, keyOptions, listCommand, revokeCommand } from './account-keys.node.ts'
import { createdText, ensureAccount } from './accounts.node.ts'
import type { GatewayClient } from './gateway.node.ts'
import { accountPath } from './gateway.node.ts'
import { type RunningFile, readRunning } from './running-file.node.ts'
import { type CommandResult, commandRunner, gatewayProgram, type Shell } from './shell.node.ts'
import { CreditsValue, REGION_HELP } from './values.ts'

const DEMO = 'demo'
const NO_ACCOUNT = /^--account: [^;]*$/

/** The program, on a shell. */
export function keysProgram(shell: Shell): Command {
  const keys = gatewayProgram('keys')
  const act = commandRunner(shell)
  const created = withHint(keyOptions(keys.command('create')), /too many arguments/, 'pass the account as --account ID')
  describeCommand(created, 'create a key, printed alone: K=$(npx weir keys create)', [
    '',
    '--account acme --credits 500',
    '--url https://weir.example.workers.dev --account acme --label bot',
  ])
    .option(
      '--account <id>',
      'account, created if missing (default: demo; with --credits, a new account with a generated name)',
    )
    .option('--credits <n>', 'credits of a new account, instead of those of its plan', valueParser(CreditsValue))
    .option('--plan <name>', 'plan of a new account (default: trial)')
    .option('--region <region>', REGION_HELP)
    .action(
      act((gateway, { account, credits, plan, region, ...key }) =>
        createKey(gateway, key, { credits, plan, region }, account),
      ),
    )
  listCommand(keys, act, shell.now)
  revokeCommand(keys, act)
  describeCommand(
    keys.command('env'),
    'print shell variables of the running "npx weir demo": eval "$(npx weir keys env)"',
    [''],
  ).action((_, command) => {
    const { state } = command.optsWithGlobals() as { readonly state: string }
    const dev = readRunning(state, 'WEIR_URL and WEIR_KEY in the environment')
    const line = dev.ok ? exportLine(dev.value) : dev
    if (line.ok) return shell.print(line.value)
    shell.note(line.error)
    shell.fail()
  })
  return keys
}

/** No value has a character that is special to a shell. */
function exportLine({ url, key, service_key }: RunningFile): Result<string, string> {
  if (key === undefined) return err('Only "npx weir demo" has a demo key. Create a key with: npx weir keys create')
  return ok(`export WEIR_URL=${url} WEIR_KEY=${key} WEIR_SERVICE_KEY=${service_key}`)
}

interface NewAccount {
  readonly credits: string | undefined
  readonly plan: string | undefined
  readonly region: string | undefined
}

async function createKey(
  gateway: GatewayClient,
  key: object,
  newAccount: NewAccount,
  named: string | undefined,
): Promise<Result<CommandResult, string>> {
  const isNewAccount = Object.values(newAccount).some((value) => value !== undefined)
  if (named === undefined && isNewAccount) return issueKey(gateway, { ...key, ...newAccount })
  const account = named ?? DEMO
  const body = { ...key, account }
  const existing = await gateway.exists(accountPath(account))
  if (!existing.ok) return existing
  if (existing.value) return isNewAccount ? err(accountExistsText(account, newAccount)) : issueKey(gateway, body)
  // Creates the account only if its absence is the sole problem; otherwise an invalid key request would leave an account.
  const probe = await issueKey(gateway, body)
  if (probe.ok || !NO_ACCOUNT.test(probe.error)) return probe
  const made = await ensureAccount(gateway, account, newAccount)
  if (!made.ok) return made
  if (!made.value.created && isNewAccount) return err(accountExistsText(account, newAccount))
  const issued = await issueKey(gateway, body)
  const note = createdText(made.value, newAccount.plan)
  if (!issued.ok) return err(`${issued.error}\n${note}, but no key`)
  return ok({ ...issued.value, notes: [note, ...(issued.value.notes ?? [])] })
}

function accountExistsText(account: string, { credits }: NewAccount): string {
  const grant = `npx weir admin account grant ${account} ${credits ?? 'CREDITS'} --id TEXT`
  return `--credits, --plan and --region need a new account, and ${account} already exists. Omit them, or add credits with: ${grant}`
}
