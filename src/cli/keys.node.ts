// `npm run keys -- create | list | revoke | env`: keys of a gateway, over its admin API. Laws: a key stands alone on standard
// output; an account is made only where all else of the key is right.

import type { Command } from '@commander-js/extra-typings'
import { describeCommand, runProgram, valueParser, withHint } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import { issueKey, keyOptions, listCommand, revokeCommand } from './account-keys.node.ts'
import { createdText, ensureAccount } from './accounts.node.ts'
import { type DevFile, readDevFile } from './dev-file.node.ts'
import type { GatewayClient } from './gateway.node.ts'
import { accountPath } from './gateway.node.ts'
import { type CommandResult, commandRunner, gatewayProgram, processShell, type Shell } from './shell.node.ts'
import { CreditsValue } from './values.ts'

const DEMO = 'demo'
const NO_ACCOUNT = /^--account: [^;]*$/

/** The program, on a shell. */
export function keysProgram(shell: Shell): Command {
  const keys = gatewayProgram('npm run keys --', 'API keys of a gateway')
  const act = commandRunner(shell)
  const created = withHint(
    keyOptions(keys.command('create')),
    /too many arguments/,
    'an account is said as --account ID',
  )
  describeCommand(created, 'a new key, alone on standard output: K=$(npm run -s keys -- create)', [
    '',
    '--account acme --credits 500',
    '--url https://weir.example.workers.dev --account acme --label bot',
  ])
    .option('--account <id>', 'whose; made where there is none (demo; a new one of any name with --credits)')
    .option('--credits <n>', "of a new account, in place of the plan's first", valueParser(CreditsValue))
    .option('--plan <name>', 'of a new account (trial)')
    .action(act((gateway, { account, credits, plan, ...key }) => createKey(gateway, key, { credits, plan }, account)))
  listCommand(keys, act, shell.now)
  revokeCommand(keys, act)
  describeCommand(
    keys.command('env'),
    'the running "npm start" as variables of a shell: eval "$(npm run -s keys -- env)"',
    [''],
  ).action((_, command) => {
    const { state } = command.optsWithGlobals() as { readonly state: string }
    const dev = readDevFile(state, 'WEIR_URL and WEIR_KEY in the environment')
    if (dev.ok) return shell.print(exportLine(dev.value))
    shell.note(dev.error)
    shell.fail()
  })
  return keys
}

/** None of the values has a character that a shell reads. */
function exportLine({ url, key, service_key }: DevFile): string {
  return `export WEIR_URL=${url} WEIR_KEY=${key} WEIR_SERVICE_KEY=${service_key}`
}

/** A new account, as the admin API takes it. */
interface NewAccount {
  readonly credits: string | undefined
  readonly plan: string | undefined
}

async function createKey(
  gateway: GatewayClient,
  key: object,
  fresh: NewAccount,
  named: string | undefined,
): Promise<Result<CommandResult, string>> {
  const isFresh = fresh.credits !== undefined || fresh.plan !== undefined
  if (named === undefined && isFresh) return issueKey(gateway, { ...key, ...fresh })
  const account = named ?? DEMO
  const order = { ...key, account }
  const found = await gateway.exists(accountPath(account))
  if (!found.ok) return found
  if (found.value) return isFresh ? err(accountExistsText(account, fresh)) : issueKey(gateway, order)
  // Refused for want of the account, and of nothing else, or the account would be made for a key that cannot be.
  const probe = await issueKey(gateway, order)
  if (probe.ok || !NO_ACCOUNT.test(probe.error)) return probe
  const made = await ensureAccount(gateway, account, fresh)
  if (!made.ok) return made
  if (!made.value.created && isFresh) return err(accountExistsText(account, fresh))
  const issued = await issueKey(gateway, order)
  const note = createdText(made.value, fresh.plan)
  if (!issued.ok) return err(`${issued.error}\n${note}, but no key.`)
  return ok({ ...issued.value, notes: [note, ...(issued.value.notes ?? [])] })
}

function accountExistsText(account: string, { credits }: NewAccount): string {
  const grant = `npm run admin -- account grant ${account} ${credits ?? 'CREDITS'} --id TEXT`
  return `--credits and --plan are of a new account, and ${account} is there: leave them out, or grant to it: ${grant}`
}

if (import.meta.main) await runProgram(keysProgram(processShell()), process.argv.slice(2))
