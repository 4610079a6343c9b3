// The soak's side of the process of clients.

import { join } from 'node:path'
import { WorkerProcess } from '../kit/worker-process.ts'
import type { Duties } from './clients.node.ts'
import { giveWay } from './machine.node.ts'

export type Crew = WorkerProcess<Duties>

export function startCrew(): Crew {
  const crew: Crew = new WorkerProcess(join(import.meta.dirname, 'clients.node.ts'), 180_000, {
    execArgv: ['--max-old-space-size=6000'],
    // A Ctrl-C is for the parent, who asks for what there is so far.
    detached: true,
  })
  giveWay(crew.pid)
  return crew
}
