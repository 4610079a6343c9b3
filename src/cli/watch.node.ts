// `weir watch COIN…`: live order books in the terminal, compared with the server every 5 s. In a pipe: one JSON
// line per second per coin, and one line per comparison. It survives gateway restarts by reading running.json again on each
// connect. With
// `--from` it replays past books once.

import type { Command } from '@commander-js/extra-typings'
import type { ConnectionStatus } from '../client/api.ts'
import { Connection } from '../client/connection.ts'
import { DiffBooks } from '../client/diff-books.ts'
import { nodeRuntime } from '../client/node-runtime.node.ts'
import { replayBooks } from '../client/replay-session.ts'
import type { Endpoint } from '../client/runtime.ts'
import { StepChecker } from '../client/step-check.ts'
import { allFillsBody, reasonOf } from '../client/subscription.ts'
import { type AnyCommand, failUsage, valueParser } from '../core/command-line.node.ts'
import { visible } from '../core/visible.ts'
import { DEFAULT_STATE, readRunning } from './running-file.node.ts'
import { type Shell, weirProgram } from './shell.node.ts'
import { SpeedValue, TimeValue, UrlValue } from './values.ts'
import { renderScreen, WatchBoard } from './watch-screen.ts'

const COINS_MAX = 20
const REDRAW_MS = 100
const LINE_MS = 1_000
const isTerminal = process.stdout.isTTY === true
/** `hasColors` respects NO_COLOR and terminals without colors. */
const isColored = isTerminal && process.stdout.hasColors()

export function watchProgram(shell: Shell): AnyCommand {
  const command = addOptions(
    weirProgram('watch', [
      'BTC ETH',
      'BTC --url https://weir.example.workers.dev',
      'BTC --from 2026-11-23T12:00Z --to 2026-11-23T12:05Z --speed 10',
    ]),
  )
  return command.action((words, options) => {
    const coins = [...new Set(words)]
    if (coins.length > COINS_MAX) failUsage(command, `at most ${COINS_MAX} coins`)
    const { from, to = shell.now(), speed = 1 } = options
    const endpoint = endpointFor(options, shell.env.WEIR_KEY)
    if (from === undefined) watch(coins, endpoint)
    else if (from > to) failUsage(command, '--from must be before --to and in the past')
    else watchReplay(coins, endpoint(), { fromTime: from, toTime: to, speed })
  })
}

const addOptions = (command: Command) =>
  command
    .argument('<coin...>', `up to ${COINS_MAX} coins`)
    .option('--url <url>', 'gateway URL (default: the running "npx weir demo")', valueParser(UrlValue))
    .option(
      '--key <key>',
      'API key for --url (default: the environment variable WEIR_KEY, which does not appear in process lists)',
    )
    .option('--from <time>', 'replay from this time', valueParser(TimeValue))
    .option('--to <time>', 'end of the replay (default: now)', valueParser(TimeValue))
    .option('--speed <factor>', 'replay speed, 1 to 300, or max (default: 1)', valueParser(SpeedValue))
    .option('--state <dir>', 'state folder of "npx weir demo"', DEFAULT_STATE)

function watchReplay(
  coins: readonly string[],
  endpoint: Endpoint | string,
  range: Parameters<typeof replayBooks>[3],
): void {
  if (typeof endpoint === 'string') exitWith(endpoint)
  const board = new WatchBoard(coins)
  board.status = `replay from ${endpoint.url}, ${range.speed}×`
  let timeMs = range.fromTime ?? 0
  replayBooks(nodeRuntime(), endpoint, coins, range, {
    changed: (book) => {
      timeMs = Math.max(timeMs, book.time)
      board.updateBook(book)
      for (const coin of coins) board.updateStep(coin, 'in step', new Date(timeMs).toISOString())
    },
    missing: (from, to) =>
      print(to === undefined ? `no order books from block ${from}` : `blocks ${from} to ${to} are missing`),
    ended: (reason) => {
      for (const line of board.lines(timeMs)) print(line)
      if (reason !== null) exitWith(reasonOf(reason))
      process.exit(0)
    },
  })
  startDisplay(board, () => timeMs)
}

