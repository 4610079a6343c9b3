// `weir export FOLDER`: plans, accounts, pipelines and the archive of a gateway, for `weir import`. Invariants: the manifest is
// written last; a pipeline that `--stop` pauses is recorded as running before it is paused.

import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import * as z from 'zod'
import type { Responses } from '../console/responses.ts'
import { writeAtomically } from '../core/atomic-file.node.ts'
import { parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { GatewayClient } from './gateway.node.ts'
import { copyArchive } from './move/archive-copy.node.ts'
import { EXPORT_FILES, type ExportManifest, MANIFEST } from './move/export-manifest.ts'
import { exportAll } from './recovery.node.ts'
import { factsOf } from './serve/backup.node.ts'
import { type CommandResult, commandRunner, gatewayProgram, type Shell } from './shell.node.ts'
import { WEIR_VERSION } from './version.node.ts'

type Pipeline = Responses['exportPipelines']['pipelines'][number]
interface Pipelines {
  readonly pipelines: readonly Pipeline[]
  readonly keySecretHash: string | null
}

/** Ids of the pipelines that exports into this folder have paused. */
const STOPPED = 'stopped.json'
/** Phases of a paused pipeline whose batch is not decided. */
const MOVING: readonly string[] = ['backfilling', 'live', 'pausing', 'retrying']
const POLL_MS = 1_000
const POLLS = 60

interface Options {
  readonly stop?: true | undefined
  readonly resume?: true | undefined
  readonly archive: boolean
  /** Null: the gateway runs elsewhere. */
  readonly state: string | null
}

export function exportProgram(shell: Shell): Command {
  const program = gatewayProgram('export', ['/backups/move --state /var/lib/weir --stop', '/backups/move --resume'])
  const act = commandRunner(shell)
  program
    .argument('<folder>', 'folder of the export; repeat the command to continue or refresh it')
    .option('--stop', 'pause all pipelines first, so that another gateway can continue them')
    .option('--resume', 'only start the pipelines again that --stop has paused')
    .option('--no-archive', 'leave out the archive')
    .action(
      act((gateway, folder, { stop, resume, archive }) => {
        const { url, remote, state } = program.opts() as { url?: string; remote?: true; state: string }
        const local = url === undefined && remote === undefined ? resolve(state) : null
        const options = { stop, resume, archive, state: local }
        const run = resume ? resumeAll(gateway, resolve(folder)) : exportTo(gateway, resolve(folder), options, shell)
        return run.catch(diskError)
      }),
    )
  return program as Command
}

/** An error of the file system, such as a full disk, as a sentence. */
function diskError(error: Error): Result<never, string> {
  if (!('code' in error)) throw error
  return err(`The export is not complete: ${error.message}.`)
}

async function exportTo(
  gateway: GatewayClient,
  folder: string,
  { stop, archive, state }: Options,
  shell: Shell,
): Promise<Result<CommandResult, string>> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  rmSync(join(folder, MANIFEST), { force: true })
  const plans = await gateway.request<Responses['listPlans']>('GET', '/admin/plans', ['plans'])
  if (!plans.ok) return plans
  const pipelines = stop ? await stopAll(gateway, folder, shell) : await pipelinesOf(gateway)
  if (!pipelines.ok) return pipelines
  const accounts: string[] = []
  const exported = await exportAll(gateway, (line) => accounts.push(line))
  if (!exported.ok) return exported
  const copied = archive && state !== null ? copyArchive(state, folder) : 0
  if (copied === null) return err('The archive deletes objects faster than they are copied. Run this command again.')
  const going = pipelines.value.pipelines.filter(({ phase }) => phase !== 'finished')
  const texts = {
    plans: `${JSON.stringify(plans.value.plans, null, 2)}\n`,
    accounts: linesOf(accounts),
    pipelines: linesOf(going.map((pipeline) => JSON.stringify(pipeline))),
  }
  for (const [name, text] of Object.entries(texts)) writeAtomically(pathOf(folder, name as keyof typeof texts), text)
  const manifest: ExportManifest = {
    version: WEIR_VERSION,
    atMs: shell.now(),
    keySecretHash: pipelines.value.keySecretHash,
    isStopped: stop === true,
    files: {
      plans: await factsOf(pathOf(folder, 'plans')),
      accounts: await factsOf(pathOf(folder, 'accounts')),
      pipelines: await factsOf(pathOf(folder, 'pipelines')),
    },
    objects: copied,
  }
  writeAtomically(join(folder, MANIFEST), `${JSON.stringify(manifest)}\n`)
  const counts = `${plans.value.plans.length} plans, ${accounts.length} accounts, ${going.length} pipelines and ${copied} objects of the archive`
  const notes = [
    ...(exported.value.notes ?? []).slice(0, -1),
    ...(archive && state === null
      ? ['The archive is elsewhere: import it with "npx weir backfill --from TIME URL".']
      : []),
  ]
  return ok({ json: manifest, text: `Exported ${counts}.`, notes, isFailure: exported.value.isFailure === true })
}

