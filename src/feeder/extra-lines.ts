// Reads lines of extra streams within limits. Invariant: no line of these streams can make the gateway reject a block.

import { isDeeperThan, JSON_MAX_DEPTH, parseJson } from '../core/json.ts'
import { err, type Result } from '../core/result.ts'
import { readEvents } from './streams.ts'

/** Longer lines are not parsed. The longest expected line, with all markets of all DEXes, has 150,000 characters. */
const LINE_MAX_UNITS = 2 * 1024 * 1024
/** An event must fit in a frame of 512 KiB, even if every character takes three bytes. */
export const EVENT_MAX_UNITS = 160 * 1024
/** Maximum size of all events of one stream in one block. */
export const BLOCK_MAX_UNITS = 1024 * 1024

/** The events of a line. The error says what is wrong. A line and a frame nest their events equally deep. */
export function readExtraEvents(text: string): Result<unknown[], string> {
  if (text.length > LINE_MAX_UNITS) return err(`has ${text.length} characters, more than ${LINE_MAX_UNITS}`)
  return isDeeperThan(text) ? err(`nests deeper than ${JSON_MAX_DEPTH} levels`) : readEvents(text, parseExactly)
}

/** JSON.parse with the text of each value, which its type lacks. */
const parseWithSource = JSON.parse as (
  text: string,
  revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown

const LONG_INTEGER = /[:[,]\s*-?\d{16}/

/** Parses JSON. An integer that a number cannot hold becomes a string of its digits; amounts in wei can be as large. */
export function parseExactly(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return parseJson(text)
  try {
    return parseWithSource(text, (_, value, { source }) =>
      Number.isInteger(value) && !Number.isSafeInteger(value) ? source : value,
    )
  } catch {
    return undefined
  }
}

/** The events that fit in a block. `refuse` is called with the reason for every event left out. */
export function boundedEvents(events: readonly unknown[], refuse: (reason: string) => void): unknown[] {
  let units = 0
  return events.filter((event) => {
    const size = JSON.stringify(event).length
    const isFitting = size <= EVENT_MAX_UNITS && units + size <= BLOCK_MAX_UNITS
    if (isFitting) units += size
    else if (size > EVENT_MAX_UNITS) refuse(`an event has ${size} characters, more than ${EVENT_MAX_UNITS}`)
    else refuse(`the events of one block have more than ${BLOCK_MAX_UNITS} characters`)
    return isFitting
  })
}
