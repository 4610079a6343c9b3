// The table of docs/ws-protocol.md that tells how a socket ends.

import { CLOSE_CODES } from '../src/docs/close-codes.ts'

export function closeCodesTable(): string {
  return [
    '| Code | Why | What to do |',
    '|---|---|---|',
    ...CLOSE_CODES.map(({ code, why, next }) => `| ${code} | ${why} | ${next} |`),
    '| any other | | connect again with backoff |',
  ].join('\n')
}
