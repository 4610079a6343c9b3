// Groups rejected requests of the same cause.

import type { Refusals } from './responses.ts'

type Refusal = Refusals['refusals'][number]

export interface RefusalGroup {
  /** The newest of the group. */
  readonly last: Refusal
  readonly count: number
}

/** Requests of one key and endpoint with the same code and message, in the order of their newest. */
export function refusalGroups(refusals: readonly Refusal[]): readonly RefusalGroup[] {
  const causeOf = ({ prefix, product, type, code, message }: Refusal) =>
    JSON.stringify([prefix, product, type, code, message])
  return [...Map.groupBy(refusals, causeOf).values()].map((group) => ({
    last: group.reduce((newest, each) => (each.at > newest.at ? each : newest)),
    count: group.length,
  }))
}
