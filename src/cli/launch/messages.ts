// What a person is told by `npm start`: why it cannot go on, that it is ready, and what becomes of processes that do not end
// before the launcher's eyes. Invariant: nothing that keys or credits hang on is ever made anew by itself; each piece of news is
// said once.

/** Its message says what is in the way and what to do. */
export class LaunchError extends Error {}

const resetText = (reset: string) => `begin afresh with "${reset}", which ends every key issued here`
/** What exists nowhere else: accounts and keys, and the credits of an account. All else is filled again. */
const IRREPLACEABLE = /(?:^|\/)(?:d1\/|do\/weir-live-CreditMeter\/(?!metadata\b))/

const REBUILD_TEXT =
  'delete it (with what has its name and ends in -wal or -shm) and start again; what it held is filled anew'

/** Why a start cannot go on, or ends. `reset`: the command that forgets the folder; `code`: what the system calls it. */
export const PROBLEMS = {
  secretsLost: (path: string, how: 'damaged' | 'missing', reset: string) =>
    `${path} is ${how}, and no key of this folder works without it: put a copy back, or ${resetText(reset)}.`,
  keySecretChanged: (path: string, reset: string) =>
    `The KEY_SECRET in ${path} is not the one that the keys of this folder were made with, and none of them works with it: put back the file that belongs here, or ${resetText(reset)}.`,
  foreignFolder: (path: string) => `${path} was not made by "npm start": choose a folder of its own with --state DIR.`,
  alreadyRuns: (path: string, pid: number | undefined) =>
    `Weir already runs on ${path} (process ${pid ?? 'not known yet'}): stop it first, or take another folder with --state DIR and another PORT.`,
  folderLost: (path: string) =>
    `The state folder ${path} was removed, or another "npm start" has it: everything here ends.`,
  portTaken: (port: number, code: string) =>
    `Port ${port} ${code === 'EADDRINUSE' ? 'is in use: stop what listens there, or' : `cannot be listened on (${code}):`} choose another with PORT=<number> npm start.`,
  notReady: (logs: string, stateOption: string) =>
    `Not ready after 30 s: "npm run doctor${stateOption && ` --${stateOption}`}" looks for the reason, and the logs stand in ${logs}.`,
  diskFull: (path: string) =>
    `The disk of ${path} is full: make room (Weir keeps up to 500 MB there), or choose another folder with --state DIR.`,
  databaseDamaged: (path: string, why: string, reset: string) =>
    `The database ${path} is damaged (${why}): ${IRREPLACEABLE.test(path) ? `put a copy of it back, or ${resetText(reset)}` : REBUILD_TEXT}.`,
  databasesMissing: (path: string, reset: string) =>
    `The databases of ${path.endsWith('d1') ? 'accounts and keys' : 'credits'} are missing in ${path}: put a copy back, or ${resetText(reset)}.`,
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

/** The URL, pages and what to sign in with, variables and three commands to copy, what the demo account has, where to read on. */
export function announce({ url, key, serviceKey, adminToken, stateOption, dailyCredits }: Announcement): string {
  return `
Weir is ready at ${url}

In a browser:  ${url}/live      a market, moving
               ${url}/console   sign in as owner of keys with ${serviceKey}
               ${' '.repeat(url.length)}            or as operator with ${adminToken}

In another terminal, the variables that all examples and guides read, and three commands:

  export WEIR_URL=${url} WEIR_KEY=${key} WEIR_SERVICE_KEY=${serviceKey}
  curl -s $WEIR_URL/info -H "Authorization: Bearer $WEIR_KEY" -H 'Content-Type: application/json' -d '{"type":"l2Book","coin":"BTC"}'
  npm run watch -- BTC${stateOption}
  npm run keys -- create --credits 1000${stateOption}

These keys are of the account "demo": plan professional, filled up to ${dailyCredits.toLocaleString('en')} credits each UTC day. To give it more:
  npm run admin -- account grant demo 5000 --id more-1${stateOption}

Every call and its price: ${url}/docs
How fresh everything is:  ${url}/status
Ctrl-C ends everything.
`
}

export interface ProcessStates {
  readonly gateway?: number | undefined
  /** Undefined: it was not there yet. */
  readonly workerd?: number | 'gone' | undefined
  /** Names of what is stopped. */
  readonly stopped: readonly string[]
}

type Pids = Readonly<Record<string, number>>

/** What to say at this look, and what to hand in at the next. `pids` by name, without a workerd that is not there. */
export function processUpdates(
  seen: ProcessStates,
  pids: Pids,
  stopped: readonly string[],
): { seen: ProcessStates; lines: string[] } {
  const { gateway, workerd } = pids
  // A new gateway brings a workerd of its own, and its end was said.
  const before = seen.gateway === gateway ? seen.workerd : undefined
  const known = before === undefined ? workerd : (workerd ?? 'gone')
  return {
    seen: { gateway, workerd: known, stopped },
    lines: [
      ...workerdUpdates(before, known),
      ...stopped.filter((name) => !seen.stopped.includes(name)).map((name) => stoppedText(name, pids[name])),
      ...seen.stopped
        .filter((name) => pids[name] && !stopped.includes(name))
        .map((name) => `${name} is no longer stopped.`),
    ],
  }
}

function workerdUpdates(before: ProcessStates['workerd'], now: ProcessStates['workerd']): string[] {
  if (before === now || before === undefined) return []
  const ended = before === 'gone' ? [] : ['workerd ended; the gateway starts it again.']
  return now === 'gone' ? ended : [...ended, `workerd is back (process ${now}).`]
}

/** With the two ways out. */
export function stoppedText(name: string, pid: number | undefined): string {
  return `${name} (process ${pid}) is stopped: "kill -CONT ${pid}" lets it go on, and after "kill -KILL ${pid}" it comes back.`
}
