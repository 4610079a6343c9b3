// Carries a fault out; what it needs to end by itself, it ends.

import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultKind } from './faults.ts'
import type { Plant } from './plant.node.ts'

const STOPPED_MS = 5_000
const CUT_MS = 2_000

export async function strike(plant: Plant, kind: FaultKind, number: number): Promise<void> {
  switch (kind) {
    case 'feeder killed':
      return plant.signal('feeder', 'SIGKILL')
    case 'feeder stopped for 5 s': {
      plant.signal('feeder', 'SIGSTOP')
      await sleep(STOPPED_MS)
      return plant.signal('feeder', 'SIGCONT')
    }
    case 'node begins again':
      return void (await plant.disturb({ what: 'restart', for_ms: 3_000, rewrite: 10 }))
    case 'node does not write for 5 s':
      return void (await plant.disturb({ what: 'pause', for_ms: 5_000 }))
    case 'a stream of the node missing for 10 s':
      return void (await plant.disturb({ what: 'cut', stream: 'misc_events_by_block', for_ms: 10_000 }))
    case "a stream's file cut to its newest half":
      return void (await plant.disturb({ what: 'rotate', stream: 'node_raw_book_diffs_by_block' }))
    case 'way of the feeder cut for 2 s':
      return cutFor(plant.feedWay)
    case 'second feeder comes or goes':
      await plant.toggleSecondFeeder()
      return
    case 'connections of a quarter of the clients cut':
      return cutFor(plant.clientWays[number % plant.clientWays.length]!)
    case 'gateway ended and started anew':
      return plant.signal('gateway', 'SIGTERM')
    case 'workerd killed':
      return plant.signal('workerd', 'SIGKILL')
  }
}

async function cutFor(way: Plant['feedWay']): Promise<void> {
  way.cut()
  await sleep(CUT_MS)
  way.mend()
}
