// What a request is told that names a DEX which there is not.

import type { Failure } from './failure.ts'
import { nearestName } from './nearest.ts'

/** The failure of a request whose `dex` is none of `names`; the one that is probably meant is named. */
export function unknownDex(dex: string, names: readonly string[]): Failure {
  const meant = nearestName(dex, names)
  const question = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`
  return { kind: 'bad_field', issues: [{ path: 'dex', message: `is no DEX of the exchange: see perpDexs${question}` }] }
}
