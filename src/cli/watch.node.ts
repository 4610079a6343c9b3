// `npm run watch -- COIN…`: live books in the terminal, compared with the server every 5 s. In a pipe: one JSON line
// a second and coin, and a line per comparison. It outlives restarts of the gateway: dev.json is read again on each.

import { Connection } from '../client/connection.ts'
import type { ConnectionState } from '../client/connection-options.ts'
import { DiffBooks } from '../client/diff-books.ts'
import { onAllFills } from '../client/events.ts'
import { nodeRuntime } from '../client/node-runtime.node.ts'
import type { Endpoint } from '../client/runtime.ts'
import { StepChecker } from '../client/step-checker.ts'
import { reasonOf } from '../client/subscription.ts'
import { commandLine, refuseArgs } from '../core/command-line.node.ts'
import { DEFAULT_STATE, readDevFile } from './dev-file.node.ts'
import { WATCH_ARGS, WATCH_USAGE, type WatchOptions, watchOptions } from './watch-args.ts'
import { WatchBoard } from './watch-board.ts'
import { renderScreen } from './watch-screen.ts'

const REDRAW_MS = 100
const LINE_MS = 1_000
const isTerminal = process.stdout.isTTY === true

const { values, words } = commandLine(WATCH_ARGS, WATCH_USAGE, 'words too')
const asked = watchOptions(values, words)
if (asked.ok) watch(asked.value)
else refuseArgs(asked.error, WATCH_USAGE)

function watch(options: WatchOptions): void {
  const endpoint = endpointOf(options)
  if (typeof endpoint() === 'string') leave(endpoint() as string)
  const runtime = nodeRuntime()
  const board = new WatchBoard(options.coins)
  const known = () => {
    const now = endpoint()
    return typeof now === 'string' ? null : now
  }
  const connection = new Connection(runtime, {
    endpoint: known,
    onState: (state) => {
      board.status = statusOf(state, known())
      if (state.state === 'fatal') leave(`The gateway refuses: ${state.reason}`)
      else if (state.state !== 'connecting') say(board.status)
    },
    onNotice: say,
  })
  followBooks(connection, runtime, options, board)
  for (const coin of options.coins)
    onAllFills(connection, coin, {
      event: (_user, fill) => board.fill(fill),
      refused: (text) => leave(`The gateway refuses fills: ${reasonOf(text)}`),
    })
  connection.start()
  show(board)
}

function followBooks(
  connection: Connection,
  runtime: ReturnType<typeof nodeRuntime>,
  { coins }: WatchOptions,
  board: WatchBoard,
): void {
  const verdict: ConstructorParameters<typeof StepChecker>[2] = (coin, found) => say(board.compared(coin, found))
  const endpoint = () => connection.endpoint()
  const checkers = new Map(coins.map((coin) => [coin, new StepChecker(runtime, endpoint, verdict)]))
  new DiffBooks(
    connection,
    runtime,
    { coin: coins.length === 1 ? coins[0]! : coins },
    {
      changed: (book) => {
        board.changed(book)
        checkers.get(book.coin)?.changed(book)
      },
      gap: (coin, reason) => {
        board.gap(coin, reason)
        checkers.get(coin)?.lost()
        say(`out of step ${coin}: ${reason}`)
      },
      // A coin that had a book exists: the gateway is only not ready to serve it again.
      unknown: (coin) => board.wasLive(coin) || leave(`There is no coin ${JSON.stringify(coin)} here.`),
      refused: (text) => leave(`The gateway refuses ${coins.join(', ')}: ${reasonOf(text)}`),
    },
  )
}

/** Where to go at present, or the sentence that says why nowhere. */
function endpointOf({ url, key, state }: WatchOptions): () => Endpoint | string {
  return () => {
    if (url && key) return { url, key }
    const file = readDevFile(state ?? DEFAULT_STATE)
    if (!file.ok) return file.error
    return { url: url ?? file.value.url, key: key ?? file.value.key }
  }
}

function statusOf(state: ConnectionState, endpoint: Endpoint | null): string {
  if (state.state === 'open') return `connected to ${endpoint?.url ?? '?'}`
  return state.state === 'waiting' ? `not connected: ${state.reason}; trying again` : state.state
}

function show(board: WatchBoard): void {
  if (!isTerminal) {
    setInterval(() => {
      for (const line of board.lines(Date.now())) process.stdout.write(`${line}\n`)
    }, LINE_MS)
    return
  }
  // The alternate screen, without a cursor; whatever ends the program gives the old one back.
  process.stdout.write('\x1b[?1049h\x1b[?25l')
  process.on('exit', () => process.stdout.write('\x1b[?25h\x1b[?1049l'))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(0))
  const draw = () => {
    const { columns = 80, rows = 24 } = process.stdout
    const lines = renderScreen(board.screen(), columns, rows, Date.now())
    process.stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\n')}\x1b[J`)
  }
  process.stdout.on('resize', draw)
  setInterval(draw, REDRAW_MS)
}

/** A line for whoever reads the pipe; on a terminal the screen shows it. */
function say(line: string): void {
  if (!isTerminal) process.stdout.write(`${line}\n`)
}

function leave(sentence: string): never {
  // On exit the terminal's screen is given back first, so that the sentence stays visible.
  process.on('exit', () => process.stderr.write(`${sentence}\n`))
  process.exit(1)
}
