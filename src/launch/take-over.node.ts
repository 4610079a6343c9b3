// Makes a state folder ours: refuses where another launcher runs on it, ends what a killed one left behind.

import { setTimeout as sleep } from 'node:timers/promises'
import { err, ok, type Result } from '../core/result.ts'
import { findLeftovers, guardianOf, type Lock, type ProcessId } from './leftovers.ts'
import { bootId, processInfo, processTable } from './process-table.node.ts'
import { lockDamaged } from './repair.ts'
import type { StateFolder } from './state-folder.node.ts'
import { endGroup } from './supervised-child.node.ts'

/** Answers our own lock, already written; the error is the pid of the launcher that runs. Throws where nobody can tell. */
export async function takeOver(folder: StateFolder): Promise<Result<Lock, number>> {
  const old = folder.lock()
  if (old === 'damaged') throw lockDamaged(folder.part('lock.json'))
  const found = findLeftovers(old, processTable(), bootId())
  if (found.running !== null) return err(found.running)
  for (const pid of found.pids) await endProcess(pid)
  for (const pid of found.groups) {
    const leader = Object.values(old?.children ?? {}).find((child) => child.pid === pid)
    if (leader) await endGroup(leader)
  }
  const lock = { boot: bootId(), launcher: self(), guardian: guardian(), children: {} }
  folder.keepLock(lock)
  return ok(lock)
}

function self(): ProcessId {
  const { pid } = process
  return { pid, born: processInfo(pid)?.born ?? 0 }
}

/** Only under npm: there a kill of `npm start` hits npm, and the launcher must follow it. */
function guardian(): ProcessId | null {
  return process.env.npm_lifecycle_event ? guardianOf(process.pid, processTable()) : null
}

async function endProcess(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGKILL')
    for (let i = 0; i < 100 && processInfo(pid); i++) await sleep(20)
  } catch {
    // It ended by itself in the meantime.
  }
}
