// What the live page costs a visitor: its renderer's share of one core and its heap, sample by sample, and frames a second.
// `node test/browser/live-load.node.ts [--url http://127.0.0.1:8787] [--coin BTC] [--minutes 30]`, against a gateway that runs.

import { parseArgs } from 'node:util'
import { openBrowser } from './browser.ts'

const SAMPLE_MS = 10_000
const MB = 2 ** 20

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:8787' },
    coin: { type: 'string', default: 'BTC' },
    minutes: { type: 'string', default: '30' },
  },
})

interface Sample {
  readonly atMs: number
  /** Seconds that tasks of the page's thread took; of that scripts, layout and styles. */
  readonly task: number
  readonly script: number
  readonly layout: number
  readonly heap: number
  readonly nodes: number
  /** Seconds of a core that the renderer's process took. */
  readonly cpu: number
}

const browser = await openBrowser()
if (typeof browser === 'string') throw new Error(browser)
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.goto(`${values.url}/live?coin=${encodeURIComponent(values.coin)}`)
  await page.getByText('In sync').first().waitFor({ timeout: 60_000 })
  const debug = await context.newCDPSession(page)
  await debug.send('Performance.enable')
  const sample = async (): Promise<Sample> => {
    await debug.send('HeapProfiler.collectGarbage')
    const { metrics } = await debug.send('Performance.getMetrics')
    const of = new Map((metrics as { name: string; value: number }[]).map(({ name, value }) => [name, value]))
    const get = (name: string) => of.get(name) ?? Number.NaN
    return {
      atMs: performance.now(),
      task: get('TaskDuration'),
      script: get('ScriptDuration'),
      layout: get('LayoutDuration') + get('RecalcStyleDuration'),
      heap: get('JSHeapUsedSize'),
      nodes: get('Nodes'),
      cpu: get('ProcessTime'),
    }
  }
  let before = await sample()
  const first = before
  const end = performance.now() + Number(values.minutes) * 60_000
  const share = (of: keyof Sample, a: Sample, b: Sample) =>
    `${(((b[of] - a[of]) / (b.atMs - a.atMs)) * 100_000).toFixed(1).padStart(5)} %`
  const line = (a: Sample, b: Sample) =>
    [
      `${((b.atMs - first.atMs) / 60_000).toFixed(1).padStart(5)} min`,
      `process ${share('cpu', a, b)}`,
      `tasks ${share('task', a, b)}`,
      `scripts ${share('script', a, b)}`,
      `layout ${share('layout', a, b)}`,
      `heap ${(b.heap / MB).toFixed(1)} MB`,
      `${b.nodes} nodes`,
    ].join('  ')
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS))
    const now = await sample()
    console.log(line(before, now))
    before = now
  }
  // To count frames takes frames that nothing needs: by itself, at the end.
  const frames = await page.evaluate<number>(
    `new Promise((done) => { let drawn = 0; const end = performance.now() + ${SAMPLE_MS}
      const next = (now) => (now < end ? (drawn++, requestAnimationFrame(next)) : done(drawn)); requestAnimationFrame(next) })`,
  )
  console.log(
    `all   ${line(first, before)}, heap at first ${(first.heap / MB).toFixed(1)} MB, ${(frames / SAMPLE_MS) * 1_000} frames/s`,
  )
} finally {
  await browser.close()
}
