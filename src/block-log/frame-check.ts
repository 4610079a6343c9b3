// Reads a feeder's frame. A block has about 300 levels, and zod would take longer to check them than JSON.parse takes
// to parse them. The books are therefore checked by hand. Zod checks the rest, and the whole frame if the books look
// unusual. Invariant: the result equals that of FeederFrame.safeParse, including the issues.

import { COIN_MAX_LENGTH } from '../core/coin.ts'
import { UNSIGNED_DECIMAL } from '../core/decimal.ts'
import { isDeeperThan, parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { BookChange } from '../protocol/feed/block.ts'
import { FeederFrame } from '../protocol/feed/protocol.ts'

const NAME = /^[\x21-\x7e]+$/
/**
 * Hard limit of a frame's length. It is twice the limit of the protocol, so that a frame that is somewhat too long
 * still gets a clear error.
 */
const FRAME_LIMIT_CHARS = 1024 * 1024
/** Maximum number of characters of a rejected frame that an error repeats. */
const ECHO_CHARS = 256

/**
 * Returns the frame. If it is invalid, returns the name of the wrong field (empty for the whole frame) and what to do
 * about it.
 */
export function readFeederFrame(message: string | ArrayBuffer): Result<FeederFrame, readonly [string, string]> {
  if (typeof message !== 'string') return err(['', 'send JSON as text frames, not binary'])
  if (message.length > FRAME_LIMIT_CHARS) return err(['', 'the frame is longer than 512 KiB. Split it into parts'])
  if (isDeeperThan(message)) return err(['', 'the frame is nested deeper than 64 levels'])
  const value = parseJson(message)
  if (value === undefined) return err(['', 'the frame is not valid JSON'])
  const parsed = parseFeederFrame(value)
  if (parsed.success) return ok(parsed.data)
  const [issue = { path: [], message: '' }] = parsed.error.issues
  return err([issue.path.join('.').slice(0, ECHO_CHARS), issue.message.slice(0, ECHO_CHARS)])
}

/** Like FeederFrame.safeParse, but valid books are used directly, not copied. */
export function parseFeederFrame(value: unknown): ReturnType<typeof FeederFrame.safeParse> {
  const books = plainBooks(value)
  if (books === null) return FeederFrame.safeParse(value)
  const rest = FeederFrame.safeParse({ ...(value as object), books: [] })
  if (!rest.success) return FeederFrame.safeParse(value)
  return { success: true, data: { ...rest.data, books } as FeederFrame }
}

/** Returns the books of a block or snapshot if all of them are certainly valid. Null: zod must check them. */
function plainBooks(value: unknown): BookChange[] | null {
  if (typeof value !== 'object' || value === null) return null
  const { type, books } = value as { type?: unknown; books?: unknown }
  if (!Array.isArray(books) || (type !== 'block' && type !== 'snapshot')) return null
  for (const book of books) if (!isPlainBook(book, type === 'block')) return null
  return books as BookChange[]
}

function isPlainBook(book: unknown, mayBeNew: boolean): boolean {
  if (typeof book !== 'object' || book === null) return false
  for (const key in book) if (key !== 'coin' && key !== 'levels' && !(key === 'new' && mayBeNew)) return false
  const { coin, levels, new: isNew } = book as Record<string, unknown>
  if (typeof coin !== 'string' || coin.length > COIN_MAX_LENGTH || !NAME.test(coin)) return false
  if ('new' in book && isNew !== true) return false
  if (!Array.isArray(levels) || levels.length !== 2) return false
  return levels.every((side) => Array.isArray(side) && side.every(isPlainLevel))
}

function isPlainLevel(level: unknown): boolean {
  if (typeof level !== 'object' || level === null) return false
  for (const key in level) if (key !== 'px' && key !== 'sz' && key !== 'n') return false
  const { px, sz, n } = level as Record<string, unknown>
  if (!Number.isSafeInteger(n) || (n as number) < 0) return false
  return typeof px === 'string' && typeof sz === 'string' && UNSIGNED_DECIMAL.test(px) && UNSIGNED_DECIMAL.test(sz)
}
