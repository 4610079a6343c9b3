// Bodies of one DEX: a name that no DEX has would be served, and charged, without anything in it.

import type { Failure } from '../core/failure.ts'
import { unknownDex } from '../core/unknown-dex.ts'
import type { Wanted } from './channel.ts'
import type { FirstFramePorts } from './events/first-frames.ts'
import { dexNames } from './states/contexts.ts'
import { answerOf } from './states/state-answer.ts'

export interface DexPorts extends Pick<FirstFramePorts, 'read'> {
  /** The DEXes that have coins, `''` being the main one; none where nobody can say. */
  dexes(): Promise<readonly string[]>
}

/** The refusal of a body whose `dex` neither coins nor the sources know; null where nobody can say. */
export async function refusalOfDex({ body }: Wanted, { dexes, read }: DexPorts): Promise<Failure | null> {
  const { dex } = body as { readonly dex?: string }
  if (!dex) return null
  const known = await dexes()
  if (known.includes(dex)) return null
  const names = [...known, ...(await listed(read))]
  return names.length === 0 || names.includes(dex) ? null : unknownDex(dex, names)
}

/** What the sources list: none where they do not answer. */
async function listed(read: DexPorts['read']): Promise<readonly string[]> {
  try {
    const answer = await read({ type: 'perpDexs' })
    return dexNames(answerOf(answer!.body))
  } catch {
    return []
  }
}
