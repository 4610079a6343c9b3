// The state folder of `weir serve`: that of a launch without a demo, with a mark of its version and clock.

import { chownSync, existsSync, rmSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { writeAtomically } from '../../core/atomic-file.node.ts'
import { lockFile } from '../../core/file-lock.node.ts'
import { LaunchError, PROBLEMS } from '../launch/messages.ts'
import { checkDatabases, readJson, type Secrets, StateFolder } from '../launch/state-folder.node.ts'
import { runningFilePath } from '../running-file.node.ts'
import { WEIR_VERSION } from '../version.node.ts'
import { compareVersions, FolderMark, markFault } from './folder-mark.ts'

const MARK = 'folder.json'
/** Exists while a backup is being restored. */
export const RESTORING = 'restoring'
const RESTORE = 'restore a backup with "npx weir restore"'

export class ServeFolder extends StateFolder {
  constructor(path: string) {
    super(path, RESTORE)
  }

  /** Throws a LaunchError if this version must not run on the folder now. */
  check(nowMs: number, isClockAccepted: boolean): void {
    if (!existsSync(this.pathOf(MARK)) && existsSync(this.pathOf('ports.json')))
      throw new LaunchError(`${this.path} belongs to "npx weir demo". Choose a different folder with --state DIR.`)
    if (existsSync(this.pathOf(RESTORING)))
      throw new LaunchError(`The restore into ${this.path} did not finish. Run "npx weir restore" again.`)
    if (this.isDiskFull()) throw new LaunchError(PROBLEMS.diskFull(this.path))
    const mark = this.readMark()
    const fault = mark && markFault({ ...mark, ...(isClockAccepted && { lastMs: 0 }) }, WEIR_VERSION, nowMs)
    if (fault !== null) throw new LaunchError(`The state folder ${this.path} ${fault}`)
    checkDatabases(this.pathOf('gateway'), this.remedy, false)
  }

  /** The tokens: those of the environment, else those of the folder, else new ones. */
  useSecrets(env: Readonly<Record<string, string | undefined>>): Secrets {
    const own = this.ensureSecrets()
    const { ADMIN_TOKEN, FEED_TOKEN, METRICS_TOKEN, KEY_SECRET } = env
    if (KEY_SECRET && KEY_SECRET !== own.KEY_SECRET && existsSync(this.pathOf(MARK)))
      throw new LaunchError(PROBLEMS.keySecretChanged('the environment', this.remedy))
    const secrets = {
      ...own,
      ...(ADMIN_TOKEN && { ADMIN_TOKEN }),
      ...(FEED_TOKEN && { FEED_TOKEN }),
      ...(METRICS_TOKEN && { METRICS_TOKEN }),
      ...(KEY_SECRET && { KEY_SECRET }),
    }
    this.writeSecrets(secrets)
    return secrets
  }

  /** Until the result is closed, no other backup can stop and resume the gateway, or delete from the same folder of backups. */
  lockBackups(): DatabaseSync {
    const path = this.pathOf('backup.sqlite')
    const lock = lockFile(path, 0)
    if (lock === null) throw new LaunchError(`Another backup of ${this.path} is running. Wait until it ends.`)
    const { uid, gid } = statSync(this.path)
    // Root may make the first backup, and the owner of the folder the next one.
    if (process.getuid?.() === 0) chownSync(path, uid, gid)
    return lock
  }

  /** Null before the first use. Throws a LaunchError if the mark is damaged. */
  readMark(): FolderMark | null {
    const path = this.pathOf(MARK)
    const mark = readJson(path, FolderMark)
    if (mark === 'damaged') throw new LaunchError(`${path} is damaged. Restore it from a backup of this folder.`)
    return mark
  }

  writeMark(nowMs: number): void {
    const last = this.readMark()
    const version = last && compareVersions(last.version, WEIR_VERSION) > 0 ? last.version : WEIR_VERSION
    this.writeFile(MARK, JSON.stringify({ version, lastMs: nowMs }))
  }

  writeFile(name: string, text: string): void {
    writeAtomically(this.pathOf(name), `${text}\n`)
  }

  /** Ends a normal run. It writes nothing, because the disk may be full. */
  end(): void {
    rmSync(runningFilePath(this.path), { force: true })
    this.removeLock()
  }
}
