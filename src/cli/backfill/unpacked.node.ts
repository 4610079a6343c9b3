// What is in a file, by its name: `.gz`, `.lz4`, or as it is.

import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { unLz4 } from './lz4-frame.ts'

/** The bytes inside of those of a file with this path. */
export function unpacked(path: string, bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  if (path.endsWith('.lz4')) return unLz4(bytes)
  if (!path.endsWith('.gz')) return bytes
  const gunzip = createGunzip()
  const packed = Readable.from(bytes)
  packed.on('error', (error) => gunzip.destroy(error))
  return packed.pipe(gunzip)
}
