// `npm run crash [-- --kills 50 --calls 100000 --seed N]`: kills workerd (every fifth time the gateway's whole process
// group) at random points of metered calls, and then holds the ledger against what callers were served. A small run of
// the same is part of `npm test`.

import { parseArgs } from 'node:util'
import { build } from '../../src/launch/build.node.ts'
import { crashRun } from './credit-run.ts'

const text = { type: 'string' } as const
const whole = (value: string | undefined, otherwise: number) => {
  const number = Number(value ?? otherwise)
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${value} is no count`)
  return number
}

function options() {
  try {
    const { values } = parseArgs({ options: { kills: text, calls: text, seed: text } })
    const kills = whole(values.kills, 50)
    return { kills, calls: whole(values.calls, 100_000), seed: whole(values.seed, 1 + (Date.now() % 1_000_000)) }
  } catch (error) {
    console.error(`${(error as Error).message}. Usage: npm run crash -- [--kills N] [--calls N] [--seed N]`)
    process.exit(2)
  }
}
const asked = options()
const { kills, seed } = asked

await build(new URL('../..', import.meta.url).pathname)
const startedMs = Date.now()
const report = await crashRun({
  calls: asked.calls,
  kills,
  groupEvery: 5,
  seed,
  awaitReturn: true,
  say: (line) => console.log(line),
})
const { calls, served, unanswered, refused, charged, granted, groupKills, lost, heldAtEnd } = report
const lostInAll = lost.reduce((sum, each) => sum + each, 0)
console.log(`seed ${seed}, ${Math.round((Date.now() - startedMs) / 1000)} s: all laws hold
  kills                        ${kills}, of them ${groupKills} of the whole process group
  calls                        ${calls}: ${served} served, ${unanswered} lost their answer, ${refused} refused
  charged, of granted          ${charged / 1e6} of ${granted / 1e6} credits
  served and never charged     at most ${Math.max(...lost)} micro-credits a kill, ${Math.round(lostInAll / kills)} on average
  held once leases had ended   ${heldAtEnd}
  usage rows (meter and D1)    equal to the ledger`)
