// `weir restore SNAPSHOT`: puts a backup into an empty state folder. Invariants: every file is verified before the first is
// written; `weir serve` refuses a folder whose restore did not finish.

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { AnyCommand } from '../../core/command-line.node.ts'
import { LaunchError } from '../launch/messages.ts'
import { DEFAULT_STATE } from '../running-file.node.ts'
import { type Shell, weirProgram } from '../shell.node.ts'
import { WEIR_VERSION } from '../version.node.ts'
import { copyDurably, factsOf, POOL, readManifest, snapshotsOf, syncFile } from './backup.node.ts'
import { type BackupManifest, type FileFacts, restoreFault } from './backup-manifest.ts'
import { RESTORING } from './serve-folder.node.ts'

export function restoreProgram(shell: Shell): AnyCommand {
  return weirProgram('restore', ['/backups/weir --state /var/lib/weir', '/backups/weir/2026-11-30T03-00-00.000Z'])
    .argument('<backup>', 'folder of one backup, or of all: then the newest is restored')
    .option('--state <dir>', 'state folder, which must be empty', DEFAULT_STATE)
    .action(async (backup, { state }) => {
      process.umask(0o077)
      try {
        const manifest = await restore(resolve(backup), resolve(state))
        const time = new Date(manifest.atMs).toISOString()
        shell.note(`Restored the backup of ${time} into ${state}. Start it: npx weir serve --state ${state}`)
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (!(error instanceof LaunchError) && code === undefined) throw error
        shell.note(
          error instanceof LaunchError
            ? message
            : `The backup was not restored: ${message}. Run the same command again.`,
        )
        shell.fail()
      }
    })
}

export async function restore(backup: string, state: string): Promise<BackupManifest> {
  const own = readManifest(backup)
  const chosen = own === null ? snapshotsOf(backup)[0] : { path: backup, manifest: own }
  if (chosen === undefined)
    throw new LaunchError(`${backup} has no complete backup. An interrupted backup has no valid manifest.json.`)
  const { path: snapshot, manifest } = chosen
  const fault = restoreFault(manifest, WEIR_VERSION)
  if (fault !== null) throw new LaunchError(`The backup ${snapshot} ${fault}`)
  const pool = join(dirname(snapshot), POOL)
  for (const [path, facts] of Object.entries(manifest.files)) await verify(join(snapshot, path), facts)
  for (const [path, facts] of Object.entries(manifest.blobs)) await verify(join(pool, path), facts)
  claimEmpty(state)
  for (const path of Object.keys(manifest.files)) copyDurably(join(snapshot, path), join(state, path))
  for (const path of Object.keys(manifest.blobs)) copyDurably(join(pool, path), join(state, path))
  // A power cut must not keep this file's removal and lose another's content.
  syncFile(state)
  rmSync(join(state, RESTORING))
  return manifest
}

async function verify(path: string, { bytes, sha256 }: FileFacts): Promise<void> {
  const found = existsSync(path) ? await factsOf(path) : null
  if (found?.bytes === bytes && found.sha256 === sha256) return
  throw new LaunchError(
    `${path} is ${found === null ? 'missing' : 'damaged'}. Nothing was restored. Choose another backup.`,
  )
}

/** Deletes the files of an interrupted restore, and those of a start that was refused because of it. */
function claimEmpty(state: string): void {
  const names = existsSync(state) ? readdirSync(state).filter((name) => name !== 'lost+found') : []
  if (names.includes(RESTORING) && names.every((name) => RESTORED.test(name)))
    for (const name of names) rmSync(join(state, name), { recursive: true })
  else if (names.length > 0)
    throw new LaunchError(`${state} is not empty. Choose a new folder with --state, or move the old one away.`)
  mkdirSync(state, { recursive: true, mode: 0o700 })
  writeFileSync(join(state, RESTORING), '', { flush: true })
}

const RESTORED = new RegExp(`^(?:${RESTORING}|secrets\\.json|folder\\.json|gateway|log|claim\\.sqlite(?:-journal)?)$`)
