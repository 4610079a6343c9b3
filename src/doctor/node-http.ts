// What a node's HTTP tells of it: whether it answers, and whether it writes snapshots where the feeder finds them.

import { parseJson } from '../core/json.ts'
import { bytesText, type Check, fail, ok, secondsText, warn } from './check.ts'
import { LATE_MS } from './node-files.ts'

/** An answer to one request; null where none came, with why. */
export interface HttpFacts {
  readonly url: string
  readonly status: number | null
  readonly text: string
  /** The clock of who answered, Unix ms; null where it does not tell. */
  readonly dateMs: number | null
  /** Our clock, half way between question and answer. */
  readonly atMs: number
  readonly tookMs: number
}

export interface SnapshotFacts {
  readonly folder: string
  readonly answer: HttpFacts
  /** Bytes of the file that was asked for; null where there is none. */
  readonly bytes: number | null
  /** Why we cannot write there ourselves; null where we can. */
  readonly unwritable: string | null
}

const SERVE = 'Run the node with --serve-info, and say its address with --info.'

export function judgeNode({ url, status, text, atMs }: HttpFacts): Check {
  if (status === null) return fail('node http', `${url} does not answer: ${text}`, SERVE)
  if (status !== 200) return fail('node http', `${url} answers exchangeStatus with ${status}: ${text}`, SERVE)
  const timeMs = timeOf(text)
  if (timeMs === null) return warn('node http', `${url} answers without a time: ${text}`, SERVE)
  const ageMs = atMs - timeMs
  if (Math.abs(ageMs) <= LATE_MS) return ok('node http', `${url} answers, ${secondsText(ageMs)} from our clock`)
  const side = ageMs > 0 ? 'behind' : 'ahead of'
  const fix = 'The node stands still or is catching up, or a clock is wrong.'
  return warn('node http', `${url} answers, ${secondsText(ageMs)} ${side} our clock`, fix)
}

function timeOf(text: string): number | null {
  const time = (parseJson(text) as { readonly time?: unknown } | null | undefined)?.time
  return typeof time === 'number' ? time : null
}

export function judgeSnapshot({ folder, answer, bytes, unwritable }: SnapshotFacts): Check {
  const { status, text, tookMs } = answer
  const both = 'The node and the feeder must both be able to write there: choose it with --snapshot-dir.'
  if (unwritable !== null) return fail('snapshots', `${folder} cannot be written: ${unwritable}`, both)
  if (status === null)
    return warn(
      'snapshots',
      `none within ${secondsText(tookMs)}: ${text}`,
      `The feeder waits two minutes. Remove ${folder}/doctor.json once it is there.`,
    )
  if (status !== 200) return fail('snapshots', `the node answers fileSnapshot with ${status}: ${text}`, both)
  if (bytes === null)
    return fail(
      'snapshots',
      `the node says that it wrote into ${folder}, and nothing is there`,
      `Run both on one machine. ${both}`,
    )
  return ok('snapshots', `${bytesText(bytes)} within ${secondsText(tookMs)} in ${folder}`)
}
