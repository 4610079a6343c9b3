// `npm run crash [-- --kills 50 --calls 100000 --seed N]`: kills workerd (every fifth time the gateway's whole process
// group) at random points of metered calls, and then holds the ledger against what callers were served. A small run of
// the same is part of `npm test`.

import { join } from 'node:path'
import { commandLine, refuseArgs } from '../../src/core/command-line.node.ts'
import { build } from '../../src/launch/build.node.ts'
import { crashRun } from './credit-run.ts'

const text = { type: 'string' } as const
const USAGE = 'Usage: npm run crash -- [--kills N] [--calls N] [--seed N]'
const { values } = commandLine({ kills: text, calls: text, seed: text }, USAGE)
const whole = (name: keyof typeof values, otherwise: number) => {
  const number = Number(values[name] ?? otherwise)
  if (Number.isSafeInteger(number) && number > 0) return number
  return refuseArgs(`--${name} takes a count, not ${JSON.stringify(values[name])}.`, USAGE)
}
const kills = whole('kills', 50)
const asked = whole('calls', 100_000)
const seed = whole('seed', 1 + (Date.now() % 1_000_000))

await build(join(import.meta.dirname, '../..'))
const startedMs = Date.now()
const report = await crashRun({
  calls: asked,
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
