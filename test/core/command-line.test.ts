import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { readArgs } from '../../src/core/command-line.node.ts'

const OPTIONS = {
  state: { type: 'string' },
  reset: { type: 'boolean' },
  url: { type: 'string', default: 'here' },
} as const

describe('a command line', () => {
  it('is options, wherever they stand, and words in their order', () => {
    const args = ['one', '--state', 'dir', 'two', '--reset', '--', '--three']
    expect(readArgs(args, OPTIONS, 'words too')).toEqual({
      ok: true,
      value: { values: { state: 'dir', reset: true, url: 'here' }, words: ['one', 'two', '--three'] },
    })
    expect(readArgs(['--state=-dir'], OPTIONS)).toMatchObject({ ok: true, value: { values: { state: '-dir' } } })
  })

  it.each([
    [['--nope'], 'Unknown option "--nope".'],
    [['--nope=3'], 'Unknown option "--nope".'],
    [['--constructor'], 'Unknown option "--constructor".'],
    [['-x'], 'Unknown option "-x".'],
    [['--\u001b[31m'], 'Unknown option "--\\u001b[31m".'],
    [['--state'], '--state needs a value.'],
    [['--state', '--reset'], '--state needs a value.'],
    [['--state='], '--state needs a value.'],
    [['--reset=yes'], '--reset takes no value.'],
    [['word'], 'Unexpected argument "word".'],
  ])('%j is refused in a sentence', (args, error) => {
    expect(readArgs(args, OPTIONS)).toEqual({ ok: false, error })
  })
})

const PROGRAMS = [
  'src/launch/main.node.ts',
  'src/cli/admin.node.ts',
  'src/cli/keys.node.ts',
  'src/cli/replay.node.ts',
  'src/cli/watch.node.ts',
  'src/feeder/main.node.ts',
  'src/devnet/main.node.ts',
  'scripts/bindings.ts',
  'scripts/generate.ts',
  'scripts/laws.mjs',
  'scripts/mutants.ts',
  'test/bench/main.node.ts',
  'test/crash/credits.node.ts',
]

it.concurrent.each(PROGRAMS)('%s ends with 2 at an option that it does not know', async (program) => {
  const child = spawn(process.execPath, [program, '--nope'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  child.stderr.on('data', (piece) => {
    text += piece
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect([code, text.split('\n')[0]]).toEqual([2, 'Unknown option "--nope".'])
})
