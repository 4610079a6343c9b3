// What the state folder of `npm start` tells: whether its files are whole, and whether everything that it started runs.

import { type Check, fail, ok } from './check.ts'

export interface LaunchFacts {
  readonly folder: string
  /** Files of the folder that are there and cannot be read as what they are. */
  readonly damaged: readonly string[]
  readonly ports: { readonly gateway: number; readonly devnet: number } | null
  /** What runs by dev.json, with whether it does; null where nothing runs by it, or it cannot be read. */
  readonly processes: readonly { readonly name: string; readonly pid: number; readonly runs: boolean }[] | null
}

export function judgeLaunch({ folder, damaged, ports, processes }: LaunchFacts): Check[] {
  const name = 'npm start'
  const broken = damaged.map((file) =>
    fail(name, `${folder}/${file} is damaged`, 'Put back a copy, or begin afresh with "npm start -- --reset".'),
  )
  if (processes === null) return [...broken, fail(name, `nothing runs on ${folder}`, 'Start it: "npm start".')]
  const gone = processes.filter(({ runs }) => !runs)
  const listening = ports === null ? '' : `; ports ${ports.gateway} and ${ports.devnet} (devnet)`
  if (gone.length === 0) return [...broken, ok(name, `runs on ${folder}: ${listed(processes)}${listening}`)]
  return [...broken, fail(name, `does not run: ${listed(gone)}`, `See ${folder}/log; "npm start" begins again.`)]
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
