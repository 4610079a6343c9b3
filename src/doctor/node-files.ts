// What a node's files tell of it: whether the streams that a feeder needs are there, readable and growing.

import { nodeTimeMs, REQUIRED_STREAMS, STREAM_FOLDER, type StreamLine, type StreamName } from '../feeder/streams.ts'
import { type Check, fail, ok, secondsText, warn } from './check.ts'

type Head = Omit<StreamLine, 'text'>

export interface StreamFacts {
  readonly name: StreamName
  readonly state: 'absent' | 'unreadable' | 'there'
  /** Its last line at the first look and at the second; null while it has none. */
  readonly before: Head | null
  readonly after: Head | null
}

export interface FilesFacts {
  readonly folder: string
  readonly state: 'absent' | 'unreadable' | 'there'
  readonly streams: readonly StreamFacts[]
  /** Folders of a node that writes lines one by one. */
  readonly unbatched: readonly string[]
  /** Between the two looks. */
  readonly tookMs: number
  /** Of the second look. */
  readonly nowMs: number
}

const FLAG: Readonly<Partial<Record<StreamName, string>>> = {
  diffs: '--write-raw-book-diffs',
  fills: '--write-fills',
  misc: '--write-misc-events',
}

/** A node that is this late is catching up, or a clock is wrong. */
export const LATE_MS = 2_000

export function judgeFiles(facts: FilesFacts): Check[] {
  const { folder, state } = facts
  if (state === 'absent')
    return [
      fail('node files', `there is no ${folder}`, '--data is the folder that holds node_fills_by_block and so on.'),
    ]
  if (state === 'unreadable')
    return [fail('node files', `${folder} cannot be read`, 'Let the user that runs the feeder read it.')]
  const missing = facts.streams.flatMap((stream) => judgeStream(stream, facts))
  const required = facts.streams.filter(({ name }) => REQUIRED_STREAMS.includes(name))
  const broken = missing.some(({ state }) => state === 'FAIL')
  return broken ? missing : [...missing, ...judgeGrowth(required, facts)]
}

function judgeStream({ name, state, after }: StreamFacts, { unbatched }: FilesFacts): Check[] {
  const folder = STREAM_FOLDER[name]
  const flag = FLAG[name]
  if (state === 'unreadable')
    return [fail('node files', `${folder} cannot be read`, 'Let the user that runs the feeder read it.')]
  if (flag === undefined || (state === 'there' && after !== null)) return []
  const plain = folder.replace(/_by_block$/, '')
  if (state === 'absent' && unbatched.includes(plain))
    return [fail('node files', `${plain} stands there without ${folder}`, 'Run the node with --batch-by-block.')]
  const saw = state === 'absent' ? `there is no ${folder}` : `${folder} holds no line`
  if (REQUIRED_STREAMS.includes(name)) return [fail('node files', saw, `Run the node with ${flag} --batch-by-block.`)]
  return [warn('node files', saw, `Without ${flag} transfers and ledger updates are missing.`)]
}

/** The newest block that a feeder could send; null where a required stream has no line. */
export function headOf({ streams }: FilesFacts): number | null {
  const heads = streams.filter(({ name }) => REQUIRED_STREAMS.includes(name)).map(({ after }) => after?.height)
  return heads.length === 0 || heads.includes(undefined) ? null : Math.min(...heads.map(Number))
}

function judgeGrowth(streams: readonly StreamFacts[], { tookMs, nowMs }: FilesFacts): Check[] {
  const still = streams.filter(({ before, after }) => before?.height === after?.height)
  const oldest = streams.reduce((one, other) => (other.after!.height < one.after!.height ? other : one)).after!
  const ageMs = nowMs - nodeTimeMs(oldest.time)
  if (still.length > 0 && ageMs > LATE_MS) {
    const names = still.map(({ name }) => STREAM_FOLDER[name]).join(' and ')
    const saw = `no new line in ${names} since block ${oldest.height}, ${secondsText(ageMs)} old`
    return [fail('node files', saw, "Is the node running? Look at the node's own log.")]
  }
  const blocks = Math.min(...streams.map(({ before, after }) => after!.height - (before?.height ?? 0)))
  const grown = `at block ${oldest.height}, ${(blocks / (tookMs / 1000)).toFixed(1)} a second`
  if (ageMs > LATE_MS)
    return [warn('node files', `${grown}, ${secondsText(ageMs)} old`, 'The node is catching up, or a clock is wrong.')]
  if (ageMs < -LATE_MS)
    return [
      warn(
        'node files',
        `${grown}, ${secondsText(ageMs)} in the future`,
        'The clock of this machine is behind: set it by NTP.',
      ),
    ]
  return [ok('node files', grown)]
}
