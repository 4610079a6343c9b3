// Order statuses of wanted wallets, out of a line of all: most of what a node writes, of which little is wanted.
// Law: the answer is that of parsing the whole line and looking at each, but only what is wanted is parsed.

import { ok, type Result } from '../core/result.ts'
import { readEvents } from './streams.ts'

/** How the node writes an event: its time and its wallet stand first. */
const EVENTS = '"events":['
const TIME = '{"time":"'
const USER = '","user":"'
const ANY_USER = '"user":"'
const NEXT = `},${TIME}`
const WALLET_UNITS = 42
/** Looked through in one step: at most a few milliseconds. */
const STEP_UNITS = 512 * 1024

/** `wanted` holds wallets in lower case. Rests between steps. */
export function* wantedStatuses(text: string, wanted: ReadonlySet<string>): Generator<void, Result<unknown[], string>> {
  const end = text.length - ']}'.length
  const found: unknown[] = []
  let units = 0
  let at = text.indexOf(EVENTS) + EVENTS.length
  if (!text.endsWith(']}')) return anyhow(text, wanted)
  while (at < end) {
    const user = text.indexOf(USER, at) + USER.length
    if (!text.startsWith(TIME, at) || text.indexOf('"', at + TIME.length) !== user - USER.length)
      return anyhow(text, wanted)
    const next = text.indexOf(NEXT, user)
    const after = next < 0 ? end : next + 1
    // A second wallet before the next row is of a row in another form.
    const another = text.indexOf(ANY_USER, user)
    if (another >= 0 && another < after) return anyhow(text, wanted)
    if (wanted.has(text.slice(user, user + WALLET_UNITS))) {
      try {
        found.push(JSON.parse(text.slice(at, after)))
      } catch {
        return anyhow(text, wanted)
      }
    }
    units += after - at
    at = after + 1
    if (units < STEP_UNITS) continue
    units = 0
    yield
  }
  return ok(found)
}

/** A line of another form than nodes write today. */
function anyhow(text: string, wanted: ReadonlySet<string>): Result<unknown[], string> {
  const read = readEvents(text)
  const userOf = (event: unknown) => (event as { user?: unknown } | null)?.user
  return read.ok ? ok(read.value.filter((event) => wanted.has(userOf(event) as string))) : read
}
