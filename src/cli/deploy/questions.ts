// The questions of `weir deploy` before the first deploy. Each belongs to an option and to the settings that it decides. A
// question whose settings are in weir.toml is not asked again.

import * as z from 'zod'
import { err, ok, type Result } from '../../core/result.ts'
import { REGIONS } from '../../core/variables.ts'
import type { SettingPath } from '../settings/toml-edit.ts'
import { DEFAULT_NAME, WeirSettings } from '../settings/weir-settings.ts'

type Value = string | boolean | readonly Readonly<Record<string, string | boolean>>[]
/** A setting and its value. */
export type Setting = readonly [path: SettingPath, value: Value]

export interface Question {
  readonly option: string
  readonly text: string
  /** Null: there is none, so `--yes` does not answer it. */
  readonly byDefault: string | null
  /** The only possible answer, so that nobody is asked. */
  readonly onlyAnswer?: string
  readonly isOpen: (settings: WeirSettings) => boolean
  /** The settings of an answer, or what an answer must be. */
  readonly settings: (answer: string) => Result<readonly Setting[], string>
}

interface NamedAccount {
  readonly id: string
  readonly name: string
}

/** Where the validators of the exchange are. */
const DEFAULT_REGION = 'apac-ne'
const NONE = 'none'
const WORKERS_DEV = 'workers.dev'
const Host = z.hostname()
const Source = z.url({ protocol: /^https?$/ })

/** All questions, in order. `accounts`: those of the login; null: not logged in. */
export function questionsFor(accounts: readonly NamedAccount[] | null): Question[] {
  return [...(accounts === null ? [] : [accountQuestion(accounts)]), NAME, REGION, NODE, DOMAIN]
}

/** One line for each answer of an option that differs from the settings, which decide already. */
export function contradictions(
  settings: WeirSettings,
  questions: readonly Question[],
  given: Readonly<Record<string, string | undefined>>,
): string[] {
  const table: Readonly<Record<string, unknown>> = settings
  const has = ([[first, second], value]: Setting) => {
    const found = second === undefined ? table[first] : settings.vars[second]
    return JSON.stringify(found) === JSON.stringify(value)
  }
  return questions
    .filter((question) => !question.isOpen(settings))
    .filter(({ option, settings: settingsOf }) => {
      const answer = given[option]
      const decision = answer === undefined ? ok([]) : settingsOf(answer)
      return !decision.ok || !decision.value.every(has)
    })
    .map(({ option }) => `${option}: weir.toml decides this already, and says something else. Change it there.`)
}

/** A value in TOML. */
export function tomlOf(value: Value): string {
  if (typeof value !== 'object') return JSON.stringify(value)
  const tables = value.map((table) =>
    Object.entries(table)
      .map(([key, one]) => `${key} = ${JSON.stringify(one)}`)
      .join(', '),
  )
  return `[${tables.map((table) => `{ ${table} }`).join(', ')}]`
}

function accountQuestion(accounts: readonly NamedAccount[]): Question {
  const [only] = accounts
  const list = accounts.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
  return {
    option: '--account',
    text: `Account, one of\n${list}\nid`,
    byDefault: null,
    ...(accounts.length === 1 && only !== undefined && { onlyAnswer: only.id }),
    isOpen: ({ account_id: account }) => account === undefined,
    settings: (id) =>
      // Some tokens may not list their accounts.
      accounts.length === 0 || accounts.some((one) => one.id === id)
        ? ok([[['account_id'], id]])
        : err(`must be the id of an account of this login:\n${list}`),
  }
}

const NAME: Question = {
  option: '--name',
  text: 'Name of the gateway, which is the prefix of its Workers and stores',
  byDefault: DEFAULT_NAME,
  isOpen: ({ name }) => name === undefined,
  settings: (name) => {
    const parsed = WeirSettings.safeParse({ name })
    return parsed.success ? ok([[['name'], name]]) : err(parsed.error.issues[0]?.message ?? '')
  },
}

const REGION: Question = {
  option: '--region',
  text: `Region nearest to your node, where the log and the stores stay: ${REGIONS.join(', ')}`,
  byDefault: DEFAULT_REGION,
  isOpen: ({ vars }) => vars.FEED_REGION === undefined,
  settings: (region) =>
    REGIONS.some((one) => one === region)
      ? ok([[['vars', 'FEED_REGION'], region]])
      : err(`must be one of ${REGIONS.join(', ')}`),
}

const NODE: Question = {
  option: '--node',
  text: `URL of your node's info server, such as https://node.example.com/info, or "${NONE}"`,
  byDefault: NONE,
  isOpen: ({ vars }) => vars.UPSTREAMS === undefined,
  settings: (url) => {
    if (url === NONE) return ok([[['vars', 'UPSTREAMS'], []]])
    if (!Source.safeParse(url).success) return err(`must be a URL such as https://node.example.com/info, or "${NONE}"`)
    return ok([[['vars', 'UPSTREAMS'], [{ name: 'node', url }]]])
  },
}

const DOMAIN: Question = {
  option: '--domain',
  text: `Your domain for the gateway, such as api.example.com, whose zone is in the account, or "${WORKERS_DEV}"`,
  byDefault: WORKERS_DEV,
  isOpen: ({ routes, workers_dev: isThere }) => routes === undefined && isThere === undefined,
  settings: (host) => {
    if (host === WORKERS_DEV) return ok([[['workers_dev'], true]])
    if (!Host.safeParse(host).success || !host.includes('.'))
      return err(`must be a host name such as api.example.com, or "${WORKERS_DEV}"`)
    return ok([
      [['vars', 'PUBLIC_URL'], `https://${host}`],
      [['workers_dev'], false],
      [['routes'], [{ pattern: host, custom_domain: true }]],
    ])
  },
}

/** Answers without a terminal: those of the options, and with `--yes` the defaults. */
export function givenAnswer(
  { option, byDefault, onlyAnswer, text: question }: Question,
  given: string | undefined,
  isYes: boolean,
): Result<string, string> {
  const answer = given ?? onlyAnswer ?? (isYes ? byDefault : null)
  if (answer !== null) return ok(answer)
  const yes = byDefault === null ? '' : `, or --yes for all defaults (here ${byDefault})`
  return err(`Pass ${option}${yes}. It is: ${question}.`)
}
