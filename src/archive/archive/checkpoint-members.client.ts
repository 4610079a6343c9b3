// The gzip members of a checkpoint. Invariant: the same lines always produce the same bytes.

import type { CheckpointLines } from './checkpoint-lines.ts'
import { packMember } from './gzip-members.client.ts'

/** The first line. `members`: coin and bytes of each further member, in order. */
export type CheckpointHead = CheckpointLines['head'] & {
  readonly members: readonly (readonly [coin: string, bytes: number])[]
}

export async function packCheckpoint(
  head: CheckpointLines['head'],
  lines: CheckpointLines['lines'],
): Promise<Uint8Array[]> {
  const members: Uint8Array[] = []
  for (const line of lines) members.push(await packMember(`${line}\n`))
  const lengths = members.map(({ length }, at) => [coinOf(lines[at] ?? ''), length])
  return [await packMember(`${JSON.stringify({ ...head, members: lengths })}\n`), ...members]
}

const COIN_AT = '{"coin":'.length
const coinOf = (line: string): string => JSON.parse(line.slice(COIN_AT, line.indexOf(',"height":')))
