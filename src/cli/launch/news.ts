// What the terminal is told of processes that do not end before the launcher's eyes: a workerd that died and came back,
// and processes that were stopped. Law: each is said once.

export interface Seen {
  readonly gateway?: number | undefined
  /** Undefined: it was not there yet. */
  readonly workerd?: number | 'gone' | undefined
  /** Names of what is stopped. */
  readonly stopped: readonly string[]
}

type Pids = Readonly<Record<string, number>>

/** What to say at this look, and what to hand in at the next. `pids` by name, without a workerd that is not there. */
export function news(seen: Seen, pids: Pids, stopped: readonly string[]): { seen: Seen; lines: string[] } {
  const { gateway, workerd } = pids
  // A new gateway brings a workerd of its own, and its end was said.
  const before = seen.gateway === gateway ? seen.workerd : undefined
  const known = before === undefined ? workerd : (workerd ?? 'gone')
  return {
    seen: { gateway, workerd: known, stopped },
    lines: [
      ...workerdNews(before, known),
      ...stopped.filter((name) => !seen.stopped.includes(name)).map((name) => stoppedText(name, pids[name])),
      ...seen.stopped
        .filter((name) => pids[name] && !stopped.includes(name))
        .map((name) => `${name} is no longer stopped.`),
    ],
  }
}

function workerdNews(before: Seen['workerd'], now: Seen['workerd']): string[] {
  if (before === now || before === undefined) return []
  const ended = before === 'gone' ? [] : ['workerd ended; the gateway starts it again.']
  return now === 'gone' ? ended : [...ended, `workerd is back (process ${now}).`]
}

/** With the two ways out. */
export function stoppedText(name: string, pid: number | undefined): string {
  return `${name} (process ${pid}) is stopped: "kill -CONT ${pid}" lets it go on, and after "kill -KILL ${pid}" it comes back.`
}
