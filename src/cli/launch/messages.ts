// The messages of `npx weir demo`: why it cannot continue, that it is ready, and state changes of its processes. Invariants: nothing
// that keys or credits depend on is recreated automatically; each change is reported once.

/** A launch cannot continue; the message says why and what to do. */
export class LaunchError extends Error {}

/** The remedy of a launch whose state can be deleted. */
export const freshStart = (reset: string) => `start fresh with "${reset}", which invalidates every key issued here`
/** Databases of accounts, keys and credits, which cannot be rebuilt. All other databases can be rebuilt. */
const IRREPLACEABLE = /(?:^|\/)(?:d1\/|do\/weir-live-CreditMeter\/(?!metadata\b))/

const REBUILD_TEXT = 'Delete it, with its -wal and -shm files, and start again; its content is rebuilt'

/** Why a launch cannot continue. `remedy`: what to do without a copy; `code`: the error code of the system. */
export const PROBLEMS = {
  secretsLost: (path: string, how: 'damaged' | 'missing', remedy: string) =>
    `${path} is ${how}, and no key of this folder works without it. Restore a copy, or ${remedy}.`,
  keySecretChanged: (path: string, remedy: string) =>
    `The KEY_SECRET in ${path} does not match the keys of this folder, so none of them works. Restore the original file, or ${remedy}.`,
  foreignFolder: (path: string) =>
    `${path} was not created by "npx weir demo". Choose a different folder with --state DIR.`,
  alreadyRuns: (path: string, pid: number | undefined) =>
    `Weir is already running on ${path} (process ${pid ?? 'unknown'}). Stop it first, or use a different folder with --state DIR and a different PORT.`,
  folderLost: (path: string) =>
    `The state folder ${path} was removed or is used by another "npx weir demo". Stopping everything.`,
  portTaken: (port: number, code: string) =>
    code === 'EADDRINUSE'
      ? `Port ${port} is in use. Stop the process that listens there, or choose a different port with PORT=<number> npx weir demo.`
      : `Port ${port} cannot be used (${code}). Choose a different port with PORT=<number> npx weir demo.`,
  notReady: (logs: string, stateOption: string) =>
    `Not ready after 30 s: "npx weir doctor${stateOption && ` --${stateOption}`}" finds the reason, and logs are in ${logs}.`,
  diskFull: (path: string) =>
    `The disk of ${path} is full. Free some space (Weir uses up to 500 MB there), or choose a different folder with --state DIR.`,
  databaseDamaged: (path: string, why: string, remedy: string) =>
    `The database ${path} is damaged (${why}). ${IRREPLACEABLE.test(path) ? `Restore a copy of it, or ${remedy}` : REBUILD_TEXT}.`,
  databasesMissing: (path: string, remedy: string) =>
    `The databases of ${path.endsWith('d1') ? 'accounts and keys' : 'credits'} are missing from ${path}. Restore a copy, or ${remedy}.`,
}

interface Announcement {
  readonly url: string
  readonly key: string
  /** A service key of the same account. */
  readonly serviceKey: string
  readonly adminToken: string
  /** ` --state …` for commands that must find this launch; empty for the default folder. */
  readonly stateOption: string
  readonly dailyCredits: number
}

/** The message printed when ready: URLs, sign-in tokens, variables, example commands and the demo account. */
export function announce({ url, key, serviceKey, adminToken, stateOption, dailyCredits }: Announcement): string {
  return `
Weir is ready at ${url}

In a browser:  ${url}/live      a live market
               ${url}/console   sign in as account owner with ${serviceKey}
               ${' '.repeat(url.length)}            or as operator with ${adminToken}

In another terminal, set the variables that all examples and guides use, and try four commands. "pay" needs no key: it
uses a wallet with play money.

  export WEIR_URL=${url} WEIR_KEY=${key} WEIR_SERVICE_KEY=${serviceKey}
  curl -s $WEIR_URL/info -H "Authorization: Bearer $WEIR_KEY" -H 'Content-Type: application/json' -d '{"type":"l2Book","coin":"BTC"}'
  npx weir watch BTC${stateOption}
  npx weir pay '{"type":"l2Book","coin":"ETH"}'${stateOption}
  npx weir keys create --label mine${stateOption}

These keys belong to the account "demo" on the plan "professional". It is refilled to ${dailyCredits.toLocaleString('en')} credits each UTC day. To add more:
  npx weir admin account grant demo 5000 --id more-1${stateOption}

API reference with prices: ${url}/docs
Status and data delay:     ${url}/status
Press Ctrl-C to stop everything.
`
}

export interface ProcessStates {
  readonly gateway?: number | undefined
  /** Undefined before the first start. */
  readonly workerd?: number | 'gone' | undefined
  /** Names of processes stopped by a signal. */
  readonly stopped: readonly string[]
}

type Pids = Readonly<Record<string, number>>

/** Returns the lines to print for changes since `seen`, and the new states. `pids` has no entry for a missing workerd. */
export function processUpdates(
  seen: ProcessStates,
  pids: Pids,
  stopped: readonly string[],
): { seen: ProcessStates; lines: string[] } {
  const { gateway, workerd } = pids
  // A restarted gateway has a new workerd, and its exit was already reported.
  const before = seen.gateway === gateway ? seen.workerd : undefined
  const known = before === undefined ? workerd : (workerd ?? 'gone')
  return {
    seen: { gateway, workerd: known, stopped },
    lines: [
      ...workerdUpdates(before, known),
      ...stopped.filter((name) => !seen.stopped.includes(name)).map((name) => stoppedText(name, pids[name])),
      ...seen.stopped
        .filter((name) => pids[name] && !stopped.includes(name))
        .map((name) => `${name} is running again.`),
    ],
  }
}

function workerdUpdates(before: ProcessStates['workerd'], now: ProcessStates['workerd']): string[] {
  if (before === now || before === undefined) return []
  const ended = before === 'gone' ? [] : ['workerd ended; the gateway restarts it.']
  return now === 'gone' ? ended : [...ended, `workerd is running again (process ${now}).`]
}

/** Mentions both ways to resume. */
export function stoppedText(name: string, pid: number | undefined): string {
  return `${name} (process ${pid}) is stopped by a signal. Resume it with "kill -CONT ${pid}", or restart it with "kill -KILL ${pid}".`
}
