import { spawn } from 'node:child_process'
import { expect, it, test } from 'vitest'
import {
  type AnyCommand,
  describeCommand,
  examplesOf,
  program,
  runProgram,
  valueParser,
} from '../../src/core/command-line.node.ts'
import { wholeNumber } from '../../src/core/whole-number.ts'

/** Output of a program with every kind of command for one line. */
async function said(...line: string[]) {
  const out: string[] = []
  const err: string[] = []
  const ran: unknown[] = []
  const root = program('npm run it --', 'is tried')
    .option('--deep', 'for all')
    .configureOutput({ writeOut: (text) => out.push(text), writeErr: (text) => err.push(text) })
  const group = describeCommand(root.command('group'), 'a group')
  describeCommand(group.command('list'), 'lists', ['', 'x'])
    .argument('[name]', 'its name')
    .action((name) => void ran.push(name))
  describeCommand(group.command('each'), 'of each', ['x y'])
    .argument('<name...>', 'names')
    .action((names) => void ran.push(names))
  describeCommand(group.command('make'), 'makes', ['--count 5'])
    .option('--count <n>', 'how many', valueParser(wholeNumber(1, 9)))
    .option('--name <text>', 'its name')
    .option('--now', 'at once')
    .action((options) => void ran.push(options))
  await runProgram(root as AnyCommand, line)
  const code = process.exitCode
  process.exitCode = undefined
  return { out: out.join(''), err: err.join(''), ran, code }
}

test('runs a command with its own arguments and options, and with global options in any position', async () => {
  expect((await said('group', 'make', '--count', '5', '--name=-a', '--now', '--deep')).ran).toEqual([
    { count: 5, name: '-a', now: true },
  ])
  expect((await said('--deep', 'group', 'list', '--', '--x')).ran).toEqual(['--x'])
  expect((await said('group', 'each', 'x', 'y')).ran).toEqual([['x', 'y']])
})

it.each([
  [['gruop'], "error: unknown command 'gruop'\n(Did you mean group?)", 'Usage: npm run it -- [options] [command]'],
  [['group', 'lst'], "error: unknown command 'lst'\n(Did you mean list?)", 'Usage: npm run it -- group [options]'],
  [['group', 'list', '--count', '5'], "error: unknown option '--count'", 'Usage: npm run it -- group list [options]'],
  [['group', 'make', '--cuont', '5'], "error: unknown option '--cuont'\n(Did you mean --count?)", 'Usage: npm run it'],
  [['group', 'make', '--constructor'], "error: unknown option '--constructor'", 'Usage: npm run it -- group make'],
  [['group', 'make', 'x'], 'error: too many arguments', 'Usage: npm run it -- group make [options]'],
  [['group', 'make', '--count'], "error: option '--count <n>' argument missing", 'Usage: npm run it -- group make'],
  [['group', 'make', '--count', '1e1'], 'It must be a whole number from 1 to 9', 'Usage: npm run it -- group make'],
  [['group', 'make', '--name', '--now'], 'looks like an option', 'Usage: npm run it -- group make'],
  [['group', 'make', '--name', ''], 'must not be empty', 'Usage: npm run it -- group make'],
  [['group', 'list', ''], 'must not be empty', 'Usage: npm run it -- group list'],
  [['group', 'each', 'x', ''], 'must not be empty', 'Usage: npm run it -- group each'],
  [['group', '\u001b[31m'], "error: unknown command '\\u001b[31m'", 'Usage: npm run it -- group [options]'],
  [['group'], '', 'Usage: npm run it -- group [options] [command]'],
  [[], '', 'Usage: npm run it -- [options] [command]'],
])('%j runs nothing, and says why and how to', async (line, sentence, usage) => {
  const { out, err, ran, code } = await said(...line)
  expect([out, ran, code]).toEqual(['', [], 2])
  expect(err).toContain(sentence)
  expect(err).toContain(usage)
  expect(err).not.toContain('\u001b')
})

