// What a person is told where a start cannot go on. Law: nothing that keys or credits hang on is ever made anew by itself.

/** Its message says what is in the way and what to do. */
export class Refusal extends Error {}

const afresh = (reset: string) => `begin afresh with "${reset}", which ends every key issued here`
/** What exists nowhere else: accounts and keys, and the credits of an account. All else is filled again. */
const KEPT_HERE_ALONE = /(?:^|\/)(?:d1\/|do\/weir-live-CreditMeter\/(?!metadata\b))/

/** Without these secrets no key that was issued is known any more. `reset`: the command that forgets this folder. */
export function secretsLost(path: string, how: 'damaged' | 'missing', reset: string): Refusal {
  return new Refusal(
    `${path} is ${how}, and no key of this folder works without it: put a copy back, or ${afresh(reset)}.`,
  )
}

/** Such as those of another folder. */
export function keySecretChanged(path: string, reset: string): Refusal {
  return new Refusal(
    `The KEY_SECRET in ${path} is not the one that the keys of this folder were made with, and none of them works with it: put back the file that belongs here, or ${afresh(reset)}.`,
  )
}

/** A `--reset` would delete what stands there. */
export function foreignFolder(path: string): Refusal {
  return new Refusal(`${path} was not made by "npm start": choose a folder of its own with --state DIR.`)
}

/** `pid`: of who holds the folder; undefined where it has not noted that yet. */
export function alreadyRuns(path: string, pid: number | undefined): Refusal {
  return new Refusal(
    `Weir already runs on ${path} (process ${pid ?? 'not known yet'}): stop it first, or take another folder with --state DIR and another PORT.`,
  )
}

/** The running launcher has lost its lock. */
export function folderLost(path: string): string {
  return `The state folder ${path} was removed, or another "npm start" has it: everything here ends.`
}

/** `code` is the system's. */
export function portTaken(port: number, code: string): string {
  const why = code === 'EADDRINUSE' ? 'is in use: stop what listens there, or' : `cannot be listened on (${code}):`
  return `Port ${port} ${why} choose another with PORT=<number> npm start.`
}

/** `stateOption` as in the announcement. */
export function notReady(logs: string, stateOption: string): string {
  const doctor = stateOption === '' ? 'npm run doctor' : `npm run doctor --${stateOption}`
  return `Not ready after 30 s: "${doctor}" looks for the reason, and the logs stand in ${logs}.`
}

export function diskFull(path: string): string {
  return `The disk of ${path} is full: make room (Weir keeps up to 500 MB there), or choose another folder with --state DIR.`
}

/** `why` in the words of SQLite. */
export function databaseDamaged(path: string, why: string, reset: string): Refusal {
  const cure = KEPT_HERE_ALONE.test(path)
    ? `put a copy of it back, or ${afresh(reset)}`
    : 'delete it (with what has its name and ends in -wal or -shm) and start again; what it held is filled anew'
  return new Refusal(`The database ${path} is damaged (${why}): ${cure}.`)
}

/** Databases that nothing else holds are gone as a whole. */
export function databasesMissing(path: string, reset: string): Refusal {
  const what = path.endsWith('d1') ? 'accounts and keys' : 'credits'
  return new Refusal(`The databases of ${what} are missing in ${path}: put a copy back, or ${afresh(reset)}.`)
}
