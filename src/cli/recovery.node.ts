// `npm run admin -- reconcile`, `export` and `import`. An export is one JSON line per account. Invariant: each command can be
// repeated after an interruption.

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

type Reconciled = Responses['reconcileAccounts']

/** Adds the commands of recovery to the operator's program. */
export function recoveryCommands(admin: Command, act: CommandAction): void {
  describeCommand(admin.command('reconcile'), 'compare all accounts with their meters, after a restore', [
    '',
    '--apply',
  ])
    .option('--apply', 'repair the differences')
    .action(act((gateway, { apply = false }) => reconcile(gateway, apply)))
  describeCommand(admin.command('export'), 'print all accounts, grants and hashes of keys, one line per account', [
    '',
  ]).action(act(exportAll))
  describeCommand(admin.command('import'), 'import exported accounts; repeat it after an interruption', [
    'accounts.jsonl',
  ])
    .argument('<file>', 'a file that "export" printed')
    .action(act(importAll))
}

async function reconcile(gateway: GatewayClient, apply: boolean): Promise<Result<CommandResult, string>> {
  const differences: Reconciled['differences'] = []
  let checked = 0
  for (let after: string | null = ''; after !== null; ) {
    const body: object = { apply, ...(after !== '' && { after }) }
    const page: Result<Reconciled, string> = await gateway.request<Reconciled>(
      'POST',
      '/admin/reconcile',
      ['checked', 'differences', 'next'],
      body,
    )
    if (!page.ok) return page
    checked += page.value.checked
    differences.push(...page.value.differences)
    after = page.value.next
  }
  const open = differences.filter(({ repair }) => !apply || repair === 'none').length
  const text = differences.length === 0 ? 'no differences' : details({ differences })
  const advice = apply ? 'compare again; differences with repair "none" need a decision' : 'add --apply to repair them'
  const notes = [`${checked} accounts, ${differences.length} differences${differences.length > 0 ? `: ${advice}` : ''}`]
  return ok({ json: { checked, differences }, text, notes, isFailure: open > 0 })
}

async function exportAll(gateway: GatewayClient): Promise<Result<CommandResult, string>> {
  const lines: string[] = []
  for (let after: string | null = ''; after !== null; ) {
    const path: string = `/admin/export${after === '' ? '' : `?after=${encodeURIComponent(after)}`}`
    const page: Result<Responses['exportAccounts'], string> = await gateway.request<Responses['exportAccounts']>(
      'GET',
      path,
      ['accounts', 'next'],
    )
    if (!page.ok) return page
    lines.push(...page.value.accounts.map((account) => JSON.stringify(account)))
    after = page.value.next
  }
  return ok({ json: lines, text: lines.join('\n'), notes: [`${lines.length} accounts`] })
}

async function importAll(gateway: GatewayClient, file: string): Promise<Result<CommandResult, string>> {
  let count = 0
  const refused: string[] = []
  try {
    for await (const line of createInterface({ input: createReadStream(file, 'utf8') })) {
      if (line.trim() === '') continue
      const body = parseJson(line)
      if (typeof body !== 'object' || body === null) return err(`Line ${count + 1} of ${file} is not a JSON object.`)
      const answer = await gateway.request<Responses['importAccount']>(
        'POST',
        '/admin/import',
        ['account', 'imported'],
        body,
      )
      if (!answer.ok)
        return err(`${answer.error}\n${count} accounts were imported. Run this command again for the rest.`)
      count++
      if (!answer.value.imported) refused.push(answer.value.account)
    }
  } catch (error) {
    return err(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  const notes = refused.map((account) => `another account named ${account} exists and stays unchanged`)
  return ok({
    json: { accounts: count, refused },
    text: `imported ${count - refused.length} accounts`,
    notes,
    isFailure: refused.length > 0,
  })
}
