// What the state folder of `npm start` tells: whether its files are whole, and whether everything that it started runs.

import { stoppedText } from '../launch/news.ts'
import { type Check, fail, ok } from './check.ts'

export interface LaunchFacts {
  readonly folder: string
  /** Files of the folder that are there and cannot be read as what they are. */
  readonly damaged: readonly string[]
  readonly ports: { readonly gateway: number; readonly devnet: number } | null
  /** What runs by dev.json, with whether it does; null where nothing runs by it, or it cannot be read. */
  readonly processes: readonly LaunchedProcess[] | null
}

interface LaunchedProcess {
  readonly name: string
  readonly pid: number
  readonly runs: boolean
  /** By a signal: it runs, and does nothing. */
  readonly isStopped: boolean
}

export function judgeLaunch({ folder, damaged, ports, processes }: LaunchFacts): Check[] {
  const name = 'npm start'
  const broken = damaged.map((file) =>
    fail(name, `${folder}/${file} is damaged`, 'Put back a copy, or begin afresh with "npm start -- --reset".'),
  )
  if (processes === null) return [...broken, fail(name, `nothing runs on ${folder}`, 'Start it: "npm start".')]
  const gone = processes.filter(({ runs }) => !runs)
  const stopped = processes.filter(({ isStopped }) => isStopped)
  for (const process of stopped) broken.push(stoppedCheck(process))
  if (stopped.length > 0 && gone.length === 0) return broken
  const listening = ports === null ? '' : `; ports ${ports.gateway} and ${ports.devnet} (devnet)`
  if (gone.length === 0) return [...broken, ok(name, `runs on ${folder}: ${listed(processes)}${listening}`)]
  return [...broken, fail(name, `does not run: ${listed(gone)}`, `See ${folder}/log; "npm start" begins again.`)]
}

function stoppedCheck({ name, pid }: LaunchedProcess): Check {
  const [saw, fix] = stoppedText(name, pid).split(': ') as [string, string]
  return fail('npm start', saw, fix)
}

const OF_NODE: readonly string[] = ['node files', 'node http', 'snapshots']

/** What to do about a line where "npm start" runs what is at fault: advice for a node's host is of no use there. */
export function underLaunch({ part: at, ...check }: Check, { folder, processes }: LaunchFacts): Check {
  const part = OF_NODE.includes(check.name) ? 'devnet' : at
  if (part === undefined || check.state === 'ok') return check
  const process = processes?.find(({ name, runs }) => name === part && runs)
  if (process === undefined) return { ...check, fix: 'See the line "npm start".' }
  const { pid } = process
  return {
    ...check,
    fix: `It is ${part}, process ${pid}: after "kill -KILL ${pid}" it comes back. ${folder}/log/${part}.log`,
  }
}

/** `kept`: what a start would say, which begins with what is wrong and ends with what to do; null: nothing is kept. */
export function judgeKept(kept: 'whole' | Error | null): Check[] {
  const name = 'state'
  if (kept === null) return []
  if (kept === 'whole') return [ok(name, 'its tokens and databases are whole')]
  const { message } = kept
  const cut = message.lastIndexOf(': ')
  const cure = message.slice(cut + 2)
  return [fail(name, message.slice(0, cut), cure.charAt(0).toUpperCase() + cure.slice(1))]
}

function listed(processes: readonly { readonly name: string; readonly pid: number }[]): string {
  return processes.map(({ name, pid }) => `${name} ${pid}`).join(', ')
}
