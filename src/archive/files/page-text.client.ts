// Compresses pages with gzip, whose checksum detects corruption. Uses the synchronous API, because a stream per page
// would dominate the cost of short pages.

import { constants, gunzipSync, gzipSync } from 'node:zlib'
import { sleep } from '../../core/timers.client.ts'
import { toColumns, toLines } from './page-columns.ts'

/** Yields to other work after this many characters, which take about 5 ms. */
const TURN_CHARS = 128 * 1024
/** Fixed cost of a page, expressed in characters. */
const PAGE_CHARS = 512
/**
 * Hashes are half of a page of fills. Short matches of hexadecimal digits cost more than the digits, and short blocks
 * let each column have its own code. Together, a fill takes 6 % less.
 */
const GZIP = { strategy: constants.Z_FILTERED, memLevel: 6 } as const

const decoder = new TextDecoder()
let chars = 0

export async function packPage(text: string): Promise<Uint8Array> {
  chars += PAGE_CHARS + text.length
  if (chars > TURN_CHARS) {
    chars = 0
    await sleep(0)
  }
  return gzipSync(toColumns(text), GZIP)
}

export async function unpackPage(body: Uint8Array<ArrayBuffer>): Promise<string> {
  return toLines(decoder.decode(gunzipSync(body)))
}
