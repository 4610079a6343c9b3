// Bodies of one DEX: a name that no DEX has would be served, and charged, without anything in it.

import type { Failure } from '../core/failure.ts'
import { unknownDex } from '../core/unknown-dex.ts'
import type { Wanted } from './channel.ts'
import type { FirstFramePorts } from './events/first-frames.ts'
import { dexNames } from './states/contexts.ts'
import { answerOf } from './states/state-answer.ts'

const UNTOLD: Failure = {
  kind: 'unavailable',
  what: 'the list of DEXes',
  hint: 'no source could say now whether there is this `dex`: subscribe again',
}

export interface DexPorts extends Pick<FirstFramePorts, 'read'> {
  /** The DEXes that have coins, `''` being the main one; none where it cannot be said. */
  dexes(): Promise<readonly string[]>
}

/** The refusal of a body whose `dex` neither coins nor the sources know, or of which nobody can say. */
export async function refusalOfDex({ body }: Wanted, { dexes, read }: DexPorts): Promise<Failure | null> {
  const { dex } = body as { readonly dex?: string }
  if (!dex) return null
  const known = await dexes()
  if (known.includes(dex)) return null
  const others = await listed(read)
  if (others === null) return UNTOLD
  return others.includes(dex) ? null : unknownDex(dex, [...known, ...others])
}

/** What the sources list; null where they do not answer. */
async function listed(read: DexPorts['read']): Promise<readonly string[] | null> {
  try {
    const answer = await read({ type: 'perpDexs' })
    return dexNames(answerOf(answer!.body))
  } catch {
    return null
  }
}
