// `npx weir admin reconcile`, `export` and `import`. An export is one JSON line per account. Invariants: each command
// can be repeated after an interruption; an account that fails is named, and does not stop the others.

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Command } from '@commander-js/extra-typings'
import type { Responses } from '../console/responses.ts'
import { describeCommand } from '../core/command-line.node.ts'
import { parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { GatewayClient } from './gateway.node.ts'
import type { CommandAction, CommandResult } from './shell.node.ts'
import { details } from './table.node.ts'
import { REGION_HELP } from './values.ts'

type Reconciled = Responses['reconcileAccounts']

/** Adds the commands of recovery to the operator's program. */
export function recoveryCommands(admin: Command, act: CommandAction, print: (line: string) => void): void {
  describeCommand(admin.command('reconcile'), 'compare all accounts with their meters, after a restore', [
    '',
    '--apply',
  ])
    .option('--apply', 'repair the differences')
    .action(act((gateway, { apply = false }) => reconcile(gateway, apply)))
  describeCommand(admin.command('export'), 'print all accounts, grants and hashes of keys, one line per account', [
    '',
  ]).action(act((gateway) => exportAll(gateway, print)))
  describeCommand(admin.command('import'), 'import exported accounts; repeat it after an interruption', [
    'accounts.jsonl',
  ])
    .argument('<file>', 'a file that "export" printed')
    .option('--region <region>', REGION_HELP)
    .action(act((gateway, file, { region }) => importAll(gateway, file, region)))
}

async function reconcile(gateway: GatewayClient, apply: boolean): Promise<Result<CommandResult, string>> {
  const differences: Reconciled['differences'] = []
  const failed: string[] = []
  let checked = 0
  for (let after: string | null = ''; after !== null; ) {
    const body: object = { apply, ...(after !== '' && { after }) }
    const page: Result<Reconciled, string> = await gateway.request<Reconciled>(
      'POST',
      '/admin/reconcile',
      ['checked', 'differences', 'failed', 'next'],
      body,
    )
    if (!page.ok) return page
    checked += page.value.checked
    differences.push(...page.value.differences)
    failed.push(...page.value.failed)
    after = page.value.next
  }
  const open = differences.filter(({ repair }) => !apply || repair === 'none').length
  const text = differences.length === 0 ? 'no differences' : details({ differences })
  const advice = apply ? 'compare again; differences with repair "none" need a decision' : 'add --apply to repair them'
  const notes = [`${checked} accounts, ${differences.length} differences${differences.length > 0 ? `: ${advice}` : ''}`]
  notes.push(...failed.map(failureText))
  return ok({ json: { checked, differences, failed }, text, notes, isFailure: open + failed.length > 0 })
}

const failureText = (account: string) => `${account}: failed. See the log of the gateway, then repeat this command.`

/** Prints each page as it arrives, so that a failure loses no other account. */
export async function exportAll(
  gateway: GatewayClient,
  print: (line: string) => void,
): Promise<Result<CommandResult, string>> {
  const failures: string[] = []
  let count = 0
  for (let after: string | null = ''; after !== null; ) {
    const path: string = `/admin/export${after === '' ? '' : `?after=${encodeURIComponent(after)}`}`
    const page: Result<Responses['exportAccounts'], string> = await gateway.request<Responses['exportAccounts']>(
      'GET',
      path,
      ['accounts', 'failed', 'next'],
    )
    if (!page.ok) return err(`${page.error}\nThe export is not complete: it ends after ${count} accounts.`)
    for (const account of page.value.accounts) {
      print(JSON.stringify(account))
      const { keys_left_out: left } = account
      if (left > 0) failures.push(`${account.account}: ${left} keys exceed the limit of 1,000 and are not exported`)
    }
    count += page.value.accounts.length
    failures.push(...page.value.failed.map(failureText))
    after = page.value.next
  }
  return ok({ json: undefined, text: '', notes: [...failures, `${count} accounts`], isFailure: failures.length > 0 })
}

/** Continues after a line that is refused. */
export async function importAll(
  gateway: GatewayClient,
  file: string,
  region: string | undefined,
): Promise<Result<CommandResult, string>> {
  const refused: string[] = []
  let lines = 0
  let imported = 0
  try {
    for await (const text of createInterface({ input: createReadStream(file, 'utf8') })) {
      lines++
      if (text.trim() === '') continue
      const failure = await importLine(gateway, text, region)
      if (failure === null) imported++
      else refused.push(`line ${lines}: ${failure}`)
    }
  } catch (error) {
    return err(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  const advice = 'Correct the cause and run this command again: accounts that are imported stay unchanged.'
  return ok({
    json: { imported, refused },
    text: `imported ${imported} accounts`,
    notes: refused.length > 0 ? [...refused, advice] : [],
    isFailure: refused.length > 0,
  })
}

/** Null: imported. */
async function importLine(gateway: GatewayClient, text: string, region: string | undefined): Promise<string | null> {
  const exported = parseJson(text)
  if (typeof exported !== 'object' || exported === null) return 'not a JSON object'
  const name = 'account' in exported ? `${exported.account}: ` : ''
  const answer = await gateway.request<Responses['importAccount']>('POST', '/admin/import', ['account', 'imported'], {
    ...exported,
    region,
  })
  if (!answer.ok) return `${name}${answer.error}`
  return answer.value.imported ? null : `${name}another account with this name exists and stays unchanged`
}
