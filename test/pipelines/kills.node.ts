// `node test/pipelines/kills.node.ts [KILLS [SEED]]` runs pipelines while their processes are killed at random. It
// is started by hand.

import { killsRun } from './kills/run.ts'

const [kills = '20', seed = String(1 + (Date.now() % 1_000_000))] = process.argv.slice(2)
const startedMs = Date.now()
const found = await killsRun({
  kills: Number(kills),
  seed: Number(seed),
  say: (line) => console.log(line),
})
console.log(`seed ${seed}, ${Math.round((Date.now() - startedMs) / 1000)} s: every row is there once, in order`, found)
