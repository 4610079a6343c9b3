// `npm start`: builds both Workers and runs devnet, gateway and feeder on one state folder until Ctrl-C.
// With `--json` standard output is exactly one line, when ready; everything else goes to standard error.

import { join, resolve } from 'node:path'
import { DEFAULT_STATE } from '../cli/dev-file.node.ts'
import { commandLine, refuseArgs } from '../core/command-line.node.ts'
import { announce } from './announcement.ts'
import { LAUNCH_ARGS, LAUNCH_USAGE, type LaunchOptions, launchOptions } from './args.ts'
import { build } from './build.node.ts'
import { Launch } from './launch.node.ts'
import { isAlive, type Lock } from './leftovers.ts'
import { becomesFree, freePort } from './ports.node.ts'
import { processInfo } from './process-table.node.ts'
import { becomeReady } from './readiness.node.ts'
import { type Ports, StateFolder } from './state-folder.node.ts'
import { takeOver } from './take-over.node.ts'

const root = join(import.meta.dirname, '../..')
const GUARDIAN_POLL_MS = 500

const say = (line: string) => process.stderr.write(`${line}\n`)

function refuse(sentence: string): never {
  say(sentence)
  process.exit(1)
}

await main()

async function main(): Promise<void> {
  const parsed = launchOptions(commandLine(LAUNCH_ARGS, LAUNCH_USAGE).values, process.env.PORT)
  if (!parsed.ok) refuseArgs(parsed.error, LAUNCH_USAGE)
  const options = parsed.value
  const folder = new StateFolder(resolve(root, options.state))
  const lock = await claim(folder, options)
  const ports = await choosePorts(folder, options)
  const secrets = folder.secrets()
  const launch = new Launch({ root, folder, lock, options, ports, secrets, say })
  const stopping = stopOnSignals(launch, lock)

  launch.start('devnet')
  try {
    if (await build(root)) say('Both Workers are built.')
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    await launch.stop()
    process.exit(1)
  }
  if (stopping.aborted) return
  launch.start('gateway', 'feeder')
  const waiting = (what: string) => say(`Waiting for ${what} …`)
  const ready = await becomeReady(launch.url, secrets.ADMIN_TOKEN, secrets.key, waiting, stopping).catch(() => null)
  if (!ready) return
  folder.keepSecrets({ ...secrets, key: ready.key })
  const line = launch.ready(ready.key)
  const stateOption = options.state === DEFAULT_STATE ? '' : `--state ${options.state}`
  process.stdout.write(options.json ? `${line}\n` : announce({ url: launch.url, key: ready.key, stateOption }))
}

/** Makes the folder ours and, with `--reset`, empty. */
async function claim(folder: StateFolder, options: LaunchOptions): Promise<Lock> {
  try {
    folder.prepare()
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error)
    refuse(`The state folder ${folder.path} cannot be written (${reason}): choose another with --state DIR.`)
  }
  const taken = await takeOver(folder)
  if (!taken.ok)
    refuse(
      `Weir already runs on ${folder.path} (process ${taken.error}): stop it first, or take another folder with --state DIR and another PORT.`,
    )
  if (options.reset) {
    folder.reset()
    folder.prepare()
    folder.keepLock(taken.value)
  }
  return taken.value
}

async function choosePorts(folder: StateFolder, options: LaunchOptions): Promise<Ports> {
  const kept = folder.ports()
  const gateway = options.port === 0 ? await freePort(kept?.gateway) : options.port
  if (!(await becomesFree(gateway))) {
    folder.unlock()
    refuse(`Port ${gateway} is in use: stop what listens there, or choose another with PORT=<number> npm start.`)
  }
  const ports = { gateway, devnet: await freePort(kept?.devnet) }
  folder.keepPorts(ports)
  return ports
}

/** Ends everything on a signal, and when the npm that this launcher runs for is gone; a second signal does not wait. */
function stopOnSignals(launch: Launch, lock: Lock): AbortSignal {
  const stopping = new AbortController()
  const stop = async () => {
    if (stopping.signal.aborted) process.exit(1)
    stopping.abort()
    await launch.stop()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop())
  const { guardian } = lock
  if (guardian)
    setInterval(() => {
      const now = processInfo(guardian.pid)
      if (!stopping.signal.aborted && !(now && isAlive(guardian, [now]))) void stop()
    }, GUARDIAN_POLL_MS)
  return stopping.signal
}
