// An info answer from the isolate's cache, authenticated and metered, against a Worker that sends the same body with the
// same headers, against one that also reads those that a key needs, and against the least one: it echoes the request, which
// is shorter and has one header.

import { showAnswer } from './bare.node.ts'
import { COIN } from './blocks.ts'
import { asking, JSON_HEADER, rateLine, timeLine } from './requests.node.ts'
import type { Line } from './table.ts'
import type { Bench } from './targets.node.ts'

const BODY = JSON.stringify({ type: 'l2Book', coin: COIN })
const GOALS = { same: 0.95, keyed: 0.95, minimal: 0.75 } as const
const AGAINST = {
  same: 'a bare Worker with the same body and headers',
  keyed: 'one that also reads the headers of a key and writes those of its answer',
  minimal: 'a Worker that echoes',
} as const

/** Requests per second at 32 connections, and the time of an answer at 1 and at 32. */
export async function infoLines(bench: Bench): Promise<Line[]> {
  const { authorization, bare, weir, quick } = bench
  const headers = JSON_HEADER + authorization
  const asked = { 'content-type': 'application/json', ...Object.fromEntries([authorization.trim().split(': ')]) }
  await showAnswer(
    bare.port,
    await fetch(`http://127.0.0.1:${weir.port}/info`, { method: 'POST', headers: asked, body: BODY }),
  )
  const measure = asking(
    bench,
    {
      minimal: [bare, '/echo', headers],
      same: [bare, '/same', headers],
      keyed: [bare, '/keyed', headers],
      weir: [weir, '/info', headers],
    },
    BODY,
  )
  await measure(1, 32, quick ? 700 : 1500)
  const many = await measure(quick ? 4 : 40, 32, 250)
  const one = await measure(quick ? 2 : 20, 1, 200)
  return (['same', 'keyed', 'minimal'] as const).flatMap((base) => [
    rateLine(`info \`l2Book\` from cache, 32 connections, against ${AGAINST[base]}`, many, base, GOALS[base]),
    timeLine('the same, p50', many, base),
    timeLine('the same, 1 connection, p50', one, base),
  ])
}