it.each([
  [['--help'], 'npm run it -- group list\n'],
  [['help'], 'npm run it -- group list\n'],
  [['group', '-h'], 'npm run it -- group make --count 5\n'],
  [['group', 'make', '--help'], 'npm run it -- group make --count 5\n'],
  [['help', 'group', 'make'], 'npm run it -- group make --count 5\n'],
  [['group', 'help', 'make'], 'npm run it -- group make --count 5\n'],
])('%j is answered on standard output', async (line, example) => {
  const { out, err, ran, code } = await said(...line)
  expect([err, ran, code]).toEqual(['', [], 0])
  expect(out).toMatch(/^Usage: npm run it/)
  expect(out).toContain(example)
})

test('ends examples of a program without arguments with its name', () => {
  expect(examplesOf(program('npm start --', 'starts', ['', '--reset']) as AnyCommand)).toEqual([
    'npm start',
    'npm start -- --reset',
  ])
})

/** Programs, and arguments without which an unknown option is not reached. Null: fresh.test.ts runs it with one. */
const PROGRAMS: Readonly<Record<string, string | null>> = {
  'src/cli/main.node.ts': '',
  'src/cli/main.node.ts demo': '',
  'src/cli/main.node.ts admin': '',
  'src/cli/main.node.ts keys': '',
  'src/cli/main.node.ts pay': '',
  'src/cli/main.node.ts replay': 'x',
  'src/cli/main.node.ts watch': '',
  'src/cli/main.node.ts feed': '',
  'src/cli/main.node.ts devnet': '--data x',
  'src/cli/main.node.ts doctor': '',
  'src/cli/main.node.ts deploy': '',
  'src/cli/main.node.ts books': '--for parquet --coin BTC',
  'src/cli/main.node.ts completion': 'bash',
  'src/feeder/main.node.ts': '',
  'scripts/bindings.ts': '',
  'scripts/generate.ts': '',
  'scripts/laws.mjs': null,
  'scripts/mutants.ts': null,
  'test/bench/main.node.ts': null,
  'test/crash/credits.node.ts': null,
}

async function run(program: string, line: string, reads = true, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, `${program} ${line}`.split(' ').filter(Boolean), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const texts = ['', '']
  for (const [i, stream] of [child.stdout, child.stderr].entries()) stream.on('data', (piece) => (texts[i] += piece))
  if (!reads) child.stdout.destroy()
  const code = await new Promise((resolve) => child.once('close', resolve))
  return { code, out: texts[0]!, err: texts[1]! }
}

it.concurrent.each(Object.entries(PROGRAMS))(
  '%s ends with 2 at an option that it does not know, and with 0 at --help',
  async (program, needed) => {
    if (needed !== null) {
      const wrong = await run(program, `${needed} --nope`.trim())
      expect([wrong.code, wrong.out, wrong.err.split('\n')[0]]).toEqual([2, '', "error: unknown option '--nope'"])
    }
    const { code, out, err } = await run(program, '--help')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^Usage: n.*\n\n.*\n(?:.|\n)*\nOptions:\n(?:.|\n)*\nExamples:\n {2}n/)
  },
  // All of them start at the same time; the last one takes 6 s on two idle cores.
  120_000,
)

it.concurrent.each([
  ['src/cli/main.node.ts keys', 'create acme', '(pass the account as --account ID)'],
  ['src/cli/main.node.ts demo', '--port 31100', '(set the port as a variable: PORT=8788 npx weir demo)'],
])('%s %s is told what was probably meant', async (program, line, hint) => {
  const { code, out, err } = await run(program, line)
  expect([code, out, err.split('\n')[1]]).toEqual([2, '', hint])
})

test('lists its own options for watch without a target', async () => {
  const { code, err } = await run('src/cli/main.node.ts watch', 'BTC --state nowhere')
  expect([code, err]).toEqual([1, expect.stringMatching(/nowhere.*--url, with WEIR_KEY or --key\.\n$/)])
})

test('exits quietly when the reader closes the pipe', async () => {
  expect(await run('src/cli/main.node.ts keys', '--help', false)).toMatchObject({ code: 0, err: '' })
})

test('asks for -- before options that npm consumed, and does nothing', async () => {
  const npm = { npm_lifecycle_event: 'generate', npm_config_check: 'true' }
  const { code, out, err } = await run('scripts/generate.ts', '', true, npm)
  expect([code, out]).toEqual([2, ''])
  expect(err.split('\n')[0]).toContain('--check')
})
