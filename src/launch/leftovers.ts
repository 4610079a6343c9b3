// What an earlier `npm start` on the same state folder left behind, and what may be ended.
// Law: only a process that is certainly ours is named. A pid alone proves nothing, because pids are used again;
// pid and time of birth in the same boot do.

import * as z from 'zod'

/** `born` is comparable within one boot: ticks or ms, whatever the system tells. */
const ProcessId = z.object({ pid: z.int().min(1), born: z.number() })
export type ProcessId = z.infer<typeof ProcessId>

/** The lock of a state folder: who runs on it. Children are leaders of their own process groups. */
export const Lock = z.object({
  boot: z.string(),
  launcher: ProcessId,
  /** The npm that the launcher runs for; null where it was started without npm. */
  guardian: ProcessId.nullable(),
  children: z.record(z.string(), ProcessId),
})
export type Lock = z.infer<typeof Lock>

export interface ProcessInfo extends ProcessId {
  readonly ppid: number
  readonly pgid: number
  readonly command: string
}

interface Leftovers {
  /** A launcher that is alive and well: this start must not go on. */
  readonly running: number | null
  /** Single processes to end first: a launcher that lost its npm would restart what is ended below. */
  readonly pids: readonly number[]
  /** Process groups to end. */
  readonly groups: readonly number[]
}

const NOTHING: Leftovers = { running: null, pids: [], groups: [] }

/** `table` holds the processes that run now (no zombies), `boot` the present boot. */
export function findLeftovers(lock: Lock | null, table: readonly ProcessInfo[], boot: string): Leftovers {
  if (!lock || lock.boot !== boot) return NOTHING
  const launcherLives = isAlive(lock.launcher, table)
  if (launcherLives && (!lock.guardian || isAlive(lock.guardian, table)))
    return { ...NOTHING, running: lock.launcher.pid }
  return {
    running: null,
    pids: launcherLives ? [lock.launcher.pid] : [],
    groups: Object.values(lock.children)
      .filter((child) => hasGroup(child, table))
      .map((child) => child.pid),
  }
}

/** True while this very process runs. */
export function isAlive(id: ProcessId, table: readonly ProcessInfo[]): boolean {
  return table.some((process) => process.pid === id.pid && process.born === id.born)
}

/**
 * True while the group that `leader` led has members, also without the leader (workerd survives a SIGKILL of Node).
 * The system gives no new process the id of a group that has members, so a stranger with the leader's pid means
 * that the old group is gone.
 */
export function hasGroup(leader: ProcessId, table: readonly ProcessInfo[]): boolean {
  const holder = table.find((process) => process.pid === leader.pid)
  if (holder) return holder.born === leader.born
  return table.some((process) => process.pgid === leader.pid && process.born >= leader.born)
}

/** The process that must live for the launcher to go on: the first ancestor that is no shell. */
export function guardianOf(pid: number, table: readonly ProcessInfo[]): ProcessId | null {
  const byPid = new Map(table.map((process) => [process.pid, process]))
  let parent = byPid.get(byPid.get(pid)?.ppid ?? 0)
  while (parent && /^(\S*\/)?(da|ba|z|k)?sh -c /.test(parent.command)) parent = byPid.get(parent.ppid)
  return parent && parent.pid > 1 ? { pid: parent.pid, born: parent.born } : null
}
