// Compresses pages with gzip, whose checksum detects corruption. Uses the synchronous API, because a stream per page
// would dominate the cost of short pages.

import { constants, gunzipSync, gzipSync } from 'node:zlib'
import { takeTurn } from '../../core/timers.client.ts'
import { toColumns, toLines } from './page-columns.ts'

/** Fixed cost of a page, expressed in characters. */
const PAGE_CHARS = 512
/**
 * Hashes are half of a page of fills. Short matches of hexadecimal digits cost more than the digits, and short blocks
 * let each column have its own code. Together, a fill takes 6 % less.
 */
const GZIP = { strategy: constants.Z_FILTERED, memLevel: 6 } as const

const decoder = new TextDecoder()

export async function packPage(text: string): Promise<Uint8Array> {
  await takeTurn(PAGE_CHARS + text.length)
  return gzipSync(toColumns(text), GZIP)
}

export async function unpackPage(body: Uint8Array<ArrayBuffer>): Promise<string> {
  return toLines(decoder.decode(gunzipSync(body)))
}
