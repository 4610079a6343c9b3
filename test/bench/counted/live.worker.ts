// The unchanged objects, each of which also counts its calls and its writes.

import { BlockLog as RealBlockLog } from '../../../src/block-log/block-log.do.ts'
import { CreditMeter as RealCreditMeter } from '../../../src/metering/credit-meter.do.ts'
import { BookHub as RealBookHub } from '../../../src/order-books/book-hub.do.ts'
import { Relay as RealRelay } from '../../../src/relay/relay.do.ts'
import { SourceBudget as RealSourceBudget } from '../../../src/upstream/source-budget.do.ts'
import type { ObjectClass, ObjectCounts } from './counts.ts'
import { countRows } from './rows.worker.ts'

type Counting = Omit<ObjectCounts, 'names'> & { readonly names: Set<string> }
type Constructor = new (ctx: DurableObjectState, env: Cloudflare.Env) => object

/** Asks for the counts: nothing of Weir. */
const OWN = 'takeCounts'
const counts = new Map<string, Counting>()

function countingOf(name: string): Counting {
  const known = counts.get(name) ?? { requests: 0, messages: 0, rowsWritten: 0, names: new Set() }
  counts.set(name, known)
  return known
}

/** A class of objects of which every call is counted. */
function counted<Real extends Constructor>(className: ObjectClass, real: Real): Real {
  const Counted = class extends (real as Constructor) {
    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      countRows(ctx.storage, (rows) => {
        countingOf(className).rowsWritten += rows
      })
      super(ctx, env)
    }
  }
  for (const [method, { value }] of Object.entries(Object.getOwnPropertyDescriptors(real.prototype))) {
    // The end of a socket is told, not asked.
    if (method === 'constructor' || typeof value !== 'function' || /^webSocket(Close|Error)$/.test(method)) continue
    Object.defineProperty(Counted.prototype, method, {
      value(this: { ctx: DurableObjectState }, ...args: unknown[]) {
        const counting = countingOf(className)
        counting.names.add(this.ctx.id.name ?? '')
        if (method === 'webSocketMessage') counting.messages++
        else counting.requests++
        return Reflect.apply(value, this, args)
      },
    })
  }
  Object.defineProperty(Counted.prototype, OWN, { value: takeCounts })
  return Counted as Real
}

/** Counts of all objects of this process since the last look. */
function takeCounts(): Partial<Record<string, ObjectCounts>> {
  const taken = [...counts].map(([name, counting]) => [name, { ...counting, names: [...counting.names] }] as const)
  counts.clear()
  return Object.fromEntries(taken)
}

// Its own exports replace those of the same name.
export * from '../../../src/live.ts'

export const BlockLog = counted('BlockLog', RealBlockLog)
export const BookHub = counted('BookHub', RealBookHub)
export const Relay = counted('Relay', RealRelay)
export const CreditMeter = counted('CreditMeter', RealCreditMeter)
export const SourceBudget = counted('SourceBudget', RealSourceBudget)

export default { fetch: () => new Response(null, { status: 404 }) } satisfies ExportedHandler
