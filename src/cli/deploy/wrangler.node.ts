// Runs the wrangler that is installed with Weir.

import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import { parseJson } from '../../core/json.ts'
import { isPlanError, type LoginHeaders } from './cloudflare-api.node.ts'
import { DeployError } from './deploy-error.ts'

const PROGRAM = join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin/wrangler.js')
/** wrangler itself takes seconds to start. */
const READ_MS = 120_000
const OUTPUT_BYTES = 16 * 1024 * 1024

const Login = z.union([z.looseObject({ token: z.string() }), z.looseObject({ key: z.string(), email: z.string() })])

export class Wrangler {
  readonly #env: NodeJS.ProcessEnv
  /** The file to which wrangler writes its records of a deployment. */
  readonly #records: string

  /** `folder`: for files of this class. */
  constructor(folder: string, env: Readonly<Record<string, string | undefined>>) {
    this.#records = join(folder, 'records.ndjson')
    rmSync(this.#records, { force: true })
    this.#env = {
      ...env,
      WRANGLER_SEND_METRICS: 'false',
      WRANGLER_HIDE_BANNER: 'true',
      WRANGLER_OUTPUT_FILE_PATH: this.#records,
    }
  }

  /** Null if no one is logged in. */
  async login(): Promise<LoginHeaders | null> {
    const token = this.#env.CLOUDFLARE_API_TOKEN
    if (token) return { authorization: `Bearer ${token}` }
    const login = Login.safeParse(parseJson(jsonIn(await this.read('auth', 'token', '--json'))))
    if (!login.success) return null
    return 'token' in login.data
      ? { authorization: `Bearer ${login.data.token}` }
      : { 'x-auth-key': login.data.key, 'x-auth-email': login.data.email }
  }

  /** Its output, which is empty if it fails. */
  async read(...args: string[]): Promise<string> {
    try {
      // At a quieter log level wrangler prints no result.
      const env = { ...this.#env, WRANGLER_LOG: 'log' }
      const options = { env, timeout: READ_MS, maxBuffer: OUTPUT_BYTES }
      return (await promisify(execFile)(process.execPath, [PROGRAM, ...args], options)).stdout
    } catch {
      return ''
    }
  }

  /** A JSON response; undefined if there is none. */
  async readJson(...args: string[]): Promise<unknown> {
    return parseJson(jsonIn(await this.read(...args, '--json')))
  }

  /** Runs it. Its output is shown if it contains a warning, or if it fails, which throws. */
  async run(...args: string[]): Promise<void> {
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: this.#env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += piece))
    const code = await new Promise((resolve) => child.once('close', resolve))
    if (code !== 0 || output.includes('WARNING')) process.stderr.write(output)
    if (code === 0) return
    const plan = isPlanError(output) ? ' The account needs the Workers Paid plan.' : ''
    throw new DeployError(
      `wrangler ${args.slice(0, 4).join(' ')} failed.${plan} Fix the cause and run the same command again.`,
    )
  }

  /** The records so far. */
  records(): string {
    return existsSync(this.#records) ? readFileSync(this.#records, 'utf8') : ''
  }
}

const jsonIn = (output: string) => output.slice(Math.max(0, output.search(/[[{]/)))
