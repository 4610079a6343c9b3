// What only an account shows, each measured and compared with what the rehearsal assumes.

import { spreadOf } from '../../kit/statistics.ts'

export interface AccountCheck {
  readonly name: string
  /** `reported`: the rehearsal assumes nothing. */
  readonly state: 'as assumed' | 'differs' | 'reported' | 'failed'
  readonly text: string
}

/** Calls the probe. Rejects if it cannot be reached or its check failed. */
export type AskProbe = (check: string, query?: Readonly<Record<string, string>>) => Promise<unknown>

export interface CheckOptions {
  readonly sleep: (ms: number) => Promise<void>
  readonly nowMs: () => number
  /** Hints that a deployment uses. */
  readonly hints: readonly string[]
  /** Calls that show how many isolates answer. */
  readonly calls: number
}

const KV_STALE_MS = 60_000
const KV_POLL_MS = 2_000
/** After this, the check gives up. */
const KV_LIMIT_MS = 180_000

type Outcome = Omit<AccountCheck, 'name'>

const reported = (text: string): Outcome => ({ state: 'reported', text })
const assumed = (isSo: boolean, text: string): Outcome => ({ state: isSo ? 'as assumed' : 'differs', text })

function spread(value: unknown): { readonly p50: number; readonly max: number; readonly text: string } {
  const ms = value as number[]
  const { p50, max } = spreadOf(Float64Array.from(ms), ms.length)
  return { p50, max, text: `p50 ${p50} ms, max ${max} ms` }
}

/** Runs all checks, one after the other. A check that fails does not end the run. */
export async function accountChecks(
  ask: AskProbe,
  options: CheckOptions,
  onCheck: (check: AccountCheck) => void,
): Promise<readonly AccountCheck[]> {
  const done: AccountCheck[] = []
  for (const [name, run] of checksOf(ask, options)) {
    const outcome = await run().catch((error): Outcome => ({ state: 'failed', text: String(error) }))
    const check = { name, ...outcome }
    done.push(check)
    onCheck(check)
  }
  return done
}

function checksOf(ask: AskProbe, options: CheckOptions): [name: string, run: () => Promise<Outcome>][] {
  const { hints, calls } = options
  return [
    ...hints.map((hint): [string, () => Promise<Outcome>] => [
      `place of ${hint}`,
      async () => {
        const { colo, ms } = (await ask('place', { hint })) as { colo: string; ms: number[] }
        return reported(`${colo}, calls from here ${spread(ms).text}`)
      },
    ]),
    [
      'objects in an isolate',
      async () => {
        const isolates = (await ask('packing', { hint: hints[0] ?? '' })) as string[]
        return reported(`${isolates.length} objects of one class and place run in ${new Set(isolates).size} isolates`)
      },
    ],
    [
      'gateway isolates',
      async () => {
        const ids = await Promise.all(Array.from({ length: calls }, () => ask('isolate')))
        return reported(`${calls} concurrent calls reached ${new Set(ids).size} isolates`)
      },
    ],
    [
      'replication of a write',
      async () => {
        const { p50, max, text } = spread(await ask('commits', { hint: hints[0] ?? '' }))
        return assumed(p50 <= 15 && max <= 150, `${text}; assumed 15 ms, 150 ms once in a hundred`)
      },
    ],
    ['D1', async () => reported(spread(await ask('d1')).text)],
    [
      'R2',
      async () => {
        const ms = await ask('r2')
        return reported(ms === null ? 'no archive is configured' : spread(ms).text)
      },
    ],
    [
      'KV: writes of one key',
      async () => {
        const outcomes = (await ask('kv-writes')) as string[]
        const refused = outcomes.filter((outcome) => outcome.includes('429')).length
        return assumed(refused > 0, `${refused} of ${outcomes.length} within a second were refused with 429`)
      },
    ],
    ['KV: a write after a cached miss', () => kvStaleness(ask, options)],
  ]
}

async function kvStaleness(ask: AskProbe, { sleep, nowMs }: CheckOptions): Promise<Outcome> {
  await ask('kv-read')
  await ask('kv-write')
  const sinceMs = nowMs()
  while ((await ask('kv-read')) !== 'new') {
    if (nowMs() - sinceMs > KV_LIMIT_MS) return { state: 'differs', text: `not seen after ${KV_LIMIT_MS / 1000} s` }
    await sleep(KV_POLL_MS)
  }
  const ms = nowMs() - sinceMs
  return assumed(ms <= KV_STALE_MS + KV_POLL_MS, `seen after ${Math.round(ms / 1000)} s; assumed 60 s at most`)
}
