// The text of a page as gzip, and back. gzip's own sum tells of bytes that are not what they were. A stream for each page
// would take longer than all else that is done with a short one.

import { gunzipSync, gzipSync } from 'node:zlib'
import { sleep } from '../../core/timers.client.ts'

/** After so many characters whoever else is on the thread has a turn: some 5 ms of packing. */
const TURN_CHARS = 128 * 1024
/** What a page takes beside its characters. */
const PAGE_CHARS = 512

const decoder = new TextDecoder()
let chars = 0

export async function packPage(text: string): Promise<Uint8Array> {
  chars += PAGE_CHARS + text.length
  if (chars > TURN_CHARS) {
    chars = 0
    await sleep(0)
  }
  return gzipSync(text)
}

export async function unpackPage(body: Uint8Array<ArrayBuffer>): Promise<string> {
  return decoder.decode(gunzipSync(body))
}
