// The load process. It creates all load and takes all measurements, so that workerd has its own core. Its parent
// calls it over the IPC channel. It ends when its parent ends.

import { serveParent } from '../kit/worker-process.ts'
import type { SwarmTarget } from './client.node.ts'
import {
  type AtOnce,
  callAtOnce,
  type HttpLoad,
  type HttpOutcome,
  httpLoad,
  type PacedLoad,
  type PacedOutcome,
  pacedLoad,
} from './http-load.node.ts'
import { Swarm } from './swarm.node.ts'

type Name = SwarmTarget['kind']
const swarms = new Map<Name, Swarm>()

function swarm(name: Name): Swarm {
  const known = swarms.get(name)
  if (!known) throw new Error(`no swarm of ${name}`)
  return known
}

/** What the parent may ask; every answer survives JSON. */
const DUTIES = {
  http: (load: HttpLoad): Promise<HttpOutcome> => httpLoad(load),
  paced: (load: PacedLoad): Promise<PacedOutcome> => pacedLoad(load),
  connect: async (target: SwarmTarget): Promise<void> => {
    const made = new Swarm(target)
    swarms.set(target.kind, made)
    await made.connectFeed()
  },
  atOnce: (calls: AtOnce) => callAtOnce(calls),
  change: (name: Name): void => swarm(name).change(),
  tick: (name: Name): void => swarm(name).tick(),
  endSeeding: (name: Name): void => swarm(name).endSeeding(),
  resize: (name: Name, ...rest: Parameters<Swarm['resize']>) => swarm(name).resize(...rest),
  follow: (name: Name, count: number) => swarm(name).follow(count),
  ping: (name: Name) => swarm(name).ping(),
  saturate: (name: Name, ...rest: Parameters<Swarm['saturate']>) => swarm(name).saturate(...rest),
  storm: (name: Name, ...rest: Parameters<Swarm['storm']>) => swarm(name).storm(...rest),
  pace: (name: Name, ...rest: Parameters<Swarm['pace']>) => swarm(name).pace(...rest),
  ingest: (name: Name, ...rest: Parameters<Swarm['ingest']>) => swarm(name).ingest(...rest),
  cpuMs: (): number => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },
  /** Share of one core that this process has used since the last call. */
  busy: (): number => {
    const now = performance.now()
    const { user, system } = process.cpuUsage()
    const share = (user + system - busyBefore.cpu) / 1000 / (now - busyBefore.atMs)
    busyBefore = { cpu: user + system, atMs: now }
    return share
  },
}
let busyBefore = { cpu: 0, atMs: performance.now() }

export type Duties = typeof DUTIES

if (process.send) serveParent(DUTIES)
