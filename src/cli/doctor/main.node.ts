// `npm run doctor`: looks at a node's host, or at a running `npm start`, and says line by line what is well, what is not
// and what to do. Exit 1 where anything fails. Tokens come from the environment or dev.json, and are never printed.

import { dirname, join, resolve } from 'node:path'
import * as z from 'zod'
import { commandLine, program, reads } from '../../core/command-line.node.ts'
import { orLate } from '../../core/deadline.ts'
import { TOKEN } from '../../core/secret.ts'
import { after } from '../../core/timers.client.ts'
import { DEFAULT_STATE, devFilePath, readDevFile } from '../dev-file.node.ts'
import { StateFolder } from '../launch/state-folder.node.ts'
import {
  type Check,
  fail,
  judgeDisk,
  judgeFiles,
  judgeForm,
  judgeKept,
  judgeLaunch,
  judgeNode,
  judgeSnapshot,
  judgeStatus,
  judgeToken,
  type LaunchFacts,
  lineOf,
  underLaunch,
} from './checks.ts'
import { ask, askSnapshot, lookAtDisks, lookAtFiles, lookAtKept, lookAtLaunch, PROBE_MS } from './probes.node.ts'

const NO_URL = 'must be a URL without a user or a password'
const Url = z.url({ protocol: /^(?:https?|wss?)$/, error: NO_URL }).regex(/^\w+:\/\/[^/?#@\\]+(?:[/?#]|$)/, NO_URL)

const DOCTOR = program(
  'npm run doctor --',
  'looks at a running "npm start", or at a node\'s host: what of it is said',
  ['', '--data ~/hl/data --info http://127.0.0.1:3001 --gateway https://weir.example.workers.dev'],
)
  .option('--data <dir>', "the node's data folder")
  .option('--info <url>', "the node's HTTP", reads(Url))
  .option('--gateway <url>', 'where blocks are pushed; FEED_TOKEN and ADMIN_TOKEN from the environment', reads(Url))
  .option('--state <dir>', 'state folder of "npm start", or of the feeder')
  .option('--snapshot-dir <dir>', 'as of "npm run feed"')
  .option('--chain <name>', "the gateway's CHAIN")
  .option('--json', 'one line of JSON')
const values = commandLine(DOCTOR).opts()

interface Patient {
  readonly data?: string | undefined
  readonly info?: string | undefined
  readonly gateway?: string | undefined
  readonly feederState?: string | undefined
  readonly feedToken?: string | undefined
  readonly adminToken?: string | undefined
}

const isHost = values.data !== undefined || values.info !== undefined || values.gateway !== undefined
const stateDir = values.state ?? DEFAULT_STATE
const patient = isHost ? host() : launched()
const checks = await examine(patient)
if (values.json) console.log(JSON.stringify({ checks }))
else for (const check of checks) console.log(lineOf(check))
// What was asked of a hanging disk would keep the process.
process.exit(checks.some(({ state }) => state === 'FAIL') ? 1 : 0)

function host(): Patient {
  const data = values.data === undefined ? undefined : resolve(values.data)
  const feederState = values.state ?? (data && join(dirname(data), 'feeder'))
  const { FEED_TOKEN: feedToken, ADMIN_TOKEN: adminToken } = process.env
  return { data, info: values.info, gateway: values.gateway, feederState, feedToken, adminToken }
}

/** What `npm start` runs there, or ran. */
function launched(): Patient {
  const folder = new StateFolder(dirname(devFilePath(stateDir)))
  const dev = readDevFile(stateDir)
  if (!dev.ok) return {}
  const { url: gateway, feed_token: feedToken, admin_token: adminToken } = dev.value
  const devnet = folder.ports()?.devnet
  const info = devnet === undefined ? undefined : `http://127.0.0.1:${devnet}`
  return { data: folder.part('node'), info, gateway, feederState: folder.part('feeder'), feedToken, adminToken }
}

async function examine(patient: Patient): Promise<Check[]> {
  const launch = isHost ? null : lookAtLaunch(stateDir)
  const files = patient.data === undefined ? null : lookAtFiles(patient.data)
  const groups = await Promise.all([
    launch === null ? [] : examineLaunch(launch),
    files === null ? [] : inTime('node files', files.then(judgeFiles)),
    patient.info === undefined ? [] : examineNode(patient, patient.info),
    patient.gateway === undefined ? [] : examineGateway(patient, patient.gateway),
    inTime('disk', examineDisks(patient, files)),
  ])
  const all = groups.flat()
  return launch === null ? all : all.map((check) => underLaunch(check, launch))
}

function examineLaunch(facts: LaunchFacts): Check[] {
  const isOver = !facts.processes?.some(({ runs }) => runs)
  return [
    ...judgeLaunch(facts),
    ...(isOver && !facts.damaged.includes('secrets.json') ? judgeKept(lookAtKept(stateDir)) : []),
  ]
}

async function examineNode({ feederState }: Patient, url: string): Promise<Check[]> {
  const info = `${url.replace(/\/(?:info\/?)?$/, '')}/info`
  const folder = values.snapshotDir ?? (feederState && join(feederState, 'snapshots'))
  const status = await ask(info, { body: { type: 'exchangeStatus' } })
  if (status.status === null || folder === undefined) return [judgeNode(status)]
  return [judgeNode(status), judgeSnapshot(await askSnapshot(info, resolve(folder)))]
}

async function examineGateway({ feedToken, adminToken }: Patient, gateway: string): Promise<Check[]> {
  const at = (path: string) => new URL(path, gateway.replace(/^ws/, 'http')).href
  const [status, feed, admin] = await Promise.all([
    ask(at('/status')),
    examineToken('feed token', feedToken, at('/feed')),
    examineToken('admin token', adminToken, at('/admin/plans')),
  ])
  const judged = judgeStatus(status, values.chain ?? 'hyperliquid')
  return status.status === null ? [judged] : [judged, ...feed, ...admin]
}

/** One that no header carries is not sent: the refusal of `fetch` would show it. */
async function examineToken(name: 'feed token' | 'admin token', token: string | undefined, url: string) {
  if (token && !TOKEN.test(token)) return [judgeForm(name)]
  return judgeToken(name, token ? await ask(url, { token }) : null)
}

async function examineDisks({ data, feederState }: Patient, files: ReturnType<typeof lookAtFiles> | null) {
  const seen = await files
  const disks = await lookAtDisks([data, feederState].filter((folder) => folder !== undefined))
  // devnet removes its old files by itself.
  const bytesPerHour = isHost && seen && seen.grownBytes > 0 ? (seen.grownBytes / seen.tookMs) * 3_600_000 : null
  // The files of the node are on the first one.
  return disks.map((disk, i) => judgeDisk({ ...disk, bytesPerHour: i === 0 ? bytesPerHour : null }))
}

/** A disk that hangs, or a folder of another machine, must not end the rest. */
async function inTime(name: string, checks: Promise<Check[]>): Promise<Check[]> {
  const late = fail(name, 'it took too long', 'Does the disk answer? "ls" the folder.')
  return orLate(
    checks.catch((error) => [fail(name, String(error), 'Look at the folder.')]),
    PROBE_MS,
    [late],
    after,
  )
}
