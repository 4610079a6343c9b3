// The checksum with which a client checks its copy of a book (WS-147). It covers the best levels only. Feeders and hubs
// compare books by a digest of all levels instead.
// biome-ignore-all lint/style/noNonNullAssertion: the table has an entry for every byte; this is the inner loop.

import type { Level } from '../protocol/feed/block.ts'
import { LevelBook } from './level-book.ts'

/** Levels covered on each side. */
const DEPTH = 10

/** CRC-32 of each byte: IEEE 802.3 polynomial, lowest bit first. */
const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  return crc
})

/**
 * Unsigned 32-bit CRC of the bids, best first, as `px:sz:n` joined by colons, a `/`, and the asks in the same form. The
 * whole string is never built, because that would take twice as long.
 */
export function bookChecksum(book: LevelBook): number {
  const [bids, asks] = book.levels(DEPTH)
  return ~crcOfLevels(crcOfText(crcOfLevels(-1, bids), '/'), asks) >>> 0
}

function crcOfLevels(crc: number, levels: readonly Level[]): number {
  let next = crc
  let joint = ''
  for (const { px, sz, n } of levels) {
    next = crcOfText(crcOfText(crcOfText(next, joint), px), ':')
    next = crcOfText(crcOfText(crcOfText(next, sz), ':'), String(n))
    joint = ':'
  }
  return next
}

export const EMPTY_CHECKSUM = bookChecksum(new LevelBook())

/** Continues a CRC with more ASCII characters. */
function crcOfText(crc: number, text: string): number {
  let next = crc
  for (let i = 0; i < text.length; i++) next = (next >>> 8) ^ TABLE[(next ^ text.charCodeAt(i)) & 0xff]!
  return next
}
