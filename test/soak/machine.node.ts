// Resource use of a soak's processes, read from /proc.

import { readFileSync } from 'node:fs'
import { constants, cpus, getPriority, setPriority } from 'node:os'

const CLOCK_TICKS = 100
/** Steps of priority below ours. */
const BELOW = 10

interface Use {
  peakMb: number
  /** CPU of lives that are over, and of the present one. */
  pastMs: number
  pid: number
  nowMs: number
}

export interface Taken {
  readonly name: string
  readonly peakMb: number
  readonly share: number
}

export class Machine {
  readonly #uses = new Map<string, Use>()
  readonly #sinceMs = performance.now()
  readonly #idleMs = idleMs()

  look(pids: Readonly<Record<string, number>>): void {
    for (const [name, pid] of Object.entries(pids)) {
      const seen = readProcess(pid)
      if (seen === null) continue
      const use = this.#uses.get(name) ?? { peakMb: 0, pastMs: 0, pid, nowMs: 0 }
      if (use.pid !== pid) use.pastMs += use.nowMs
      this.#uses.set(name, { ...use, pid, nowMs: seen.cpuMs, peakMb: Math.max(use.peakMb, seen.rssMb) })
    }
  }

  /** Cores that were at work, for whomever, of all that there are. */
  get busy(): { readonly cores: number; readonly of: number } {
    const of = cpus().length
    return { cores: of - (idleMs() - this.#idleMs) / (performance.now() - this.#sinceMs), of }
  }

  taken(): Taken[] {
    const wallMs = performance.now() - this.#sinceMs
    return [...this.#uses].map(([name, { peakMb, pastMs, nowMs }]) => ({
      name,
      peakMb,
      share: (pastMs + nowMs) / wallMs,
    }))
  }
}

/** Lets what stands for the world outside have the cores that are left over: elsewhere it has machines of its own. */
export function giveWay(pid: number): void {
  setPriority(pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + BELOW))
}

const idleMs = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0)

/** Time that the machine's cores were at work since boot, for whomever. */
export const busyMs = (): number =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)

/** Resident memory and CPU time of a process; null where the system does not tell. */
export function readProcess(pid: number | undefined): { readonly rssMb: number; readonly cpuMs: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const rssKb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    // One that has ended and was not yet waited for has none.
    if (Number.isNaN(rssKb)) return null
    return { rssMb: rssKb / 1024, cpuMs: ((Number(fields[11]) + Number(fields[12])) * 1000) / CLOCK_TICKS }
  } catch {
    return null
  }
}