function watch(coins: readonly string[], endpoint: () => Endpoint | string): void {
  if (typeof endpoint() === 'string') exitWith(endpoint() as string)
  const runtime = nodeRuntime()
  const board = new WatchBoard(coins)
  const known = () => {
    const now = endpoint()
    return typeof now === 'string' ? null : now
  }
  const connection = new Connection(runtime, {
    endpoint: known,
    onState: (state) => {
      board.status = statusOf(state, known())
      if (state.state === 'fatal') exitWith(`The gateway rejected the connection: ${state.reason}`)
      else if (state.state !== 'connecting') print(board.status)
    },
    onNotice: print,
  })
  followBooks(connection, runtime, coins, board)
  for (const coin of coins)
    connection.subscribe(allFillsBody(coin), {
      frame: (frame) => {
        if (frame.channel === 'allFills') for (const [, fill] of frame.fills) board.addFill(fill)
      },
      refused: (text) => exitWith(`The gateway rejected the subscription to fills: ${reasonOf(text)}`),
    })
  connection.start()
  startDisplay(board)
}

function followBooks(
  connection: Connection,
  runtime: ReturnType<typeof nodeRuntime>,
  coins: readonly string[],
  board: WatchBoard,
): void {
  const verdict: ConstructorParameters<typeof StepChecker>[2] = (coin, found) => print(board.recordVerdict(coin, found))
  const endpoint = () => connection.endpoint()
  const checkers = new Map(coins.map((coin) => [coin, new StepChecker(runtime, endpoint, verdict)]))
  new DiffBooks(
    connection,
    runtime,
    { coin: coins.length === 1 ? coins.join() : coins },
    {
      changed: (book) => {
        board.updateBook(book)
        checkers.get(book.coin)?.changed(book)
      },
      step: (coin, step, why) => {
        board.updateStep(coin, step, why)
        if (coin === null || step !== 'out of step') return
        checkers.get(coin)?.lost()
        print(`out of step ${coin}: ${why}`)
      },
      // A coin that had a book exists; the gateway is not ready to serve it again yet.
      unknown: (coin) =>
        board.hasBook(coin) || exitWith(`Coin ${JSON.stringify(coin)} does not exist on this gateway.`),
      refused: (text) => exitWith(`The gateway rejected ${coins.join(', ')}: ${reasonOf(text)}`),
    },
  )
}

/** The current endpoint, or an error message. Invariant: a key is sent only to the gateway that it was given for. */
function endpointFor(
  { url, key, state }: ReturnType<ReturnType<typeof addOptions>['opts']>,
  envKey: string | undefined,
) {
  return (): Endpoint | string => {
    const apiKey = key ?? envKey
    if (url !== undefined) return apiKey ? { url, key: apiKey } : '--url needs an API key. Set WEIR_KEY, or pass --key.'
    const file = readRunning(state, '--url, with WEIR_KEY or --key')
    if (!file.ok) return file.error
    const ownKey = key ?? file.value.key ?? envKey
    return ownKey ? { url: file.value.url, key: ownKey } : 'This gateway has no demo key. Set WEIR_KEY, or pass --key.'
  }
}

function statusOf(state: ConnectionStatus, endpoint: Endpoint | null): string {
  if (state.state === 'open') return `connected to ${endpoint?.url ?? '?'}`
  return state.state === 'waiting' ? `disconnected: ${state.reason}; reconnecting` : state.state
}

function startDisplay(board: WatchBoard, nowMs: () => number = Date.now): void {
  if (!isTerminal) {
    setInterval(() => {
      for (const line of board.lines(nowMs())) print(line)
    }, LINE_MS)
    return
  }
  // Uses the alternate screen without a cursor; every exit restores the old screen.
  process.stdout.write('\x1b[?1049h\x1b[?25l')
  process.on('exit', () => process.stdout.write('\x1b[?25h\x1b[?1049l'))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(0))
  const draw = () => {
    const { columns = 80, rows = 24 } = process.stdout
    const lines = renderScreen(board.screen(), { columns, rows, isColored: isColored }, nowMs())
    process.stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\n')}\x1b[J`)
  }
  process.stdout.on('resize', draw)
  setInterval(draw, REDRAW_MS)
}

/** Prints a line if the output is a pipe. On a terminal, the screen already shows the same information. */
function print(line: string): void {
  if (!isTerminal) process.stdout.write(`${visible(line)}\n`)
}

function exitWith(sentence: string): never {
  // The exit handler restores the screen first, so that the message stays visible.
  process.on('exit', () => process.stderr.write(`${visible(sentence)}\n`))
  process.exit(1)
}
