// The program: ready line, kill and restart, clean exit, and one clear message when it cannot run.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MAIN } from '../kit/program.ts'

let folder: string
let running: ChildProcess[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devnet-main-'))
  running = []
})
afterEach(async () => {
  for (const child of running) await stop(child, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

interface Ready {
  readonly url: string
  readonly data: string
  readonly pid: number
  readonly height: number
}

function launch(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [MAIN, 'devnet', '--json', '--block-ms', '10', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  return child
}

/** First line of standard output, or the text of standard error instead. */
function ready(child: ChildProcess): Promise<Ready> {
  return new Promise((resolve, reject) => {
    let errors = ''
    child.stderr!.on('data', (text) => (errors += text))
    child.stdout!.once('data', (text) => resolve(JSON.parse(String(text))))
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${errors}`)))
  })
}

function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => {
    child.once('exit', resolve)
    child.kill(signal)
  })
}

async function heightAt(url: string): Promise<number> {
  return ((await (await fetch(`${url}/books`)).json()) as { height: number }).height
}

async function reach(url: string, height: number): Promise<void> {
  while ((await heightAt(url)) < height);
}

function heights(data: string, stream: string): number[] {
  const dir = join(data, stream, 'hourly')
  const paths = readdirSync(dir).flatMap((date) => readdirSync(join(dir, date)).map((hour) => join(dir, date, hour)))
  const lines = paths.sort().flatMap((path) => readFileSync(path, 'utf8').trimEnd().split('\n'))
  return lines.map((line) => (JSON.parse(line) as { block_number: number }).block_number).sort((a, b) => a - b)
}

it('survives SIGKILL without writing a height twice, and ends cleanly on SIGTERM', { timeout: 120_000 }, async () => {
  const args = ['--data', join(folder, 'data'), '--port', '0', '--seed', '3']
  const first = launch(...args)
  await reach((await ready(first)).url, 40)
  await stop(first, 'SIGKILL')
  const second = launch(...args)
  const again = await ready(second)
  expect(again.height).toBeGreaterThanOrEqual(40)
  expect(again.pid).toBe(second.pid)
  await reach(again.url, again.height + 20)
  expect(await stop(second, 'SIGTERM')).toBe(0)
  for (const stream of ['node_fills_by_block', 'node_raw_book_diffs_by_block']) {
    const seen = heights(again.data, stream)
    expect(seen).toEqual(seen.map((_, i) => i + 1))
    expect(seen.length).toBeGreaterThanOrEqual(again.height + 20)
  }
  const written = heights(again.data, 'node_order_statuses_by_block').length
  expect((await ready(launch(...args))).height).toBe(written)
})

it('explains in one sentence why it cannot run', { timeout: 120_000 }, async () => {
  const data = join(folder, 'data')
  const { url } = await ready(launch('--data', data, '--port', '0'))
  const port = new URL(url).port
  writeFileSync(join(folder, 'file'), '')
  const refusals = [
    [['--data', join(folder, 'other'), '--port', port], /^Error: exit 1: devnet: port \d+ is in use\.\n$/],
    [['--data', join(folder, 'file', 'data'), '--port', '0'], /^Error: exit 1: devnet: cannot write to .*\n$/],
    [['--data', data, '--port', '0', '--seed', '2'], /^Error: exit 1: devnet: .* seed 1, not 2.*\n$/],
    [['--data', data, '--port', '0x50'], /^Error: exit 2: error: option '--port <n>' .*\n\nUsage: /],
    [[], /^Error: exit 2: error: required option '--data <dir>' .*\n\nUsage: /],
  ] as const
  for (const [args, sentence] of refusals) {
    const outcome = await ready(launch(...args)).then(String, String)
    expect(outcome).toMatch(sentence)
  }
})
