// `weir import FOLDER`: an export of another gateway. Invariants: nothing is written if the export is not whole or KEY_SECRET
// differs, because keys and sealed secrets would not work; each part can be repeated after an interruption; a pipeline is
// imported only where the gateway has all blocks that it has not delivered.

import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Command } from '@commander-js/extra-typings'
import type { Responses } from '../console/responses.ts'
import { parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'
import { type ProgressMeter, progressMeter } from './backfill/progress-meter.node.ts'
import { readTarget } from './backfill/target.node.ts'
import { ArchivedRange, type BackfillTarget } from './backfill/window.ts'
import { backfill } from './backfill.node.ts'
import { pathOf } from './export.node.ts'
import type { GatewayClient } from './gateway.node.ts'
import { ARCHIVE, EXPORT_FILES, type ExportManifest, MANIFEST, manifestOf } from './move/export-manifest.ts'
import { importAll } from './recovery.node.ts'
import { factsOf } from './serve/backup.node.ts'
import { type CommandResult, commandRunner, gatewayProgram, type Shell } from './shell.node.ts'
import { REGION_HELP } from './values.ts'
import { WEIR_VERSION } from './version.node.ts'

type Plan = Responses['listPlans']['plans'][number]
type Pipeline = Responses['exportPipelines']['pipelines'][number]

export function importProgram(shell: Shell, meter: ProgressMeter = progressMeter()): Command {
  const program = gatewayProgram('import', ['/backups/move --remote'])
  const act = commandRunner(shell)
  program
    .argument('<folder>', 'a folder that "npx weir export" wrote')
    .option('--region <region>', REGION_HELP)
    .option('--accept-gaps', 'also import pipelines whose next blocks are missing; they skip these')
    .action(act((gateway, folder, options) => importFrom(gateway, resolve(folder), options, { shell, meter })))
  return program as Command
}

interface Options {
  readonly region?: string | undefined
  readonly acceptGaps?: boolean | undefined
}

interface Ports {
  readonly shell: Shell
  readonly meter: ProgressMeter
}

async function importFrom(
  gateway: GatewayClient,
  folder: string,
  { region, acceptGaps = false }: Options,
  { shell, meter }: Ports,
): Promise<Result<CommandResult, string>> {
  const manifest = await readExport(folder)
  if (!manifest.ok) return manifest
  const target = await gateway.request<Responses['exportPipelines']>('GET', '/admin/export/pipelines', [
    'key_secret_hash',
  ])
  if (!target.ok) return target
  if (target.value.key_secret_hash !== manifest.value.keySecretHash)
    return err(
      `KEY_SECRET of ${gateway.url} is not that of the exported gateway, so no key and no sealed secret would work. Nothing was imported. Set it there first: npx weir deploy --secret KEY_SECRET.`,
    )
  const plans = await importPlans(gateway, parseJson(readFileSync(pathOf(folder, 'plans'), 'utf8')) as Plan[])
  if (!plans.ok) return plans
  const accounts = await importAll(gateway, pathOf(folder, 'accounts'), region)
  if (!accounts.ok) return accounts
  const parts = [plans.value, accounts.value]
  if (manifest.value.objects > 0) {
    const filled = await backfill(gateway, join(folder, ARCHIVE), { from: { height: 0 } }, shell, meter)
    if (!filled.ok) return err(`${filled.error} Then run this command again, which imports the archive and pipelines.`)
    parts.push(filled.value)
  }
  // They read the archive.
  parts.push(await importPipelines(gateway, folder, manifest.value.isStopped, acceptGaps))
  return ok({
    json: parts.map(({ json }) => json),
    text: parts.flatMap(({ text }) => (text === '' ? [] : [text])).join('\n'),
    notes: parts.flatMap(({ notes = [] }) => notes),
    isFailure: parts.some(({ isFailure }) => isFailure),
  })
}

/** The manifest of a whole export, whose files are as it says. */
async function readExport(folder: string): Promise<Result<ExportManifest, string>> {
  const path = join(folder, MANIFEST)
  const manifest = manifestOf(existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : null, WEIR_VERSION)
  if (typeof manifest === 'string') return err(`${folder} ${manifest}`)
  for (const name of Object.keys(EXPORT_FILES) as (keyof typeof EXPORT_FILES)[]) {
    const file = pathOf(folder, name)
    const facts = existsSync(file) ? await factsOf(file) : null
    if (!isDeepStrictEqual(facts, manifest.files[name]))
      return err(`${file} is not the file that was exported. Run "npx weir export" again.`)
  }
  return ok(manifest)
}

/** Adds or changes plans until they are as exported. */
async function importPlans(gateway: GatewayClient, plans: readonly Plan[]): Promise<Result<CommandResult, string>> {
  const listed = await gateway.request<Responses['listPlans']>('GET', '/admin/plans', ['plans'])
  if (!listed.ok) return listed
  const termsOf = ({ name: _, accounts: __, ...terms }: Plan) => terms
  const changed: string[] = []
  for (const plan of plans) {
    const same = listed.value.plans.find(({ name }) => name === plan.name)
    if (same !== undefined && isDeepStrictEqual(termsOf(same), termsOf(plan))) continue
    const set = await gateway.request('PUT', `/admin/plans/${encodeURIComponent(plan.name)}`, [], termsOf(plan))
    if (!set.ok) return err(`${plan.name}: ${set.error}`)
    changed.push(plan.name)
  }
  const text = changed.length === 0 ? 'all plans are as exported' : `set the plans ${changed.join(', ')}`
  return ok({ json: { plans: changed }, text })
}

/** Continues after a pipeline that is refused. */
async function importPipelines(
  gateway: GatewayClient,
  folder: string,
  isStopped: boolean,
  acceptGaps: boolean,
): Promise<CommandResult> {
  const target = await readTarget(gateway)
  const lines = readFileSync(pathOf(folder, 'pipelines'), 'utf8').split('\n').filter(Boolean)
  const refused: string[] = []
  for (const line of lines) {
    const pipeline = parseJson(line) as Pipeline
    const missing = acceptGaps ? null : missingBlocks(pipeline, target.ok ? target.value : null)
    if (missing !== null) {
      refused.push(`${pipeline.id}: ${missing}`)
      continue
    }
    const fields = { ...pipeline.fields, ...(!isStopped && { status: 'paused' }) }
    const answer = await gateway.request<Responses['importPipeline']>(
      'POST',
      '/admin/import/pipeline',
      ['id', 'imported'],
      { ...pipeline, fields },
    )
    if (!answer.ok) refused.push(`${pipeline.id}: ${answer.error}`)
    else if (!answer.value.imported) refused.push(`${pipeline.id}: another pipeline with this id exists`)
  }
  const imported = lines.length - refused.length
  const paused =
    'They are paused, because the export was made without --stop: the other gateway may still deliver them.'
  return {
    json: { imported, refused },
    text: `imported ${imported} pipelines`,
    notes: [...refused, ...(isStopped || imported === 0 ? [] : [paused])],
    isFailure: refused.length > 0,
  }
}

/** Why rows would be lost here; null: none would. Other chains have their own heights. */
function missingBlocks({ fields }: Pipeline, target: BackfillTarget | null): string | null {
  const { topic, execution_start_from: start } = fields
  if (!/^\d+$/.test(start) || topic === 'evm_logs' || target === null) return null
  const { from, end, gaps } = target
  const next = Number(start)
  if (next >= end.height || new ArchivedRange(from, end, gaps).hasAll(next, end.height - 1)) return null
  return `it continues at block ${next}, and some blocks from there on are missing here. Export again, when the other gateway has archived blocks that this one has too, or pass --accept-gaps`
}
