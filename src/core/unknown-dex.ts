// Rejects an unknown DEX and suggests a name.

import type { Failure } from './failure.ts'
import { nearestName } from './nearest.ts'

/** The failure for a `dex` that is not in `names`. It suggests the closest name. */
export function unknownDex(dex: string, names: readonly string[]): Failure {
  const meant = nearestName(dex, names)
  const question = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`
  return {
    kind: 'bad_field',
    issues: [{ path: 'dex', message: `is not a DEX on this exchange; list them with perpDexs${question}` }],
  }
}
