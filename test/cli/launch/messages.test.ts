import { spawn } from 'node:child_process'
import { expect, test, vi } from 'vitest'
import { announce, type ProcessStates, processUpdates } from '../../../src/cli/launch/messages.ts'
import { processInfo } from '../../../src/cli/launch/processes.node.ts'

test('shows variables, existing commands with a non-default state folder, and links to the docs', () => {
  const text = announce({
    url: 'http://127.0.0.1:1',
    key: 'cqt_K',
    serviceKey: 'cqs_S',
    adminToken: 'T',
    stateOption: " --state 'my weir'",
    dailyCredits: 1_000,
  })
  const commands = text.split('\n').filter((line) => /^ {2}\w/.test(line))
  expect(commands.map((line) => line.trim().split(' ').slice(0, 3).join(' '))).toEqual([
    ...['export WEIR_URL=http://127.0.0.1:1 WEIR_KEY=cqt_K', 'curl -s $WEIR_URL/info'],
    ...['npx weir watch', 'npx weir pay', 'npx weir keys', 'npx weir admin'],
  ])
  expect(text.match(/ --state 'my weir'/g)).toHaveLength(4)
  for (const path of ['/docs', '/status', '/live', '/console']) expect(text).toContain(`http://127.0.0.1:1${path}`)
  expect(text).toContain('1,000 credits')
  expect(text.trim().split('\n').length).toBeLessThan(23)
})

type Look = [gateway: number, workerd?: number | undefined, stopped?: string[]]

/** What is said at each of these looks, one after the other. */
function said(...looks: Look[]): string[][] {
  let seen: ProcessStates = { stopped: [] }
  return looks.map(([gateway, workerd, stopped = []]) => {
    const next = processUpdates(seen, { gateway, feeder: 9, ...(workerd && { workerd }) }, stopped)
    seen = next.seen
    return next.lines
  })
}
const ENDED = expect.stringMatching(/^workerd ended/)
const RUNNING = expect.stringContaining('process 3')

test('a workerd that died and restarted is reported once', () => {
  expect(said([1], [1, 2], [1, 2], [1], [1], [1, 3], [1, 3])).toEqual([...[[], [], [], [ENDED], [], [RUNNING], []]])
  expect(said([1, 2], [1, 3])).toEqual([[], [ENDED, RUNNING]])
})

test('the workerd of a restarted gateway is not reported', () => {
  expect(said([1, 2], [4], [4, 5])).toEqual([[], [], []])
})

test('a stopped process is reported once, with what to do', () => {
  const stopped = expect.stringMatching(/^feeder .*"kill -CONT 9".*"kill -KILL 9"/)
  expect(said([1], [1, 2, ['feeder']], [1, 2, ['feeder']], [1, 2])).toEqual([
    ...[[], [stopped], [], [expect.stringMatching(/^feeder /)]],
  ])
})

test.skipIf(process.platform !== 'linux')('a process that got SIGSTOP is told from one that runs', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  expect([processInfo(process.pid)?.isStopped, processInfo(2 ** 30)]).toEqual([false, null])
  child.kill('SIGSTOP')
  await vi.waitFor(() => expect(processInfo(child.pid!)?.isStopped).toBe(true), { timeout: 5_000 })
  child.kill('SIGKILL')
})