export const pathOf = (folder: string, name: keyof typeof EXPORT_FILES) => join(folder, EXPORT_FILES[name])
const linesOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')

async function pipelinesOf(gateway: GatewayClient): Promise<Result<Pipelines, string>> {
  const pipelines: Pipeline[] = []
  for (let after: string | null = ''; ; ) {
    const path: string = `/admin/export/pipelines${after === '' ? '' : `?after=${encodeURIComponent(after)}`}`
    const page = await gateway.request<Responses['exportPipelines']>('GET', path, [
      'pipelines',
      'failed',
      'next',
      'key_secret_hash',
    ])
    if (!page.ok) return page
    const { failed, next, key_secret_hash: keySecretHash } = page.value
    if (failed.length > 0)
      return err(`The workers of these pipelines did not respond: ${failed.join(', ')}. Run this command again.`)
    pipelines.push(...page.value.pipelines)
    if (next === null) return ok({ pipelines, keySecretHash })
    after = next
  }
}

/** The pipelines when no batch is in flight. Those that were paused for the export have the status `running`. */
async function stopAll(gateway: GatewayClient, folder: string, shell: Shell): Promise<Result<Pipelines, string>> {
  const before = await pipelinesOf(gateway)
  if (!before.ok) return before
  const running = before.value.pipelines.filter(({ fields }) => fields.status === 'running').map(({ id }) => id)
  const stopped = new Set([...readStopped(folder), ...running])
  writeAtomically(join(folder, STOPPED), JSON.stringify([...stopped]))
  for (const id of running) {
    const paused = await setStatus(gateway, id, 'paused')
    if (!paused.ok) return paused
  }
  for (let poll = 0; ; poll++) {
    const now = await pipelinesOf(gateway)
    if (!now.ok) return now
    const { pipelines, keySecretHash } = now.value
    const moving = pipelines.filter(({ phase }) => MOVING.includes(phase)).map(({ id }) => id)
    if (moving.length === 0) {
      const asBefore = pipelines.map((pipeline) =>
        stopped.has(pipeline.id)
          ? { ...pipeline, fields: { ...pipeline.fields, status: 'running' as const } }
          : pipeline,
      )
      return ok({ pipelines: asBefore, keySecretHash })
    }
    if (poll === POLLS)
      return err(
        `These pipelines have a batch in flight, because their destinations do not answer: ${moving.join(', ')}. Run this command again, or start all pipelines with --resume.`,
      )
    await shell.wait(POLL_MS)
  }
}

function readStopped(folder: string): readonly string[] {
  const path = join(folder, STOPPED)
  return existsSync(path) ? (z.array(z.string()).safeParse(parseJson(readFileSync(path, 'utf8'))).data ?? []) : []
}

const setStatus = (gateway: GatewayClient, id: string, status: 'running' | 'paused') =>
  gateway.request<Responses['setStatusAsOperator']>('PUT', `/admin/pipelines/${encodeURIComponent(id)}`, ['status'], {
    status,
  })

async function resumeAll(gateway: GatewayClient, folder: string): Promise<Result<CommandResult, string>> {
  const stopped = readStopped(folder)
  for (const id of stopped) {
    const started = await setStatus(gateway, id, 'running')
    if (!started.ok) return started
  }
  rmSync(join(folder, STOPPED), { force: true })
  rmSync(join(folder, MANIFEST), { force: true })
  return ok({ json: { started: stopped }, text: `Started ${stopped.length} pipelines.` })
}
